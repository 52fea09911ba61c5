"""Private teachers: the promise they keep, the noise that keeps it, and attacks that try it."""
