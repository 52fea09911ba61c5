"""The HTML report: its numbers, its pictures, its page."""
