"""The sources of the kernels, written with cuda-tile; ``python -m corpora.build`` compiles them.

Each module here ends in ``drafts()``, which gives its cases. Nothing else in this package imports them.
"""
