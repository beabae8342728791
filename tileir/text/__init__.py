"""The text form: what the disassembler prints, printed and parsed."""

from .parser import parse, parse_all
from .printer import render

__all__ = ["parse", "parse_all", "render"]
