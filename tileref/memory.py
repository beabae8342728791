"""Global memory: the caller's arrays, a module's globals and allocations, behind addresses.

Every buffer has a region of 2^40 addresses to itself and lies in the middle of it, so that no pointer
arithmetic a tile of i32 offsets can do leads from one buffer into another: what an address belongs to is
never in doubt, and an access out of range never touches anybody's data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.errors import ArgumentError, UnsupportedError
from tileir.types import NumberType

from .formats import Array, from_bits, memory_dtype
from .numerics.formats import FORMATS
from .undefined import Lanes

REGION = 40
"""log2 of the addresses a buffer has to itself."""
MIDDLE = 1 << (REGION - 1)
MOST = (1 << (63 - REGION)) - 2
"""Buffers that fit the addresses there are, which are positive numbers of 64 bits."""
ALIGNMENT = 64
"""Bytes; no element is larger."""


@dataclass(slots=True)
class Common:
    """Memory that several buffers are parts of, since a launch was given arrays that share bytes.

    Attributes:
        base: the address of the first of them, which stands for all.
        size: in bytes.
        undefined: which bytes hold no defined value; None while all do.
    """

    base: int
    size: int
    undefined: Lanes | None = None


@dataclass(slots=True)
class Buffer:
    """Some bytes of global memory.

    Attributes:
        bytes: the bytes, a one-dimensional uint8 view of whoever owns them.
        base: the address of the first byte.
        argument: position among the launch's arguments, None for globals and allocations.
        name: what messages call it.
        common: the memory that it shares with other buffers, if it does; ``start`` is its first byte there.
        written: whether the launch has written to it.
        unwritten: which bytes nobody has written yet; None where that does not matter.
        unchanged: whether it is known beforehand that the launch will not write to it, under any name.
    """

    bytes: NDArray[np.uint8]
    base: int
    name: str
    argument: int | None = None
    common: Common | None = None
    start: int = 0
    written: bool = False
    unwritten: Lanes | None = None
    unchanged: bool = False
    _undefined: Lanes | None = None
    _typed: dict[np.dtype[Any], Array] = field(default_factory=dict)

    @property
    def undefined(self) -> Lanes | None:
        """Which bytes hold no defined value; None while all do."""
        if self.common is None:
            return self._undefined
        shared = self.common.undefined
        return None if shared is None else shared[self.start : self.start + self.size]

    @undefined.setter
    def undefined(self, lanes: Lanes | None) -> None:
        assert self.common is None
        self._undefined = lanes

    def _mark_bytes(self) -> Lanes:
        """The marks of every byte, made if there are none yet."""
        if self.common is None:
            if self._undefined is None:
                self._undefined = np.zeros(self.size, np.bool_)
            return self._undefined
        if self.common.undefined is None:
            self.common.undefined = np.zeros(self.common.size, np.bool_)
        return self.common.undefined[self.start : self.start + self.size]

    @property
    def place(self) -> int:
        """A number that all buffers of the same memory have, and no other."""
        return self.base if self.common is None else self.common.base

    @property
    def place_size(self) -> int:
        """Bytes of the memory that it is a part of, or all of."""
        return self.size if self.common is None else self.common.size

    @property
    def size(self) -> int:
        """Size in bytes."""
        return int(self.bytes.shape[0])

    def typed(self, dtype: np.dtype[Any]) -> Array:
        """The buffer as elements of ``dtype``; bytes of an incomplete last element are left out."""
        found = self._typed.get(dtype)
        if found is None:
            whole = self.size // dtype.itemsize * dtype.itemsize
            found = self.bytes[:whole].view(dtype)
            self._typed[dtype] = found
        return found

    def writable(self, dtype: np.dtype[Any]) -> Array:
        """The same, to write to; raises ``ArgumentError`` where the caller's array is read-only."""
        if not self.bytes.flags.writeable:
            raise ArgumentError(
                f"the kernel writes to {self.name}, which is a read-only array", rule="argument-read-only"
            )
        self.written = True
        return self.typed(dtype)

    def marks(self, itemsize: int) -> NDArray[np.bool_]:
        """For each element of ``itemsize`` bytes, whether one of its bytes is undefined."""
        undefined = self.undefined
        assert undefined is not None
        return _any_byte(undefined, itemsize)

    def mark(self, elements: Array, itemsize: int, lanes: Array) -> None:
        """Note that ``elements`` now hold a defined value, or none where ``lanes`` says so."""
        if self.undefined is None and not lanes.any():
            return
        undefined = self._mark_bytes()
        for byte in range(itemsize):
            undefined[elements * itemsize + byte] = lanes

    def mark_at(self, places: Array) -> None:
        """Note that bytes, by number in the memory that this is a part of, now hold no defined value."""
        self._mark_bytes()
        undefined = self._undefined if self.common is None else self.common.undefined
        assert undefined is not None
        undefined[places] = True

    def note_written(self, elements: Array, itemsize: int) -> None:
        """Note that ``elements`` were written to."""
        if self.unwritten is not None:
            for byte in range(itemsize):
                self.unwritten[elements * itemsize + byte] = False

    def never_written(self, elements: Array, itemsize: int) -> Array | None:
        """Which of ``elements`` have a byte that nobody has written; None where that does not matter."""
        return None if self.unwritten is None else _any_byte(self.unwritten, itemsize)[elements]


def _any_byte(lanes: Lanes, itemsize: int) -> NDArray[np.bool_]:
    whole = len(lanes) // itemsize * itemsize
    return np.asarray(lanes[:whole].reshape(-1, itemsize).any(axis=1))


def _share(group: Sequence[tuple[int, Buffer]]) -> bool:
    """Make one memory of buffers that overlap, given with the addresses of their bytes, ascending."""
    if len(group) < 2:
        return False
    # What is aligned for its owner stays so in the memory as a whole.
    first = group[0][0] & -ALIGNMENT
    end = max(address + buffer.size for address, buffer in group)
    common = Common(min(buffer.base for _, buffer in group), end - first)
    for address, buffer in group:
        known = buffer.undefined
        buffer.common, buffer.start = common, address - first
        if known is not None:
            buffer.mark(np.arange(buffer.size), 1, known)
    return True


Touched = tuple[Buffer, Array, int]
"""A buffer, and elements of some bytes each that somebody reads or writes."""


class Memory:
    """All buffers of a launch.

    ``touched`` collects what is read and written while somebody asks for it, and is None otherwise.
    """

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self.touched: list[Touched] | None = None

    def add(self, data: NDArray[np.uint8], name: str, *, argument: int | None = None) -> Buffer:
        """Give ``data`` an address."""
        if len(self.buffers) >= MOST:
            raise UnsupportedError(
                "a launch makes more allocations than there are addresses for",
                rule="alloca-count",
                expected=f"at most {MOST} buffers",
            )
        # Like a GPU's allocator: aligned more generously than any element asks for.
        buffer = Buffer(data, ((len(self.buffers) + 1) << REGION) + MIDDLE, name, argument)
        self.buffers.append(buffer)
        return buffer

    def find_common(self) -> bool:
        """Tell the buffers what memory they share, by the addresses of their bytes; whether any do."""
        found = [(b.bytes.__array_interface__["data"][0], b) for b in self.buffers if b.size]
        if len(found) < 2:
            return False
        found.sort(key=lambda each: each[0])
        groups: list[list[tuple[int, Buffer]]] = []
        end = 0
        for address, buffer in found:
            if address >= end:
                groups.append([])
            groups[-1].append((address, buffer))
            end = max(end, address + buffer.size)
        shared = [_share(group) for group in groups]
        return any(shared)

    def at(self, address: int) -> Buffer | None:
        """The buffer whose region holds ``address``."""
        number = (address >> REGION) - 1
        return self.buffers[number] if 0 <= number < len(self.buffers) else None


@dataclass(slots=True)
class Access:
    """Where the lanes of one memory operation go: for each buffer, which lanes, and to which elements.

    ``lanes`` is a flat index array into the operation's lanes, or None for all of them in order.
    """

    buffer: Buffer
    elements: Array
    lanes: NDArray[np.intp] | None


@dataclass(slots=True)
class Resolved:
    """The accesses of one memory operation, and the lanes that have none because they are out of bounds."""

    accesses: Sequence[Access]
    outside: NDArray[np.bool_] | None
    misaligned: NDArray[np.bool_] | None


def resolve(memory: Memory, addresses: Array, active: Array | None, itemsize: int) -> Resolved:
    """Find the elements of ``itemsize`` bytes at ``addresses``.

    Args:
        memory: where to look.
        addresses: flat int64.
        active: flat bool, the lanes that take part; None for all.
        itemsize: bytes an element takes, a power of two.
    """
    if active is None and addresses.size:
        low, high = int(addresses.min()), int(addresses.max())
        buffer = memory.at(low)
        if (
            buffer is not None
            and low >= buffer.base
            and high + itemsize <= buffer.base + buffer.size
            and not int(np.bitwise_or.reduce(addresses)) & (itemsize - 1)
        ):
            elements = (addresses - buffer.base) // itemsize
            if memory.touched is not None:
                memory.touched.append((buffer, elements, itemsize))
            return Resolved([Access(buffer, elements, None)], None, None)
    lanes = np.arange(addresses.size) if active is None else np.flatnonzero(active)
    wanted = addresses[lanes]
    regions = (wanted >> REGION) - 1
    outside = np.zeros(addresses.size, np.bool_)
    misaligned = (wanted & (itemsize - 1)) != 0
    accesses = []
    for number in np.unique(regions):
        here = regions == number
        if not 0 <= number < len(memory.buffers):
            outside[lanes[here]] = True
            continue
        buffer = memory.buffers[int(number)]
        offsets = wanted[here] - buffer.base
        inside = (offsets >= 0) & (offsets + itemsize <= buffer.size)
        outside[lanes[here][~inside]] = True
        inside &= ~misaligned[here]
        if inside.any():
            accesses.append(Access(buffer, offsets[inside] // itemsize, lanes[here][inside]))
            if memory.touched is not None:
                memory.touched.append((buffer, accesses[-1].elements, itemsize))
    wrong = None
    if misaligned.any():
        wrong = np.zeros(addresses.size, np.bool_)
        wrong[lanes[misaligned]] = True
        wrong &= ~outside
    return Resolved(accesses, outside if outside.any() else None, wrong)


def decode(raw: Array, element: NumberType) -> Array:
    """Elements as they lie in memory, as the array type of their format."""
    if element.name in ("i1", "i4"):
        return from_bits(raw, FORMATS[element.name])
    return raw.view(FORMATS[element.name].dtype)


def encode(data: Array, element: NumberType) -> Array:
    """Elements of a tile as they lie in memory."""
    if element.name == "i1":
        return data.astype(np.uint8)
    return data.view(memory_dtype(element))
