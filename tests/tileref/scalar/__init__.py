"""An evaluator of kernels that shares nothing with ``tileref``: one block, one lane at a time, Python's integers."""
