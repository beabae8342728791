"""Atomic addition of floats, each lane to an element of its own."""

from __future__ import annotations

from collections.abc import Iterator

from ..probe import Probe, answer, given, probe
from ..recipes import Floats
from ..text import kernel, tile

LANES = 1024


def atomic() -> Iterator[Probe]:
    """Tiny values, of which some are subnormal."""
    for element in ("f32", "f64", "f16", "bf16"):
        many, values = tile((LANES,), f"ptr<{element}>"), tile((LANES,), element)
        indices = tile((LANES,), "i32")
        lines = [
            f"%io = iota : {indices}",
            *_pointers("p", "a", element, many, indices),
            *_pointers("v", "b", element, many, indices),
            f"%v, %tk = load_ptr_tko weak %vs token = %t : {many} -> {values}, token",
            "%o, %tk2 = atomic_rmw_tko relaxed device %ps, addf, %v token = %tk"
            f" : {many}, {values} -> {values}, token",
        ]
        buffers = [
            answer("a", element, (LANES,), Floats("tiny", 1)),
            given("b", element, (LANES,), Floats("tiny", 2)),
        ]
        yield probe(f"atomic/addf_{element}", kernel([("a", element), ("b", element)], lines), 1, buffers)


def _pointers(name: str, base: str, element: str, many: str, indices: str) -> list[str]:
    """Lines that make %<name>s, pointers to the elements from %<base> on."""
    one = tile((1,), f"ptr<{element}>")
    return [
        f"%{name}b = reshape %{base} : tile<ptr<{element}>> -> {one}",
        f"%{name}p = broadcast %{name}b : {one} -> {many}",
        f"%{name}s = offset %{name}p, %io : {many}, {indices} -> {many}",
    ]
