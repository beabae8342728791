"""Kernels out of the declarations: one operation each in every form, and illegal ones that break one rule.

They are what the tests, the mutants and the coverage ledger go through to see every operation and every value
of every attribute once.
"""

from . import control, elementwise, memory, structure
from .forms import BASES, PRESENT, Base, Case, Form, all_forms, forms_of
from .maker import Maker

__all__ = [
    "BASES",
    "PRESENT",
    "Base",
    "Case",
    "Form",
    "Maker",
    "all_forms",
    "control",
    "elementwise",
    "forms_of",
    "memory",
    "structure",
]
