"""What the corpus's kernels of real work mean, in plain numpy and f64.

Each function takes a case's arrays and numbers in the order of its kernel's parameters (floats as f64, integers
as int64, outputs as they were before the launch) and gives the outputs in order; None for one that is scratch.
Nothing here is shared with the interpreter.
"""

from . import (
    attentions,
    bits,
    convolutions,
    indices,
    iterations,
    losses,
    models,
    norms,
    products,
    quantising,
    random_numbers,
    sequences,
    softmaxes,
    sorts,
    training,
    transforms,
    waits,
)
from .register import REFERENCES, Reference

__all__ = [
    "REFERENCES",
    "Reference",
    "attentions",
    "bits",
    "convolutions",
    "indices",
    "iterations",
    "losses",
    "models",
    "norms",
    "products",
    "quantising",
    "random_numbers",
    "sequences",
    "softmaxes",
    "sorts",
    "training",
    "transforms",
    "waits",
]
