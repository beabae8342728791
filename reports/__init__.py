"""Who reads it: frames, tables, pages, and the formats of continuous integration.

This package renders rows; it knows nothing of how they came about.
"""
