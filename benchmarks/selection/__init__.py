"""What choosing and comparing are worth: the cells, the sets that no choice has seen, and the page."""
