"""The command ``tileref``: run a kernel on the CPU as a GPU would.

Exit codes:
    0: done, and nothing undefined happened.
    1: done, but something undefined happened or an assertion failed; under ``--check strict``, stopped there.
    2: the command line or an argument of the kernel is wrong.
    3: the kernel is not well-formed, or holds what cannot be run.
    4: a file cannot be read or written.
"""

from __future__ import annotations

import sys
from bdb import BdbQuit
from collections.abc import Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import click

from .compare_command import compare
from .inspection.options import BareTrace, looking, looking_options
from .inspection.words import WORDS
from .options import grid_option, steps_option

if TYPE_CHECKING:
    from tileir.module import Module

    from .result import LaunchResult


class Code(IntEnum):
    """How the command ends."""

    DONE = 0
    UNDEFINED = 1
    USAGE = 2
    REFUSED = 3
    FILE = 4


EPILOG = """\b
Exit codes:
  0  done, and nothing undefined happened
  1  something undefined happened, or an assertion failed
  2  the command line or an argument of the kernel is wrong
  3  the kernel is not well-formed, or holds what cannot be run
  4  a file cannot be read or written
"""

ARGUMENTS = """\b
An argument (--arg, one for each parameter of the entry, in order) is
  x.npy                     the array in a file
  x.npy:bf16                its bits, read as another format
  5, 1.5, i32:5, f32:1.5    a number
  zeros:f32:1024x1024       an array of zeros
  iota:i32:64               0, 1, 2, ...
  fill:bf16:128:1.5         the same number everywhere
  random:f32:4096:seed=1    floats around 0, integers over their whole range
  random:i32:64:low=0:high=9
"""


class _Group(click.Group):
    """A group whose commands answer a ``TileError`` with one line and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        from tileir.errors import TileError

        try:
            return super().invoke(ctx)
        except TileError as error:
            click.echo("tileref: " + " ".join(str(error).split("\n")), err=True)
            sys.exit(_code(error))
        except BdbQuit:
            raise click.Abort from None
        except MemoryError as error:
            click.echo(f"tileref: there is not enough memory {error}".rstrip(), err=True)
            sys.exit(Code.REFUSED)
        except BrokenPipeError:
            sys.exit(Code.DONE)


def _code(error: Exception) -> Code:
    from tileir.errors import ArgumentError, TileError

    from .run import UndefinedBehaviour

    if isinstance(error, UndefinedBehaviour):
        return Code.UNDEFINED
    if isinstance(error, ArgumentError):
        return Code.USAGE
    if isinstance(error, TileError) and error.rule in ("file", "file-kind"):
        return Code.FILE
    return Code.REFUSED


@click.group(cls=_Group, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Run CUDA Tile IR kernels on the CPU, bit for bit as a GPU or the specification would."""


def _outputs(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> list[tuple[int, str]]:
    found = []
    for text in texts:
        position, equals, path = text.partition("=")
        if not equals or not position.isdecimal() or not path:
            raise click.BadParameter(f"{text} is not N=FILE, such as 2=result.npy")
        found.append((int(position), path))
    return found


main.add_command(compare)


@main.command(cls=BareTrace, epilog=ARGUMENTS + "\n" + WORDS)
@click.argument("file", metavar="FILE")
@grid_option
@click.option("--arg", "arguments", metavar="ARGUMENT", multiple=True, help="See below; repeat it.")
@click.option(
    "--out",
    "outputs",
    metavar="N=FILE.npy",
    multiple=True,
    callback=_outputs,
    help="Write argument number N, counted from 0, when the kernel has run; repeat it.",
)
@click.option("--entry", metavar="NAME", help="Which entry, if the module has several.")
@click.option("--model", default="spec", show_default=True, help="Whose bits; see `tileref models`.")
@click.option("--threads", type=click.IntRange(1), help="How many; one a processor if not given.")
@steps_option
@click.option(
    "--check",
    type=click.Choice(["on", "off", "strict"]),
    default="on",
    show_default=True,
    help="Report what is undefined, do not, or stop at the first.",
)
@click.option("--profile", is_flag=True, help="Say what each operation cost, in processor time.")
@looking_options
@click.option("--json", "as_json", is_flag=True, help="Say what happened as JSON; traces as a line each.")
def run(
    file: str,
    grid: tuple[int, ...],
    arguments: tuple[str, ...],
    outputs: list[tuple[int, str]],
    entry: str | None,
    model: str,
    threads: int | None,
    steps: int,
    check: Any,
    profile: bool,
    as_json: bool,
    estimate: bool,
    **looks: Any,
) -> None:
    """Run the kernel in FILE (bytecode or text; - is standard input) on a grid of blocks."""
    import numpy as np

    from tileir.errors import ArgumentError
    from tileir.files import read_module

    from .buffers import argument, save
    from .inspection.display import Display
    from .launching import launch

    module = read_module(file)
    values = [argument(text) for text in arguments]
    for position, _ in outputs:
        if position >= len(values) or not isinstance(values[position], np.ndarray):
            raise ArgumentError(
                "only an array that is an argument can be written out",
                rule="output",
                found=position,
                expected=[i for i, v in enumerate(values) if isinstance(v, np.ndarray)],
            )
    options = {"model": model, "entry": entry, "threads": threads, "check": check, "step_budget": steps}
    if estimate:
        unheeded = [f"--{name.replace('_', '-')}" for name, value in looks.items() if value]
        unheeded += ["--out"] if outputs else []
        if unheeded:
            raise ArgumentError(
                "an estimate looks at nothing and writes nothing",
                rule="estimate",
                found=", ".join(unheeded).replace("--breakpoint", "--break"),
                expected="--estimate without it",
            )
        _estimate(module, grid, values, options, as_json=as_json)
        return
    asked = looking(as_json=as_json, **looks)
    # Behind a trace on the same stream, one line more.
    traced = looks["trace_to"] is None and bool(looks["trace"] or looks["watch"])
    with Display(shown=not traced and not looks["breakpoint"]) as display:
        result = launch(module, grid, values, progress=display, profile=profile, **options, **asked)
    for position, path in outputs:
        save(path, values[position])
    if as_json:
        click.echo(_as_json(result, one_line=traced))
    else:
        _report(result)
        for probe in asked["probe"]:
            for path in probe.written:
                click.echo(f"wrote {path}", err=True)
    if result.undefined or result.assertions:
        sys.exit(Code.UNDEFINED)


def _report(result: LaunchResult) -> None:
    """What happened, for people: prints on standard output, the rest on standard error."""
    for text in result.prints:
        click.echo(text, nl=False)
    for event in (*result.undefined, *result.assertions):
        click.echo(str(event), err=True)
    for position, mask in result.undefined_elements.items():
        click.echo(f"argument {position}: {int(mask.sum())} elements have no defined value", err=True)
    for text in result.unchecked:
        click.echo(text, err=True)
    for each in result.unexplained:
        click.echo(f"bits of {each.operation} are not claimed for {result.model}: {each.reason}", err=True)
    for lint in result.lints:
        click.echo(str(lint), err=True)
    if result.profile:
        from .inspection.profiling import table

        click.echo(table(result.profile), err=True)
    grid = "x".join(map(str, result.grid))
    some = ""
    if result.blocks is not None:
        some = f"{len(result.blocks)} ({_listed(result.blocks.tolist())}) of "
    click.echo(f"{result.entry} on {some}{grid} blocks as {result.model}: {result.seconds:.3f} s", err=True)


LISTED = 8
"""Numbers of blocks that are spelled out."""


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:LISTED])) + (", ..." if len(numbers) > LISTED else "")


def _estimate(
    module: Module, grid: tuple[int, ...], values: list[Any], options: dict[str, Any], *, as_json: bool
) -> None:
    """How long the launch would take; the arguments stay as they are."""
    import json
    from dataclasses import asdict

    from .inspection.estimating import estimate

    found = estimate(module, grid, values, **options)
    click.echo(json.dumps(asdict(found)) if as_json else str(found))


def _as_json(result: LaunchResult, *, one_line: bool) -> str:
    import json
    from dataclasses import asdict

    return json.dumps(
        {
            "entry": result.entry,
            "grid": list(result.grid),
            "model": result.model,
            "seconds": result.seconds,
            "prints": result.prints,
            "printed": [asdict(each) for each in result.printed],
            "undefined": [asdict(event) for event in result.undefined],
            "unchecked": result.unchecked,
            "undefined_elements": {str(i): int(mask.sum()) for i, mask in result.undefined_elements.items()},
            "assertions": [asdict(assertion) for assertion in result.assertions],
            "lints": [asdict(lint) for lint in result.lints],
            "profile": [asdict(cost) for cost in result.profile],
            "blocks": None if result.blocks is None else result.blocks.tolist(),
            "unexplained": [asdict(each) for each in result.unexplained],
        },
        indent=None if one_line else 1,
    )


@main.command()
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def models(as_json: bool) -> None:
    """List the models: who decides what the dialect leaves open."""
    import json

    from .targets import MODELS

    found = {name: model.summary for name, model in MODELS.items()}
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    width = max(map(len, found))
    for name, summary in found.items():
        click.echo(f"{name:{width}}  {summary}")


if __name__ == "__main__":
    main()
