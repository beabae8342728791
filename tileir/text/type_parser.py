"""Types from text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from .. import types as t
from .scanner import Scanner, token_pattern

T = TypeVar("T")

LARGEST_RANK = 255
NESTING = 64
"""Names of types stand for names of types no deeper than this in any real file."""
_DIMENSIONS = token_pattern(r"((?:(?:[0-9]+|\?)x)*)")
_TILE = token_pattern(r"([0-9]+(?:x[0-9]+)*|(?=\)))")
_TILE_TYPE = token_pattern(r"(tile<[^<>]*(?:<[^<>]*>)?>)")
_BRACKET = re.compile(r"[<>]")

I32 = (1 << 31) - 1
I64 = (1 << 63) - 1
POINTER_ATTRIBUTES = {str(a): a for a in t.PointerAttribute}
PADDING = {str(p): p for p in t.PaddingValue}


class TypeParser:
    """Reads types at a scanner's position, each spelling once."""

    def __init__(self, scanner: Scanner, aliases: Mapping[str, int]) -> None:
        self.scanner = scanner
        self._aliases = aliases
        self._known: dict[str, t.Type] = {}
        self._open: set[str] = set()
        self._kinds: dict[str, Callable[[], t.Type]] = {
            "tile": self._tile,
            "ptr": self._pointer,
            "tensor_view": self._tensor_view,
            "partition_view": self._partition_view,
            "strided_view": self._strided_view,
            "gather_scatter_view": self._gather_scatter_view,
        }

    def type(self) -> t.Type:
        """Take a type; its dialect may be spelled or not."""
        scanner = self.scanner
        start = scanner.position
        tile = _TILE_TYPE.match(scanner.text, start)
        if tile is not None:
            known = self._known.get(tile[1])
            if known is not None:
                scanner.position = tile.end()
                return known
        if scanner.at("!"):
            scanner.position += 1
            name = scanner.alias()
            if not name.startswith("cuda_tile."):
                return self._alias(name, start)
            name = name.removeprefix("cuda_tile.")
        else:
            name = scanner.word("a type").removeprefix("cuda_tile.")
        number = t.NUMBERS.get(name)
        if number is not None:
            return number
        if name == "token":
            return t.TOKEN
        kind = self._kinds.get(name)
        if kind is None:
            scanner.fail("there is no such type", "type-name", at=start, found=name)
        if not scanner.at("<"):
            scanner.unexpected("'<'")
        end = self._end()
        spelling = name + scanner.text[scanner.position : end]
        known = self._known.get(spelling)
        if known is not None:
            scanner.position = end
            scanner.skip()
            return known
        scanner.expect("<")
        made = kind()
        scanner.expect(">")
        self._known[spelling] = made
        return made

    def _end(self) -> int:
        """Where the angle bracket that opens here is closed."""
        depth = 0
        text = self.scanner.text
        for match in _BRACKET.finditer(text, self.scanner.position):
            if match[0] == "<":
                depth += 1
            elif text[match.start() - 1] != "-":
                depth -= 1
                if depth == 0:
                    return match.end()
            if depth > 8:
                break
        self.scanner.fail("an angle bracket is not closed", "syntax", expected="'>'")

    def _alias(self, name: str, start: int) -> t.Type:
        scanner = self.scanner
        known = self._known.get("!" + name)
        if known is not None:
            return known
        position = self._aliases.get("!" + name)
        if position is None:
            scanner.fail("there is no type of this name", "alias", at=start, found="!" + name)
        if name in self._open or len(self._open) > NESTING:
            scanner.fail("a type contains itself", "alias-cycle", at=start, found="!" + name)
        here = scanner.position
        self._open.add(name)
        scanner.position = position
        made = self.type()
        self._open.discard(name)
        scanner.position = here
        self._known["!" + name] = made
        return made

    def number(self) -> t.NumberType:
        """Take a number format."""
        start = self.scanner.position
        found = self.type()
        if not isinstance(found, t.NumberType):
            self.scanner.fail("this is not a number format", "type-kind", at=start, found=found)
        return found

    def _dimensions(self, dynamic: bool) -> tuple[t.Dimension, ...]:
        scanner = self.scanner
        start = scanner.position
        match = scanner.match(_DIMENSIONS)
        assert match is not None
        texts = match[1].split("x")[:-1]
        if len(texts) > LARGEST_RANK:
            scanner.fail("too many dimensions", "rank", at=start, found=len(texts), expected=LARGEST_RANK)
        dimensions: list[t.Dimension] = []
        for text in texts:
            if text == "?":
                if not dynamic:
                    scanner.fail("a tile's extents are known", "tile-extent", at=start, found="?")
                dimensions.append(None)
            else:
                dimensions.append(scanner.number(text, start, 1, I64))
        return tuple(dimensions)

    def _tile(self) -> t.Type:
        shape = tuple(d for d in self._dimensions(False) if d is not None)
        start = self.scanner.position
        element = self.type()
        if not isinstance(element, t.NumberType | t.PointerType):
            self.scanner.fail(
                "a tile's element is neither a number nor a pointer", "type-kind", at=start, found=element
            )
        return t.TileType(shape, element)

    def _pointer(self) -> t.Type:
        pointee = self.number()
        return t.PointerType(pointee, self._pointer_attribute() if self.scanner.accept(",") else None)

    def _pointer_attribute(self) -> t.PointerAttribute:
        scanner = self.scanner
        scanner.accept("#cuda_tile.ptr_attr")
        scanner.expect("<")
        start = scanner.position
        word = scanner.word("a pointer attribute")
        attribute = POINTER_ATTRIBUTES.get(word)
        if attribute is None:
            expected = " or ".join(POINTER_ATTRIBUTES)
            scanner.fail(
                "there is no such pointer attribute", "keyword", at=start, found=word, expected=expected
            )
        scanner.expect(">")
        return attribute

    def _tensor_view(self) -> t.Type:
        scanner = self.scanner
        start = scanner.position
        shape = self._dimensions(True)
        element = self.number()
        strides: tuple[t.Dimension, ...] = ()
        attribute = None
        if shape:
            scanner.expect(",")
            scanner.expect("strides")
            scanner.expect("=")
            strides = tuple(self.listed("[", self._stride))
            if len(strides) != len(shape):
                scanner.fail(
                    "a tensor view has as many strides as extents",
                    "tensor-rank",
                    at=start,
                    found=f"{len(strides)} strides",
                    expected=len(shape),
                )
        if scanner.accept(","):
            attribute = self._pointer_attribute()
        return t.TensorViewType(element, shape, strides, attribute)

    def _stride(self) -> t.Dimension:
        return None if self.scanner.accept("?") else self.scanner.integer(1, I64)

    def listed(self, bracket: str, item: Callable[[], T]) -> list[T]:
        """Take items parted by commas in brackets."""
        scanner = self.scanner
        close = {"[": "]", "(": ")", "<": ">", "{": "}"}[bracket]
        scanner.expect(bracket)
        items: list[T] = []
        if scanner.accept(close):
            return items
        items.append(item())
        while scanner.accept(","):
            items.append(item())
        scanner.expect(close)
        return items

    def _tile_shape(self) -> tuple[int, ...]:
        scanner = self.scanner
        scanner.expect("tile")
        scanner.expect("=")
        scanner.expect("(")
        start = scanner.position
        match = scanner.match(_TILE)
        if match is None:
            scanner.unexpected("a tile's extents")
        extents = [scanner.number(text, start, 1, I32) for text in match[1].split("x") if text]
        if len(extents) > LARGEST_RANK:
            scanner.fail("too many dimensions", "rank", at=start, found=len(extents), expected=LARGEST_RANK)
        scanner.expect(")")
        return tuple(extents)

    def _padding(self) -> t.PaddingValue | None:
        """After the comma behind the shape: padding, and the comma behind it, if it is spelled."""
        scanner = self.scanner
        if not scanner.accept("padding_value"):
            return None
        scanner.expect("=")
        start = scanner.position
        word = scanner.word("a padding value")
        padding = PADDING.get(word)
        if padding is None:
            scanner.fail(
                "there is no such padding value",
                "keyword",
                at=start,
                found=word,
                expected=" or ".join(PADDING),
            )
        scanner.expect(",")
        return padding

    def _inner_view(self) -> t.TensorViewType:
        start = self.scanner.position
        found = self.type()
        if not isinstance(found, t.TensorViewType):
            self.scanner.fail("a view is of a tensor view", "type-kind", at=start, found=found)
        return found

    def _dim_map(self, rank: int) -> tuple[int, ...]:
        scanner = self.scanner
        if not scanner.accept(","):
            return tuple(range(rank))
        scanner.expect("dim_map")
        scanner.expect("=")
        return tuple(self.listed("[", lambda: scanner.integer(-I32 - 1, I32)))

    def _partition_view(self) -> t.Type:
        shape = self._tile_shape()
        self.scanner.expect(",")
        padding = self._padding()
        view = self._inner_view()
        return t.PartitionViewType(shape, view, self._dim_map(len(shape)), padding)

    def _strided_view(self) -> t.Type:
        scanner = self.scanner
        shape = self._tile_shape()
        scanner.expect(",")
        scanner.expect("traversal_strides")
        scanner.expect("=")
        strides = tuple(self.listed("[", lambda: scanner.integer(-I32 - 1, I32)))
        scanner.expect(",")
        padding = self._padding()
        view = self._inner_view()
        return t.StridedViewType(shape, strides, view, self._dim_map(len(shape)), padding)

    def _gather_scatter_view(self) -> t.Type:
        scanner = self.scanner
        shape = self._tile_shape()
        scanner.expect(",")
        padding = self._padding()
        view = self._inner_view()
        scanner.expect(",")
        scanner.expect("sparse_dim")
        scanner.expect("=")
        return t.GatherScatterViewType(shape, view, scanner.integer(0, I32), padding)
