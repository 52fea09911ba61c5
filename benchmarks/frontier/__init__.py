"""Accuracy against fairness: constraints as teachers, and their peers."""
