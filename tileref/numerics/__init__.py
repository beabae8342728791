"""Exact arithmetic on numpy arrays, knowing nothing of the IR."""
