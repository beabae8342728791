"""Numbers as MLIR spells them.

The rules are those of LLVM's APFloat and MLIR's printer: six decimals in scientific notation if that reads
back as the same number, else enough digits for the format, else (NaN, infinity) the bits in hexadecimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..types import NumberType


@dataclass(frozen=True, slots=True)
class Format:
    """A float format's fields: ``precision`` counts the hidden bit; ``bias`` is the exponent's.

    ``specials`` says which patterns are no numbers: ``ieee`` (the highest exponent is infinity and NaN),
    ``fn`` (all ones is NaN), ``e8m0`` (no sign, no zero, all ones is NaN) or ``none``.
    """

    width: int
    exponent_bits: int
    precision: int
    bias: int
    specials: str


FORMATS: dict[str, Format] = {
    "f16": Format(16, 5, 11, 15, "ieee"),
    "bf16": Format(16, 8, 8, 127, "ieee"),
    "f32": Format(32, 8, 24, 127, "ieee"),
    "tf32": Format(19, 8, 11, 127, "ieee"),
    "f64": Format(64, 11, 53, 1023, "ieee"),
    "f8E4M3FN": Format(8, 4, 4, 7, "fn"),
    "f8E5M2": Format(8, 5, 3, 15, "ieee"),
    "f8E8M0FNU": Format(8, 8, 1, 127, "e8m0"),
    "f4E2M1FN": Format(4, 2, 2, 1, "none"),
}


def decode(bits: int, format_: Format) -> tuple[bool, int, int] | None:
    """``bits`` as sign, significand and exponent of 2; None for a NaN or an infinity."""
    if format_.specials == "e8m0":
        return None if bits == 0xFF else (False, 1, bits - format_.bias)
    fraction_bits = format_.precision - 1
    fraction = bits & ((1 << fraction_bits) - 1)
    exponent = bits >> fraction_bits & ((1 << format_.exponent_bits) - 1)
    sign = bool(bits >> (format_.width - 1) & 1)
    top = (1 << format_.exponent_bits) - 1
    if exponent == top and (
        format_.specials == "ieee" or (format_.specials == "fn" and fraction == (1 << fraction_bits) - 1)
    ):
        return None
    if exponent == 0:
        return sign, fraction, 1 - format_.bias - fraction_bits
    return sign, fraction | 1 << fraction_bits, exponent - format_.bias - fraction_bits


def encode(sign: bool, numerator: int, denominator: int, format_: Format) -> int | None:
    """The nearest number to numerator / denominator, ties to even; None if the format cannot hold it.

    Overflow gives infinity where the format has one.
    """
    if format_.specials == "e8m0":
        if sign or numerator == 0:
            return None
    elif numerator == 0:
        return int(sign) << (format_.width - 1)
    fraction_bits = format_.precision - 1
    lowest = 1 - format_.bias - fraction_bits
    if format_.specials == "e8m0":
        lowest = -format_.bias
    # The exponent of the significand's last bit: about log2 of the value, less the precision.
    exponent = max(numerator.bit_length() - denominator.bit_length() - format_.precision, lowest)
    significand = _round(numerator, denominator, exponent)
    while significand >> format_.precision:
        exponent += 1
        significand = _round(numerator, denominator, exponent)
    if format_.specials == "e8m0":
        return exponent + format_.bias if significand == 1 and exponent + format_.bias < 0xFF else None
    if significand >> fraction_bits:
        field = exponent + format_.bias + fraction_bits
        bits = field << fraction_bits | (significand & ((1 << fraction_bits) - 1))
    else:
        bits = significand
    top = ((1 << format_.exponent_bits) - 1) << fraction_bits
    if format_.specials == "ieee":
        bits = min(bits, top)
    elif bits > top + (1 << fraction_bits) - (2 if format_.specials == "fn" else 1):
        return None
    return int(sign) << (format_.width - 1) | bits


def _round(numerator: int, denominator: int, exponent: int) -> int:
    if exponent > 0:
        denominator <<= exponent
    else:
        numerator <<= -exponent
    quotient, remainder = divmod(numerator, denominator)
    twice = 2 * remainder
    if twice > denominator or (twice == denominator and quotient & 1):
        quotient += 1
    return quotient


def from_decimal(text: str, format_: Format) -> int | None:
    """The bits of a decimal literal, rounded to nearest; None if the format cannot hold it."""
    mantissa, _, power = text.lower().partition("e")
    sign = mantissa.startswith("-")
    whole, _, decimals = mantissa.lstrip("+-").partition(".")
    exponent = int(power or 0) - len(decimals)
    digits = int(whole + decimals)
    # Beyond these powers every format has nothing left but zero and infinity.
    exponent = max(-5000 - len(whole + decimals), min(exponent, 5000))
    if exponent >= 0:
        return encode(sign, digits * 10**exponent, 1, format_)
    return encode(sign, digits, 10**-exponent, format_)


@lru_cache(maxsize=4096)
def spell_float(bits: int, type_: NumberType) -> str:
    """The float of ``type_`` with this bit pattern."""
    format_ = FORMATS[type_.name]
    bits &= (1 << format_.width) - 1
    parts = decode(bits, format_)
    if parts is not None:
        short = _decimal(*parts, precision=6, padding=0, truncate=False)
        if from_decimal(short, format_) == bits:
            return short
        # As many digits as Steele and White's formula gives for the format.
        long = _decimal(*parts, precision=2 + format_.precision * 59 // 196, padding=3, truncate=True)
        if "." in long:
            return long
    return f"0x{bits:X}"


def is_hexadecimal(spelling: str) -> bool:
    """Whether ``spell_float`` fell back on the bit pattern."""
    return spelling.startswith("0x")


def _decimal(
    sign: bool, significand: int, exponent: int, *, precision: int, padding: int, truncate: bool
) -> str:
    minus = "-" if sign else ""
    if significand == 0:
        if padding:
            return f"{minus}0"
        return f"{minus}0.0E+0" if truncate else f"{minus}0.0{'0' * (precision - 1)}e+00"
    zeros = (significand & -significand).bit_length() - 1
    significand >>= zeros
    exponent += zeros
    if exponent >= 0:
        significand <<= exponent
        exponent = 0
    else:
        significand *= 5**-exponent
    # What is surely below the digits asked for is cut before rounding, as APFloat does.
    spare = significand.bit_length() - (precision * 196 + 58) // 59
    if spare > 0:
        removable = spare * 59 // 196
        significand //= 10**removable
        exponent += removable
    text = str(significand)
    digits = text.rstrip("0")
    exponent += len(text) - len(digits)
    if len(digits) > precision:
        dropped = len(digits) - precision
        exponent += dropped
        kept = int(digits[:precision]) + (digits[precision] >= "5")
        digits = str(kept)
        exponent += len(digits) - len(digits.rstrip("0"))
        digits = digits.rstrip("0")
    return minus + _layout(digits, exponent, precision, padding, truncate)


def _layout(digits: str, exponent: int, precision: int, padding: int, truncate: bool) -> str:
    count = len(digits)
    if not padding:
        scientific = True
    elif exponent >= 0:
        scientific = exponent > padding or count + exponent > precision
    else:
        leading = exponent + count - 1
        scientific = leading < 0 and -leading > padding
    if scientific:
        exponent += count - 1
        tail = digits[1:]
        if truncate:
            return f"{digits[0]}.{tail or '0'}E{'+' if exponent >= 0 else '-'}{abs(exponent)}"
        return f"{digits[0]}.{tail.ljust(precision, '0')}e{'+' if exponent >= 0 else '-'}{abs(exponent):02}"
    if exponent >= 0:
        return digits + "0" * exponent
    whole = count + exponent
    if whole > 0:
        return f"{digits[:whole]}.{digits[whole:]}"
    return f"0.{'0' * -whole}{digits}"


def spell_integer(bits: int, type_: NumberType) -> str:
    """The integer of ``type_`` with this bit pattern, read as signed; i1 as ``true`` or ``false``."""
    if type_.width == 1:
        return "true" if bits & 1 else "false"
    sign = 1 << (type_.width - 1)
    return str((bits & (sign - 1)) - (bits & sign))


def spell_number(bits: int, type_: NumberType) -> str:
    """The number of ``type_`` with this bit pattern."""
    return spell_float(bits, type_) if type_.is_float else spell_integer(bits, type_)
