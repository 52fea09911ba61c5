"""Private teachers: their budget, their noise, and attacks that audit them."""
