"""Training with a teacher: losses, tasks, blends, teachers, engines, and the loops around them."""
