"""Small kernels that were launched to find out what a GPU does, and what it answered.

Where the corpus has a few cases of everything, the probes ask for one thing in many shapes, formats and
values; the models (``tileref.targets``) are made from their answers. ``families`` write the kernels as text,
``recipes`` make the inputs, and ``evidence`` keeps the answers. ``python -m corpora.probes`` interprets the
probes and says where a model differs.
"""

from .load import load
from .probe import Probe

__all__ = ["Probe", "load"]
