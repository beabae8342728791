"""Every function of one operand on every value of f16 and bf16."""

import numpy as np
import pytest

from tests.tileref.numerics.math_oracle import UNARY, assert_same, expected
from tileref.numerics import math
from tileref.numerics.bits import bits_of, from_bits, nan_mask
from tileref.numerics.formats import BF16, F16, FloatFormat


@pytest.mark.parametrize("fmt", [F16, BF16], ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("name", UNARY)
def test_all_values(name: str, fmt: FloatFormat) -> None:
    x = from_bits(np.arange(1 << 16, dtype=np.uint16), fmt)
    got = getattr(math, name)(x, fmt)
    assert_same(got, expected(name, (x,), fmt), fmt, x)
    assert (bits_of(got, fmt)[nan_mask(got, fmt)] == fmt.canonical_nan).all()
