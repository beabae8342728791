"""A picture of agreement: one square for each operation and format, coloured by the worst that was seen."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd

CELL, GAP, LEFT, TOP, RIGHT = 24, 3, 78, 62, 50

LEVELS = ("exact", "tolerance", "open", "differs", "none")
"""Every bit agrees; within a bound; differs where no bound is known; outside; nothing to compare."""

FORMATS = (
    *("f64", "f32", "tf32", "bf16", "f16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN"),
    *("i64", "i32", "i16", "i8", "i1"),
)
"""Rows of the picture, wide to narrow."""


def cells(results: pd.DataFrame) -> dict[tuple[str, str], tuple[str, int]]:
    """For each (operation, format) the worst level among the cases it occurs in, and how many those are.

    An operation that occurs in a case that differs need not be the one at fault: the picture shows where to
    look, not who it was.
    """
    found: dict[tuple[str, str], tuple[str, set[str]]] = {}
    severity = {level: i for i, level in enumerate(("none", "exact", "tolerance", "open", "differs"))}
    for case, result, confirmed, operations in zip(
        results["case"], results["result"], results["confirmed"], results["operations"], strict=True
    ):
        level = level_of(result, confirmed)
        for text in operations:
            name, _, formats = text.partition(" ")
            for format_name in filter(None, formats.split("→")):
                old, cases = found.get((name, format_name), ("none", set()))
                worse = level if severity[level] > severity[old] else old
                found[name, format_name] = (worse, cases | {case})
    return {key: (level, len(cases)) for key, (level, cases) in found.items()}


def level_of(result: str, confirmed: str) -> str:
    """The level of a verdict."""
    if result == "agrees":
        return confirmed
    if result in ("not-compared", "unsupported"):
        return "none"
    return "open" if result == "open" else "differs"


def svg(results: pd.DataFrame) -> str:
    """The picture as SVG elements, one for floats and one for the rest, side by side where there is room.

    Its colours are classes ``level-...`` that the page's style defines.
    """
    squares = cells(results)
    operations = _columns([name for name, _ in squares])
    floats = {name for name, format_name in squares if not format_name.startswith("i")}
    panels = [[n for n in operations if n in floats], [n for n in operations if n not in floats]]
    return "".join(_panel(squares, panel) for panel in panels if panel)


def _panel(squares: dict[tuple[str, str], tuple[str, int]], operations: list[str]) -> str:
    """One drawing: a column for each operation, a row for each format that any of them has."""
    formats = [f for f in FORMATS if any((name, f) in squares for name in operations)]
    width = LEFT + len(operations) * (CELL + GAP) + RIGHT
    height = TOP + len(formats) * (CELL + GAP) + 8
    parts = [
        f'<svg class="picture" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        'aria-label="agreement by operation and format">'
    ]
    for row, format_name in enumerate(formats):
        y = TOP + row * (CELL + GAP)
        parts.append(
            f'<text class="axis" x="{LEFT - 8}" y="{y + CELL / 2 + 4}" text-anchor="end">'
            f"{escape(format_name)}</text>"
        )
    for column, name in enumerate(operations):
        x = LEFT + column * (CELL + GAP)
        parts.append(
            f'<text class="axis" transform="translate({x + CELL / 2 + 2},{TOP - 8}) rotate(-55)">'
            f"{escape(name)}</text>"
        )
        for row, format_name in enumerate(formats):
            y = TOP + row * (CELL + GAP)
            if (name, format_name) not in squares:
                parts.append(f'<rect class="empty" x="{x}" y="{y}" width="{CELL}" height="{CELL}" rx="4"/>')
                continue
            level, count = squares[name, format_name]
            title = f"{name} {format_name}: {level}, {count} case{'s' if count != 1 else ''}"
            parts.append(
                f'<g class="cell" data-operation="{escape(name)} {escape(format_name)}">'
                f"<title>{escape(title)}</title>"
                f'<rect class="level-{level}" x="{x}" y="{y}" width="{CELL}" height="{CELL}" rx="4"/>'
                f'<text class="count" x="{x + CELL / 2}" y="{y + CELL / 2 + 4}" text-anchor="middle">'
                f"{count}</text></g>"
            )
    parts.append("</svg>")
    return "".join(parts)


GROUPS: Sequence[Sequence[str]] = (
    ("addf", "subf", "mulf", "divf", "fma", "remf", "sqrt", "rsqrt", "negf", "absf", "floor", "ceil"),
    ("maxf", "minf", "cmpf", "select"),
    (
        "exp",
        "exp2",
        "log",
        "log2",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "pow",
        "fpowf",
        "fpowi",
        "atan2",
    ),
    ("reduce", "scan", "mmaf", "mmaf_scaled", "mmai"),
    ("ftof", "ftoi", "itof", "exti", "trunci", "bitcast"),
    ("addi", "subi", "muli", "divi", "remi", "mini", "maxi", "negi", "absi", "cmpi", "mulhii"),
    ("andi", "ori", "xori", "shli", "shri"),
)
"""Columns of the picture: arithmetic, math, folds and products, conversions, integers; the rest follows."""


def _columns(names: list[str]) -> list[str]:
    known = [name for group in GROUPS for name in group]
    there = set(names)
    return [n for n in known if n in there] + sorted(there - set(known))
