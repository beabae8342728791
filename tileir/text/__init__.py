"""The text form: what the disassembler prints, printed and parsed."""

from .parser import parse
from .printer import render

__all__ = ["parse", "render"]
