"""Comparing an array with an oracle's patterns, with a message that shows the first differences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.formats import FloatFormat

Array = NDArray[Any]


def assert_patterns(result: Array, expected: NDArray[np.uint64], fmt: FloatFormat, *operands: Array) -> None:
    """Every pattern of `result` (an array of `fmt.dtype`) equals the expected one."""
    assert result.dtype == fmt.dtype
    found = result.reshape(-1).view(fmt.bits_dtype).astype(np.uint64)
    wrong = np.nonzero(found != expected)[0]
    if wrong.size:
        lines = []
        for lane in wrong[:5]:
            given = ", ".join(hex(int(x.view(f"u{x.itemsize}")[lane])) for x in operands)
            lines.append(f"  ({given}) gave {int(found[lane]):#x}, expected {int(expected[lane]):#x}")
        raise AssertionError("\n".join([f"{wrong.size} of {found.size} lanes differ", *lines]))
