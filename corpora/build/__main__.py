"""``python -m corpora.build``: compile every kernel, write ``kernels/`` and ``manifest.json``."""

from __future__ import annotations

import sys

from .command import main

sys.exit(main(sys.argv[1:]))
