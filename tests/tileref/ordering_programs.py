"""Random programs of loads, stores and atomics, and what is undefined in them by the definitions alone.

Nothing here is clever: every access is a set of elements, and every two accesses are compared.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

SIZE = 48
"""Elements of the buffer."""
BEFORE = 6
"""How many of them lie before the first that the second argument has, which is a part of the buffer."""
LANES = 4


@dataclass(frozen=True)
class Step:
    """An access that every block makes: to ``step * block + start`` and the next elements, or tile by tile.

    ``waits`` numbers the earlier accesses whose tokens it joins; ``second`` is whether it goes through the
    second argument.
    """

    kind: str
    how: str
    start: int
    step: int
    view: bool
    value: int | None
    waits: tuple[int, ...]
    second: bool = False

    def elements(self, block: int) -> range:
        """The elements that a block accesses."""
        first = self.start + self.step * block
        if self.view:
            first *= LANES
        first += BEFORE if self.second else 0
        return range(first, first + LANES)

    @property
    def writes(self) -> bool:
        return self.kind != "load"

    @property
    def scoped(self) -> bool:
        return self.how != "weak"

    @property
    def strong(self) -> bool:
        """Whether its scope includes other blocks."""
        return self.how == "relaxed device"

    def stored(self, block: int) -> int:
        """What a store stores everywhere."""
        return block if self.value is None else self.value


@st.composite
def programs(draw: st.DrawFn) -> tuple[int, list[Step]]:
    """A number of blocks, and what each of them does."""
    blocks = draw(st.integers(1, 4))
    steps: list[Step] = []
    for number in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["load", "store", "store", "add"]))
        view = kind != "add" and draw(st.booleans())
        how = draw(st.sampled_from(["weak", "weak", "relaxed tl_blk", "relaxed device"]))
        steps.append(
            Step(
                kind,
                "weak" if view else how if kind != "add" or how != "weak" else "relaxed device",
                draw(st.integers(0, 3 if view else 12)),
                draw(st.sampled_from([0, 1, 1] if view else [0, 2, 4, 4, 4])),
                view,
                draw(st.sampled_from([None, 7])),
                tuple(sorted(draw(st.sets(st.integers(0, number - 1))))) if number else (),
                draw(st.booleans()),
            )
        )
    return blocks, steps


def text(steps: list[Step]) -> str:
    """The program as a kernel of an i32 buffer and a part of it."""
    tensor = f"tensor_view<{SIZE - BEFORE}xi32, strides=[1]>"
    view = f"partition_view<tile=({LANES}), {tensor}>"
    tile, ptrs = f"tile<{LANES}xi32>", f"tile<{LANES}xptr<i32>>"
    lines = [
        "%x, %y, %z = get_tile_block_id : tile<i32>",
        f"%lanes = iota : {tile}",
    ]
    for name in "ab":
        lines += [
            f"%{name}_tensor = make_tensor_view %{name}, shape = [{SIZE - BEFORE}], strides = [1] : {tensor}",
            f"%{name}_view = make_partition_view %{name}_tensor : {view}",
            f"%{name}1 = reshape %{name} : tile<ptr<i32>> -> tile<1xptr<i32>>",
            f"%{name}n = broadcast %{name}1 : tile<1xptr<i32>> -> {ptrs}",
        ]
    for n, s in enumerate(steps):
        name = "b" if s.second else "a"
        lines += [
            f"%start{n} = constant <i32: {s.start}> : tile<i32>",
            f"%step{n} = constant <i32: {s.step}> : tile<i32>",
            f"%by{n} = muli %x, %step{n} : tile<i32>",
            f"%at{n} = addi %by{n}, %start{n} : tile<i32>",
            f"%w{n}_1 = reshape %x : tile<i32> -> tile<1xi32>",
            f"%w{n}_n = broadcast %w{n}_1 : tile<1xi32> -> {tile}"
            if s.value is None
            else f"%w{n}_n = constant <i32: {s.value}> : {tile}",
            f"%o{n}_1 = reshape %at{n} : tile<i32> -> tile<1xi32>",
            f"%o{n}_n = broadcast %o{n}_1 : tile<1xi32> -> {tile}",
            f"%o{n} = addi %o{n}_n, %lanes : {tile}",
            f"%p{n} = offset %{name}n, %o{n} : {ptrs}, {tile} -> {ptrs}",
        ]
        token = ""
        if len(s.waits) == 1:
            token = f" token = %t{s.waits[0]}"
        elif s.waits:
            lines.append(f"%j{n} = join_tokens {', '.join(f'%t{w}' for w in s.waits)} : token")
            token = f" token = %j{n}"
        here = f'loc("step":{n}:1)'
        lines.append(
            {
                ("load", True): f"%v{n}, %t{n} = load_view_tko weak %{name}_view[%at{n}]{token} : {view}, tile<i32> -> {tile}, token",
                ("store", True): f"%t{n} = store_view_tko weak %w{n}_n, %{name}_view[%at{n}]{token} : {tile}, {view}, tile<i32> -> token",
                ("load", False): f"%v{n}, %t{n} = load_ptr_tko {s.how} %p{n}{token} : {ptrs} -> {tile}, token",
                ("store", False): f"%t{n} = store_ptr_tko {s.how} %p{n}, %w{n}_n{token} : {ptrs}, {tile} -> token",
                ("add", False): f"%v{n}, %t{n} = atomic_rmw_tko {s.how} %p{n}, add, %w{n}_n{token} : {ptrs}, {tile} -> {tile}, token",
            }[s.kind, s.view]
            + f" {here}"
        )  # fmt: skip
    body = "\n  ".join(lines)
    return f"entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>) {{\n  {body}\n  return\n}}"


def waited(steps: list[Step], number: int) -> set[int]:
    """The accesses that one waits for, directly or not."""
    found: set[int] = set()
    for w in steps[number].waits:
        found |= {w} | waited(steps, w)
    return found


def unordered(blocks: int, steps: list[Step]) -> dict[int, set[tuple[int, int]]]:
    """For each access, the (block, element) where an earlier one of the block is in conflict with it."""
    found: dict[int, set[tuple[int, int]]] = {}
    for n, later in enumerate(steps):
        before = waited(steps, n)
        for m, earlier in enumerate(steps[:n]):
            conflict = (later.writes or earlier.writes) and not (later.scoped and earlier.scoped)
            if m in before or not conflict:
                continue
            for block in range(blocks):
                both = set(later.elements(block)) & set(earlier.elements(block))
                found.setdefault(n, set()).update((block, e) for e in both)
    return {n: places for n, places in found.items() if places}


def raced(blocks: int, steps: list[Step], *, letter: bool = False) -> set[int]:
    """The elements that two blocks access in conflict.

    Plain stores of one value are no conflict, but to the ``letter`` of the memory model.
    """
    found = set()
    for a in range(blocks):
        for b in range(blocks):
            for one in steps:
                for other in steps:
                    if a == b or not one.writes or (one.strong and other.strong):
                        continue
                    plain = one.kind == other.kind == "store" and not one.strong and not other.strong
                    if plain and not letter and one.stored(a) == other.stored(b):
                        continue
                    found |= set(one.elements(a)) & set(other.elements(b))
    return found
