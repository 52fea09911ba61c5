"""Rows as users pass them: a value per row, labels, groups, tables, views."""
