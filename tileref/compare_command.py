"""The command ``tileref compare``: at which operations two models part."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from .options import grid_option, steps_option

if TYPE_CHECKING:
    from .inspection.comparing import Comparison

EPILOG = """\b
A line is a value that differs, in the order in which they first did: where, and
whether the difference arises there or is passed on. Of an operation where one
arises, the next two lines are what each model says about it.

\b
Exit codes:
  0  the models agree in every bit
  1  they do not
  2  the command line or an argument of the kernel is wrong
  3  the kernel is not well-formed, or holds what cannot be run
  4  a file cannot be read or written

\b
The kernel's arguments (--arg) are those of `tileref run`, and so are the words
of a selection: operations, %values, source lines, blocks and iterations.
"""
DIFFERENT = 1
"""The exit code if something differs."""


def _models(_: click.Context, __: click.Parameter, text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if len(names) != 2 or not all(names):
        raise click.BadParameter(f"{text} is not two models, such as spec,sm_90")
    return names


@click.command(epilog=EPILOG)
@click.argument("file", metavar="FILE")
@grid_option
@click.option("--arg", "arguments", metavar="ARGUMENT", multiple=True, help="As of `tileref run`; repeat it.")
@click.option("--entry", metavar="NAME", help="Which entry, if the module has several.")
@click.option(
    "--models",
    metavar="MODEL,MODEL",
    default="spec,sm_90",
    show_default=True,
    callback=_models,
    help="Which two; see `tileref models`.",
)
@click.option(
    "--at", "selection", metavar="SELECTION", default="", help="What to compare; everything if not given."
)
@click.option("--blocks", metavar="BLOCKS", multiple=True, help="Run these blocks alone; repeat it.")
@click.option("--origins", is_flag=True, help="Only operations where a difference arises.")
@steps_option
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def compare(
    file: str,
    grid: tuple[int, ...],
    arguments: tuple[str, ...],
    entry: str | None,
    models: tuple[str, ...],
    selection: str,
    blocks: tuple[str, ...],
    origins: bool,
    steps: int,
    as_json: bool,
) -> None:
    """Run the kernel in FILE under two models, and say at which operations their values part."""
    from tileir.files import read_module

    from .buffers import argument
    from .inspection.comparing import compare

    found = compare(
        read_module(file),
        grid,
        [argument(text) for text in arguments],
        models=models,
        selection=selection,
        entry=entry,
        blocks=" ".join(blocks) if blocks else None,
        step_budget=steps,
    )
    click.echo(_as_json(found, origins=origins) if as_json else _text(found, origins=origins))
    if not as_json:
        for model, result in zip(found.models, found.results, strict=True):
            for event in result.undefined:
                click.echo(f"{model}: {event}", err=True)
            for each in result.unexplained:
                click.echo(f"bits of {each.operation} are not claimed for {model}: {each.reason}", err=True)
    if not found.same:
        sys.exit(DIFFERENT)


def _text(found: Comparison, *, origins: bool) -> str:
    lines = []
    for part in found.origins if origins else found.parts:
        lines.append(str(part))
        if part.reasons is not None:
            lines += [f"    {m}: {r}" for m, r in zip(found.models, part.reasons, strict=True)]
    return "\n".join([*lines, *found.ends()])


def _as_json(found: Comparison, *, origins: bool) -> str:
    from .inspection.summary import plain

    def listed(part: Any) -> Any:
        about = asdict(part)
        about["ulps"] = plain(part.ulps)
        about["first"]["ulps"] = plain(part.first.ulps)
        return about

    return json.dumps(
        {
            "models": list(found.models),
            "entry": found.entry,
            "grid": list(found.grid),
            "same": found.same,
            "parts": [listed(part) for part in (found.origins if origins else found.parts)],
            "arguments": [
                {
                    "argument": position,
                    "elements": int(each.lanes.sum()),
                    "of": each.lanes.size,
                    "first": list(each.index),
                    "values": list(each.values),
                    "bits": list(each.bits),
                    "ulps": plain(each.ulps),
                }
                for position, each in found.arguments.items()
            ],
            "apart": found.apart,
            "undefined": [[asdict(event) for event in result.undefined] for result in found.results],
            "unexplained": [[asdict(each) for each in result.unexplained] for result in found.results],
        },
        indent=1,
        allow_nan=False,
    )
