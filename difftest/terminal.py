"""Progress bars and the table on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from .about import sentence
from .judge.verdict import CLASSES, Verdict

MINIMUM_WIDTH = 150
"""Columns of the table where the output is no terminal."""
WIDE = 125
"""Columns from which on a terminal gets the whole table."""

_COLOURS = {"agrees": "green", "not-compared": "dim", "unsupported": "dim", "open": "magenta"}


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on the error stream while the block runs; call what it gives with done, total and a name."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<13}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("[dim]{task.fields[name]}"),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None, name="")

        def step(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, name=name)

        yield step


def show(verdicts: Sequence[Verdict], *, verbose: bool, quiet: bool, console: Console | None = None) -> None:
    """Print a line a case, the lanes that differ, and the summary."""
    console = console or Console(highlight=False)
    if not console.is_terminal and console.width < MINIMUM_WIDTH:
        console = Console(file=console.file, width=MINIMUM_WIDTH, highlight=False)
    cases: dict[str, list[Verdict]] = {}
    for v in verdicts:
        cases.setdefault(v.case, []).append(v)
    wide = console.width >= WIDE
    shown = {name: max(group, key=severity) for name, group in cases.items()}
    if quiet:
        shown = {name: v for name, v in shown.items() if v.result != "agrees"}
    if shown:
        console.print(_table(shown, cases, wide))
    for group in cases.values():
        for v in group:
            if v.failed or (verbose and (v.because or v.notes or v.differing)):
                _details(console, v)
    _summary(console, verdicts, cases)


def severity(v: Verdict) -> tuple[int, int, int, int]:
    """A key that puts the worst of a case's verdicts last."""
    order = {"agrees": 0, "unsupported": 1, "not-compared": 2, "open": 3}
    return order.get(v.result, 4), v.confirmed != "exact", v.outside, v.differing


def _table(shown: Mapping[str, Verdict], cases: Mapping[str, Sequence[Verdict]], wide: bool) -> Table:
    """A line for each case of ``shown``; a narrow terminal gets fewer columns."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2 if wide else 1, 0, 0))
    table.add_column("case", no_wrap=True, min_width=24)
    table.add_column("class", no_wrap=True, min_width=7)
    table.add_column("tier", no_wrap=True)
    if wide:
        table.add_column("confirmed", no_wrap=True)
    table.add_column("max ulp", justify="right", no_wrap=True, min_width=7)
    table.add_column("differing", justify="right", no_wrap=True, min_width=9)
    table.add_column("answer", no_wrap=True, min_width=9)
    if wide:
        table.add_column("ms", justify="right", no_wrap=True)
    for name, worst in shown.items():
        table.add_row(*_cells(name, worst, cases[name], wide))
    return table


def _cells(name: str, worst: Verdict, group: Sequence[Verdict], wide: bool) -> list[str]:
    colour = _COLOURS.get(worst.result, "bold red")
    if worst.result == "agrees" and worst.confirmed != "exact":
        colour = "yellow"
    differing = sum(v.differing for v in group)
    lanes = sum(v.lanes for v in group)
    # Levels that answered alike stand together, others apart.
    answers = dict.fromkeys(v.opt_levels for v in group if v.opt_levels)
    levels = " " + " | ".join(" ".join(f"O{n}" for n in a) for a in answers) if answers and wide else ""
    tier = f"{worst.tier} ({worst.bound})" if worst.tier == "tolerance" and wide else worst.bound
    return [
        escape(name),
        f"[{colour}]{worst.result}[/]",
        tier,
        *([worst.confirmed] if wide else []),
        "" if worst.max_ulp is None or not worst.differing else f"{worst.max_ulp:.4g}",
        f"{differing}/{lanes}" if differing else "",
        worst.source + (levels if worst.source != "none" else ""),
        *([f"{worst.seconds * 1000:.1f}"] if wide else []),
    ]


def _details(console: Console, v: Verdict) -> None:
    levels = f" O{' O'.join(map(str, v.opt_levels))}" if v.opt_levels else ""
    head = f"\n[bold]{escape(v.case)}[/] {escape(v.output)} {v.format}{levels} ({v.source}): {v.result}"
    if v.output:
        head += f", {v.differing} of {v.lanes} lanes differ, {v.outside} outside the bound ({v.bound})"
    console.print(head)
    if v.differences:
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 2))
        for name in ("index", "expected", "", "found", "", "ulp"):
            table.add_column(name, no_wrap=True)
        for d in v.differences:
            index = ", ".join(map(str, d.index))
            ulps = "" if d.ulps is None else f"{d.ulps:g}"
            table.add_row(escape(f"[{index}]"), d.expected_bits, d.expected, d.found_bits, d.found, ulps)
        console.print(table)
    for line in (*v.because, *v.notes):
        console.print(f"  [dim]{escape(line)}[/]")


def _summary(console: Console, verdicts: Sequence[Verdict], cases: dict[str, list[Verdict]]) -> None:
    worst = [max(group, key=severity) for group in cases.values()]
    counts = Counter(v.result for v in worst)
    exact = sum(v.confirmed == "exact" and v.result == "agrees" for v in worst)
    console.print()
    parts = [f"{len(cases)} cases"]
    for result in CLASSES:
        if counts[result]:
            extra = f" ({exact} in every bit)" if result == "agrees" else ""
            parts.append(f"{counts[result]} {result}{extra}")
    console.print(", ".join(parts))
    better = sum(any("better than predicted" in n for n in v.notes) for v in verdicts)
    if better:
        console.print(
            f"{better} outputs better than predicted: no source claims their bits, and every bit agrees"
        )
    split = [name for name, group in cases.items() if len({v.opt_levels for v in group if v.output}) > 1]
    if split:
        console.print(f"optimization levels answer differently in: {', '.join(split)}")
    console.print(sentence(verdicts))
