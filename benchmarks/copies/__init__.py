"""What teachers are worth to counts, survival and ranking, and what copies of rows cost."""
