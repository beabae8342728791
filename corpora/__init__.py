"""Kernels, inputs and recorded device answers."""
