"""Constants from text: numbers as bit patterns, and the elements of tiles."""

from __future__ import annotations

from .. import attributes as a
from ..types import NumberType, TileType
from .numbers import FORMATS, from_decimal
from .scanner import Scanner
from .type_parser import LARGEST_RANK, TypeParser


class ConstantParser:
    """Reads numbers of known formats at a scanner's position."""

    def __init__(self, scanner: Scanner, types: TypeParser) -> None:
        self.scanner = scanner
        self.types = types

    def bits(self, literal: str, decimal: bool, type_: NumberType, start: int) -> int:
        """The bit pattern of a literal that stands at ``start``.

        A float is a decimal fraction, rounded once to nearest, or the pattern in hexadecimal. A number that
        is too large is the format's infinity, and refused where it has none.
        """
        scanner = self.scanner
        if not type_.is_float:
            if decimal:
                scanner.fail("an integer has no decimals", "number-form", at=start, found=literal)
            top = 1 << type_.width
            return scanner.number(literal, start, -(top >> 1) - (type_.width == 1), top - 1) & (top - 1)
        format_ = FORMATS[type_.name]
        if decimal:
            bits = from_decimal(literal, format_)
            if bits is None:
                scanner.fail(f"a number is too large for {type_}", "number-range", at=start, found=literal)
            return bits
        if "x" not in literal or literal.startswith("-"):
            scanner.fail(
                "a float is spelled with a point, or as its bit pattern in hexadecimal",
                "number-form",
                at=start,
                found=literal,
            )
        return scanner.number(literal, start, 0, (1 << format_.width) - 1)

    def elements(self, element: NumberType) -> tuple[bytes, tuple[int, ...] | None]:
        """Take the elements of a constant: their bytes, and the shape that the brackets give.

        The shape is () for one element without brackets, and None for bytes in hexadecimal.
        """
        scanner = self.scanner
        if scanner.at('"'):
            start = scanner.position
            text = scanner.string()
            try:
                data = bytes.fromhex(text[2:]) if text.startswith("0x") else None
            except ValueError:
                data = None
            if data is None or any(c.isspace() for c in text):
                scanner.fail("a constant's bytes are not hexadecimal", "constant-hex", at=start)
            return data, None
        bits: list[int] = []
        shape = self._nested(element, bits, 0)
        return b"".join([b.to_bytes(element.bytes, "little") for b in bits]), shape

    def _nested(self, element: NumberType, bits: list[int], depth: int) -> tuple[int, ...]:
        scanner = self.scanner
        if not scanner.at("["):
            bits.append(self._element(element))
            return ()
        if depth > LARGEST_RANK:
            scanner.fail("too many dimensions", "rank", expected=f"at most {LARGEST_RANK}")
        start = scanner.position
        shapes: list[tuple[int, ...]] = []

        def item() -> None:
            at = scanner.position
            shapes.append(self._nested(element, bits, depth + 1))
            if shapes[-1] != shapes[0]:
                scanner.fail(
                    "a constant's rows differ in shape",
                    "constant-shape",
                    at=at,
                    found=list(shapes[-1]),
                    expected=list(shapes[0]),
                )

        self.types.listed("[", item)
        if not shapes:
            scanner.fail("a constant has an empty row", "constant-shape", at=start)
        return len(shapes), *shapes[0]

    def _element(self, element: NumberType) -> int:
        scanner = self.scanner
        if element.width == 1:
            if scanner.accept("true"):
                return 1
            if scanner.accept("false"):
                return 0
        start = scanner.position
        literal, decimal = scanner.literal()
        return self.bits(literal, decimal, element, start)

    def constant(
        self, found: tuple[bytes, tuple[int, ...] | None], type_: TileType, start: int
    ) -> a.DenseElements:
        """What ``elements`` took, at ``start``, as a constant of ``type_``."""
        data, shape = found
        element = type_.element
        assert isinstance(element, NumberType)
        if shape is None:
            width = 3 if element.name == "tf32" else element.bytes
            if len(data) not in (width, width * type_.size):
                self.scanner.fail(
                    f"a constant's bytes are not those of {type_}",
                    "constant-size",
                    at=start,
                    found=f"{len(data)} bytes",
                    expected=f"{width * type_.size}",
                )
            if element.name == "tf32":
                data = b"".join([data[i : i + 3] + b"\0" for i in range(0, len(data), 3)])
        elif shape not in ((), type_.shape):
            self.scanner.fail(
                "a constant's brackets do not have its type's shape",
                "constant-shape",
                at=start,
                found=list(shape),
                expected=list(type_.shape),
            )
        return a.DenseElements(type_, data)
