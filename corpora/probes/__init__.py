"""Small kernels that were launched to find out what a GPU does, and what it answered.

Where the corpus has a few cases of everything, the probes ask for one thing in many shapes, formats and
values; the models (``tileref.targets``) are made from their answers. Kernels are text that ``families`` write,
inputs come from ``recipes``, and ``evidence`` keeps the answers. ``python -m corpora.probes`` interprets the
probes and says where a model differs.
"""

from .load import load
from .probe import Probe

__all__ = ["Probe", "load"]
