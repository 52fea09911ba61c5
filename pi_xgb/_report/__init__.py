"""The HTML report: numbers, pictures and page."""
