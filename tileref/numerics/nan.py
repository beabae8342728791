"""NaN rules: which pattern an operation answers where its result is NaN.

IEEE 754 leaves the pattern of a NaN result open and the dialect promises none, so the pattern is a model's
choice. A model passes its choice as a rule, called once an operation, after the values are right. The rule of
the `spec` model is `canonical`.
"""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from .bits import any_nan, bits_of, nan_mask
from .formats import FloatFormat


class NanRule(Protocol):
    """Overwrites the NaN lanes of a result, in place."""

    def __call__(
        self, result: NDArray[Any], operands: tuple[NDArray[Any], ...], fmt: FloatFormat, operation: str
    ) -> None:
        """Write the pattern of every NaN lane of `result`.

        `result` is a fresh array of `fmt.dtype` that the caller owns. `operands` are the operation's operands
        in its order, arrays of the result's shape; they must not be written to. `operation` is the dialect's
        name ("addf", "ftof", "exp").
        """


def canonical(
    result: NDArray[Any], operands: tuple[NDArray[Any], ...], fmt: FloatFormat, operation: str
) -> None:
    """Every NaN is the format's canonical quiet NaN, sign clear."""
    if any_nan(result, fmt):
        bits_of(result, fmt)[nan_mask(result, fmt)] = fmt.canonical_nan
