"""What probes of one element-by-element operation share."""

from __future__ import annotations

from collections.abc import Sequence

from ...case import Contents
from ..probe import Probe, answer, given, probe
from ..text import View, kernel, tile

TILE = 1024
"""Lanes of a block."""


def lanes_of(element: str) -> str:
    """The type of a block's tile of ``element``."""
    return tile((TILE,), element)


def elementwise(
    name: str,
    lines: Sequence[str],
    inputs: Sequence[tuple[str, Contents]],
    result: str,
    lanes: int,
) -> Probe:
    """A probe that computes %r of format ``result`` from %x0, %x1, ... by ``lines``, a tile a block.

    Args:
        name: the probe's.
        lines: of the kernel, between loads and store.
        inputs: format and contents of each input.
        result: format of the output.
        lanes: elements of each buffer, a multiple of ``TILE``.
    """
    index = ["%bx"]
    body = []
    buffers = []
    for i, (element, contents) in enumerate(inputs):
        view = View(f"i{i}", element, (lanes,), (TILE,))
        body += [*view.made(), view.load(index, f"x{i}")]
        buffers.append(given(view.name, element, view.shape, contents))
    out = View("o", result, (lanes,), (TILE,))
    body += [*out.made(), *lines, out.store(index, "r")]
    buffers.append(answer("o", result, out.shape))
    return probe(name, kernel([(b.name, b.format) for b in buffers], body), lanes // TILE, buffers)


def operation(
    name: str,
    mnemonic: str,
    element: str,
    inputs: Sequence[Contents],
    lanes: int,
    attribute: str = "",
) -> Probe:
    """A probe of one operation whose operands and result have the format ``element``."""
    operands = ", ".join(f"%x{i}" for i in range(len(inputs)))
    line = f"%r = {mnemonic} {operands} {attribute and attribute + ' '}: {lanes_of(element)}"
    return elementwise(name, [line], [(element, c) for c in inputs], element, lanes)
