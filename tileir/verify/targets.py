"""Rules of targets: what an architecture's assembler has no code for.

Measured with tileiras 13.4.92 (see ``tests/campaigns/target_rules.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..errors import ArgumentError
from ..module import Operation
from .rules import Problems

TargetRule = Callable[[Operation, int], Problems]
TARGET_RULES: tuple[TargetRule, ...] = ()


def number_of(target: str) -> int:
    """The number of a target: 90 for ``sm_90``.

    Raises:
        ArgumentError: this is no target.
    """
    match = re.fullmatch(r"sm_(\d{2,3})", target)
    if match is None:
        raise ArgumentError("not a target", rule="target", found=target, expected="such as sm_90")
    return int(match[1])
