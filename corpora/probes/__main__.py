"""``python -m corpora.probes``: interpret the probes and compare with what the GPU answered."""

from __future__ import annotations

from .command import main

main()
