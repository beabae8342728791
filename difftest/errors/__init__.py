"""How far from the model a kernel's answer may be: bounds on errors, carried from operation to operation."""

from .flow import analyse
from .uncertain import Uncertain

__all__ = ["Uncertain", "analyse"]
