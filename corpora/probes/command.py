"""The command ``python -m corpora.probes``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tileir.errors import TileError

from .check import FAILURES, Verdict, check
from .export import export
from .load import load
from .probe import Probe
from .report import as_json, show

AGREE, DIFFER, WRONG_ARGUMENTS = 0, 1, 2


@click.command()
@click.argument("patterns", nargs=-1)
@click.option("--model", metavar="NAME", help="Model that interprets.  [default: the GPU's]")
@click.option(
    "--gpu", default="sm_90", show_default=True, metavar="TARGET", help="Whose answers to compare with."
)
@click.option("--json", "as_document", is_flag=True, help="Print a JSON document in place of the table.")
@click.option(
    "--export",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Interpret nothing; write the probes as a corpus for `difftest run --corpus`.",
)
def main(
    patterns: tuple[str, ...], model: str | None, gpu: str, as_document: bool, folder: Path | None
) -> None:
    """Interpret the probes and compare with what the GPU answered, bit for bit.

    PATTERNS choose probes by family or name, such as mma or 'reduce/*_pairs'. Exits with 0 if everything that
    the model claims agrees, with 1 if something differs, and with 2 if an argument is wrong.
    """
    try:
        probes = load(patterns)
        if folder is not None:
            click.echo(f"{export(folder, probes, gpu)} probes in {folder}")
            return
        verdicts = _checked(probes, model or gpu, gpu)
    except TileError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(WRONG_ARGUMENTS)
    if as_document:
        click.echo(json.dumps(as_json(verdicts, model or gpu, gpu), indent=1))
    else:
        show(verdicts)
    sys.exit(DIFFER if any(v.outcome in FAILURES for v in verdicts) else AGREE)


def _checked(probes: Sequence[Probe], model: str, gpu: str) -> list[Verdict]:
    console = Console(stderr=True)
    columns = (
        TextColumn("interpreting"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("[dim]{task.description}"),
    )
    verdicts = []
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=len(probes))
        for probe in probes:
            bar.update(task, description=probe.name)
            verdicts.append(check(probe, model, gpu))
            bar.advance(task)
    return verdicts
