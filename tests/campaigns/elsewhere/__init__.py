"""Kernels that other people wrote, run as they are, against references of our own."""
