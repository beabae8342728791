"""Printing, against the C library's own ``snprintf``."""

from __future__ import annotations

import ctypes
import itertools
from typing import Any

import numpy as np
import pytest

from tileir.types import F32, F64, I8, I16, I32, I64, NumberType
from tileref.printf import render

LIBC = ctypes.CDLL(None)
FLAGS = ["", "-", "+", " ", "#", "0", "-+", "0+", "#0", " 0", "-0", "+ ", "-#"]
WIDTHS = ["", "24"]
PRECISIONS = ["", ".", ".1", ".17"]
INTEGERS = [0, 1, -1, 8, 42, 255, -128, 70000, 2**31 - 1, -(2**31)]
FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.1,
    2.5,
    1e-5,
    123456.5,
    1e300,
    5e-324,
    2.0**-1060,
    -np.inf,
    np.inf,
    np.nan,
    -np.nan,
]


def c_printf(text: str, value: Any) -> str:
    """What C's ``snprintf`` writes."""
    buffer = ctypes.create_string_buffer(6000)
    LIBC.snprintf(buffer, ctypes.c_size_t(6000), text.encode(), value)
    return buffer.value.decode("latin-1")


def specifications(kinds: str) -> list[str]:
    """Every conversion of these kinds."""
    return ["%" + "".join(parts) for parts in itertools.product(FLAGS, WIDTHS, PRECISIONS, kinds)]


def ours(text: str, value: Any, element: NumberType) -> str:
    return render(text, [np.array(value)], [element])


@pytest.mark.parametrize("kind", "diuoxX")
def test_integers_print_as_in_c(kind: str) -> None:
    for text in specifications(kind):
        for number in INTEGERS:
            assert ours(text, np.int32(number), I32) == c_printf(text, ctypes.c_int(number)), (text, number)


@pytest.mark.parametrize("kind", "fFeEgGaA")
def test_floats_print_as_in_c(kind: str) -> None:
    for text in specifications(kind):
        for number in FLOATS:
            assert ours(text, np.float64(number), F64) == c_printf(text, ctypes.c_double(number)), (
                text,
                number,
            )


def test_length_modifiers_cut_as_in_c() -> None:
    for length, kind in itertools.product(["hh", "h", ""], "diuxo"):
        for number in INTEGERS:
            text = f"[%{length}{kind}]"
            assert ours(text, np.int32(number), I32) == c_printf(text, ctypes.c_int(number)), (text, number)
    for kind, number in itertools.product("diux", [-1, 2**63 - 1, -(2**63)]):
        text = f"%ll{kind}"
        assert ours(text, np.int64(number), I64) == c_printf(text, ctypes.c_longlong(number))
    for element, dtype in ((I8, np.int8), (I16, np.int16)):
        assert ours("%u %d", dtype(-1), element).startswith("4294967295")


@pytest.mark.parametrize("text", ["%c", "%3c|", "%-3c|"])
def test_characters_print_as_in_c(text: str) -> None:
    assert ours(text, np.int32(65), I32) == c_printf(text, ctypes.c_int(65))


def test_what_is_no_number_of_c_prints_padded() -> None:
    assert ours("%8p|%-8p|", np.int64(255), I64).startswith("    0xff|")
    assert ours("%6s", np.int32(-7), I32) == "    -7"
    assert ours("%a", np.float32(1.5), F32) == "0x1.8p+0"
