"""Frames, tables, pages and CI formats of what difftest found."""
