"""FINDINGS.md: the words, and behind every number a committed file."""
