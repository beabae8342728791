"""Kernels out of the declarations: one operation each in every form, and illegal ones that break one rule.

They are what the tests, the mutants and the coverage ledger go through to see every operation and every value
of every attribute once.
"""

from . import control, elementwise, memory, structure
from .breaks import Break, breaks_of
from .forms import BASES, PRESENT, Base, Case, Form, all_forms, forms_of
from .maker import Maker

__all__ = [
    "BASES",
    "PRESENT",
    "Base",
    "Break",
    "Case",
    "Form",
    "Maker",
    "all_forms",
    "breaks_of",
    "control",
    "elementwise",
    "forms_of",
    "memory",
    "structure",
]
