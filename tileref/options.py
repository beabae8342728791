"""Options that several commands of ``tileref`` have."""

from __future__ import annotations

import click

STEPS = 10**8
"""What ``tileref.launch`` takes for its ``step_budget``."""


def _grid(_: click.Context, __: click.Parameter, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(extent) for extent in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text} is not X, X,Y or X,Y,Z") from None


grid_option = click.option(
    "--grid", metavar="X[,Y[,Z]]", required=True, callback=_grid, help="Blocks along each axis."
)
steps_option = click.option(
    "--steps",
    type=click.IntRange(1),
    default=STEPS,
    show_default=True,
    help="Turns of loops, over all blocks, after which a launch is taken to be endless.",
)
