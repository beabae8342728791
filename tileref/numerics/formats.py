"""Float and integer formats as data.

A format says how wide a value is, how its bits are read and which array type stores it; nothing in this
package branches on a format's name where a field of the format can answer. The names are the dialect's.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np


class Rounding(enum.Enum):
    """The rounding directions of IEEE 754, in the dialect's spelling."""

    NEAREST_EVEN = "nearest_even"
    ZERO = "zero"
    NEGATIVE_INF = "negative_inf"
    POSITIVE_INF = "positive_inf"
    NEAREST_AWAY = "nearest_away"


@dataclass(frozen=True, eq=False)
class FloatFormat:
    """A binary floating-point format.

    Bit patterns (`canonical_nan`, `largest`, `infinity`, and those that the properties give) are patterns of
    the *storage*, unsigned integers of `bits_dtype`. Two formats are equal when they are the same object;
    copies and pickles of a format are that object.
    """

    name: str
    """The dialect's spelling."""
    width: int
    """Bits of one value (4 for f4E2M1FN). tf32 counts as the 32 it is stored in."""
    exponent_width: int
    precision: int
    """Significand bits, the hidden bit included."""
    bias: int
    emin: int
    """Exponent of the smallest normal value, 2**emin."""
    emax: int
    """Exponent of the largest finite value, which is below 2**(emax + 1)."""
    dtype: np.dtype[Any]
    """The array type that stores one value a lane."""
    bits_dtype: np.dtype[Any]
    """The unsigned integer of the storage's width."""
    canonical_nan: int
    """Pattern of the quiet NaN that an operation answers by default. A format without NaN (`has_nan` false)
    names the value a NaN becomes when it is converted."""
    largest: int
    """Pattern of the largest finite value."""
    infinity: int | None = None
    """Pattern of the positive infinity, or None where the format has none."""
    signed: bool = True
    has_nan: bool = True
    has_zero: bool = True
    """False for f8E8M0FNU alone, which has neither zero nor subnormals: its smallest value is 2**emin."""
    unused_bits: int = 0
    """Low bits of the storage that are always clear (13 for tf32 in an f32)."""

    @property
    def has_infinity(self) -> bool:
        """Whether the format has infinities."""
        return self.infinity is not None

    @property
    def storage_width(self) -> int:
        """Bits of one lane of the array that stores the format (8 for f4E2M1FN)."""
        return self.bits_dtype.itemsize * 8

    @property
    def sign_bit(self) -> int:
        """Pattern with the sign bit alone, 0 for an unsigned format."""
        return 1 << (self.width - 1) if self.signed else 0

    @property
    def magnitude_mask(self) -> int:
        """Pattern with every bit of the format but the sign."""
        return (self.sign_bit or 1 << self.width) - 1

    @property
    def significand_width(self) -> int:
        """Stored significand bits, the hidden bit excluded."""
        return self.precision - 1

    @property
    def smallest_normal(self) -> int:
        """Pattern of 2**emin."""
        return (1 << (self.significand_width + self.unused_bits)) if self.has_zero else 0

    @property
    def first_non_finite(self) -> int:
        """The magnitude pattern just above the largest finite one: infinity, or NaN, or no pattern at all."""
        return self.largest + (1 << self.unused_bits)

    def __repr__(self) -> str:
        return f"FloatFormat({self.name})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _format_named, (self.name,)


@dataclass(frozen=True, eq=False)
class IntegerFormat:
    """A two's complement integer format; the dialect's integers have no sign of their own.

    i1 is stored as `np.bool_` (never do arithmetic on that: numpy's bool addition is a logical or), i4 as
    `np.int8` holding -8..7, the others as the signed numpy type of their width.
    """

    name: str
    width: int
    dtype: np.dtype[Any]
    """The array type that stores one value a lane."""
    unsigned_dtype: np.dtype[Any]
    """The unsigned integer of the storage's width (uint8 for i1 and i4)."""

    @property
    def storage_width(self) -> int:
        """Bits of one lane of the array that stores the format (8 for i1 and i4)."""
        return self.dtype.itemsize * 8

    @property
    def minimum(self) -> int:
        """The least value read signed, -2**(width-1)."""
        return -(1 << (self.width - 1))

    @property
    def maximum(self) -> int:
        """The greatest value read signed, 2**(width-1) - 1."""
        return (1 << (self.width - 1)) - 1

    @property
    def unsigned_maximum(self) -> int:
        """The greatest value read unsigned, 2**width - 1."""
        return (1 << self.width) - 1

    def __repr__(self) -> str:
        return f"IntegerFormat({self.name})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _format_named, (self.name,)


def _ieee(name: str, exponent_width: int, precision: int, dtype: Any, unused_bits: int = 0) -> FloatFormat:
    """A format with IEEE 754's layout: the all-ones exponent is infinity and NaN."""
    bias = (1 << (exponent_width - 1)) - 1
    storage = np.dtype(dtype)
    infinity = ((1 << exponent_width) - 1) << (precision - 1 + unused_bits)
    return FloatFormat(
        name=name,
        width=storage.itemsize * 8,
        exponent_width=exponent_width,
        precision=precision,
        bias=bias,
        emin=1 - bias,
        emax=bias,
        dtype=storage,
        bits_dtype=np.dtype(f"uint{storage.itemsize * 8}"),
        canonical_nan=infinity | 1 << (precision - 2 + unused_bits),
        largest=infinity - (1 << unused_bits),
        infinity=infinity,
        unused_bits=unused_bits,
    )


F64 = _ieee("f64", 11, 53, np.float64)
F32 = _ieee("f32", 8, 24, np.float32)
TF32 = _ieee("tf32", 8, 11, np.float32, unused_bits=13)
F16 = _ieee("f16", 5, 11, np.float16)
BF16 = _ieee("bf16", 8, 8, ml_dtypes.bfloat16)
F8E5M2 = _ieee("f8E5M2", 5, 3, ml_dtypes.float8_e5m2)

# The three formats below are those of the Open Compute Project's 8-bit and microscaling specifications: the
# "FN" formats give the patterns that IEEE 754 would spend on infinities to finite values.
F8E4M3FN = FloatFormat(
    name="f8E4M3FN",
    width=8,
    exponent_width=4,
    precision=4,
    bias=7,
    emin=-6,
    emax=8,
    dtype=np.dtype(ml_dtypes.float8_e4m3fn),
    bits_dtype=np.dtype(np.uint8),
    canonical_nan=0x7F,
    largest=0x7E,
)
F8E8M0FNU = FloatFormat(
    name="f8E8M0FNU",
    width=8,
    exponent_width=8,
    precision=1,
    bias=127,
    emin=-127,
    emax=127,
    dtype=np.dtype(ml_dtypes.float8_e8m0fnu),
    bits_dtype=np.dtype(np.uint8),
    canonical_nan=0xFF,
    largest=0xFE,
    signed=False,
    has_zero=False,
)
# A NaN converted to f4E2M1FN becomes the largest value, as the PTX conversion to e2m1 says.
F4E2M1FN = FloatFormat(
    name="f4E2M1FN",
    width=4,
    exponent_width=2,
    precision=2,
    bias=1,
    emin=0,
    emax=2,
    dtype=np.dtype(ml_dtypes.float4_e2m1fn),
    bits_dtype=np.dtype(np.uint8),
    canonical_nan=0x7,
    largest=0x7,
    has_nan=False,
)

I1 = IntegerFormat("i1", 1, np.dtype(np.bool_), np.dtype(np.uint8))
I4 = IntegerFormat("i4", 4, np.dtype(np.int8), np.dtype(np.uint8))
I8 = IntegerFormat("i8", 8, np.dtype(np.int8), np.dtype(np.uint8))
I16 = IntegerFormat("i16", 16, np.dtype(np.int16), np.dtype(np.uint16))
I32 = IntegerFormat("i32", 32, np.dtype(np.int32), np.dtype(np.uint32))
I64 = IntegerFormat("i64", 64, np.dtype(np.int64), np.dtype(np.uint64))

FLOAT_FORMATS: tuple[FloatFormat, ...] = (F64, F32, TF32, F16, BF16, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN)
INTEGER_FORMATS: tuple[IntegerFormat, ...] = (I1, I4, I8, I16, I32, I64)

FORMATS: Mapping[str, FloatFormat | IntegerFormat] = MappingProxyType(
    {fmt.name: fmt for fmt in FLOAT_FORMATS} | {fmt.name: fmt for fmt in INTEGER_FORMATS}
)
"""Every format by the dialect's name for it."""


def _format_named(name: str) -> FloatFormat | IntegerFormat:
    return FORMATS[name]
