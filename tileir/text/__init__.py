"""The text form: what the disassembler prints, printed and parsed."""

from .printer import render

__all__ = ["render"]
