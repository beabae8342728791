"""The options of ``tileref run`` that look inside a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tileir.errors import ArgumentError

from .words import LINTS

if TYPE_CHECKING:
    from .probe import Probe

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = (
    click.option(
        "--trace",
        metavar="[=SELECTION]",
        multiple=True,
        help="Print values when they are computed: all, or those of a selection (see below; after =).",
    ),
    click.option(
        "--trace-to", metavar="FILE", help="Where --trace and --watch write, if not to standard output."
    ),
    click.option(
        "--watch",
        metavar="SELECTION",
        multiple=True,
        help="Print what a value is whenever it is computed, and what changed; repeat it.",
    ),
    click.option(
        "--break",
        "breakpoint",
        metavar="SELECTION",
        multiple=True,
        help="Stop there in Python's debugger; repeat it.",
    ),
    click.option(
        "--probe",
        metavar="SELECTION=FILE",
        multiple=True,
        help="Write a value to FILE.npz, FILE.npy, or every value to FOLDER/; repeat it.",
    ),
    click.option(
        "--lint", type=click.Choice(LINTS), multiple=True, help="Report what is defined, and hardly meant."
    ),
    click.option(
        "--blocks",
        metavar="BLOCKS",
        multiple=True,
        help="Run these blocks alone: 0-7, 3,0,0, or sample=100,seed=1; repeat it.",
    ),
    click.option("--estimate", is_flag=True, help="Say how long it would take, from a few blocks, and stop."),
)


def looking_options(command: F) -> F:
    """Add the options to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


class BareTrace(click.Command):
    """A command whose ``--trace`` may stand alone; a selection follows it after ``=``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Spell a ``--trace`` that stands alone as one of everything."""
        end = args.index("--") if "--" in args else len(args)
        spelled = ["--trace=" if a == "--trace" else a for a in args[:end]]
        return super().parse_args(ctx, spelled + args[end:])


def looking(
    *,
    as_json: bool,
    trace: tuple[str, ...],
    trace_to: str | None,
    watch: tuple[str, ...],
    breakpoint: tuple[str, ...],
    probe: tuple[str, ...],
    lint: tuple[str, ...],
    blocks: tuple[str, ...],
) -> dict[str, Any]:
    """What the options ask ``launch`` for."""
    from .lines import Lines
    from .stops import Breakpoint
    from .trace import Trace
    from .watch import Watch

    if trace_to is not None and not (trace or watch):
        raise ArgumentError("nothing writes to the file", rule="trace-to", expected="--trace or --watch")
    lines = Lines(trace_to, as_json=as_json)
    return {
        "trace": [Trace(each, to=lines) for each in trace],
        "watch": [Watch(each, to=lines) for each in watch],
        "breakpoint": [Breakpoint(each) for each in breakpoint],
        "probe": [_probe(each) for each in probe],
        "lint": lint,
        "blocks": " ".join(blocks) if blocks else None,
    }


def _probe(text: str) -> Probe:
    selection, equals, path = text.rpartition("=")
    if not equals or not selection.strip() or not path:
        raise ArgumentError(
            "a probe is a selection and a file", rule="probe", found=text, expected="such as %17=value.npz"
        )
    from .probe import Probe

    return Probe(selection, path)
