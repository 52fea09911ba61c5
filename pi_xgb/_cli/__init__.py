"""The command line: a command per file, and what the commands share."""
