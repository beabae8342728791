"""How far from the model a kernel's answer may be: bounds on errors, carried from operation to operation."""

from .flow import analyse
from .uncertain import Uncertain
from .unmeasured import Claims, Unmeasured

__all__ = ["Claims", "Uncertain", "Unmeasured", "analyse"]
