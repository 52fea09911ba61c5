"""What users say of rows: vectors, groups, tables, views, words."""
