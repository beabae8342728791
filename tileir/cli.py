"""The command ``tileir``: bytecode to text and back, checks, and what a file holds.

Exit codes:
    0: done.
    1: the input is refused: it is not well-formed, breaks a rule, or needs another version.
    2: the command line is wrong.
    3: the assembler is not there, crashed or timed out.
    4: a file cannot be read or written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

import click

REFUSED, USAGE, ASSEMBLER, FILE = 1, 2, 3, 4

EPILOG = """Exit codes: 0 done; 1 the input is refused; 2 the command line is wrong; 3 the assembler is not
there, crashed or timed out; 4 a file cannot be read or written. Wherever a FILE is asked for, - is standard
input or output, and bytecode and text are told apart by their first bytes."""


def _fail(error: Exception) -> NoReturn:
    """One line on standard error, and the exit code."""
    from .errors import ArgumentError, AssemblerError, TileError

    code = REFUSED
    if isinstance(error, AssemblerError) and error.rule != "assembler-refused":
        code = ASSEMBLER
    elif isinstance(error, ArgumentError):
        code = USAGE
    elif isinstance(error, TileError) and error.rule == "file":
        code = FILE
    click.echo("tileir: " + " ".join(str(error).split("\n")), err=True)
    sys.exit(code)


def _reported(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a ``TileError`` into a line and an exit code."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> Any:
        from .errors import TileError

        try:
            return command(*args, **options)
        except TileError as error:
            _fail(error)

    return run


def _version(_: click.Context, __: click.Parameter, text: str | None) -> Any:
    from .version import SUPPORTED, Version

    if text is None:
        return None
    try:
        version = Version.parse(text)
    except ValueError:
        version = None
    if version not in SUPPORTED:
        raise click.BadParameter(f"{text} is not one of {', '.join(map(str, SUPPORTED))}")
    return version


FILE_ARGUMENT = click.argument("file", metavar="FILE")
OUTPUT = click.option("-o", "--output", metavar="FILE", required=True, help="Where to write.")


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """CUDA Tile IR: read it, write it, check it, look inside."""


@main.command()
@FILE_ARGUMENT
@click.option(
    "-o", "--output", metavar="FILE", default="-", help="Where to write; standard output if not given."
)
@click.option("-g", "--debug-info", is_flag=True, help="With source locations.")
@_reported
def dis(file: str, output: str, debug_info: bool) -> None:
    """Print FILE as text."""
    from .files import read_module, write_whole
    from .text import render

    text = render(read_module(file), locations=debug_info)
    write_whole(output, text.encode("utf-8", "surrogateescape"))


@main.command(name="as")
@FILE_ARGUMENT
@OUTPUT
@click.option("--version", callback=_version, help="The bytecode version, 13.1 to 13.5; 13.4 if not given.")
@click.option("--gpu", metavar="TARGET", help="Assemble for a target, such as sm_90, and write the cubin.")
@click.option(
    "--opt-level", type=click.IntRange(0, 3), help="The assembler's optimization level; needs --gpu."
)
@_reported
def as_(file: str, output: str, version: Any, gpu: str | None, opt_level: int | None) -> None:
    """Turn the text in FILE into bytecode, or with --gpu into a cubin."""
    from .bytecode import write
    from .files import read_module, write_whole

    if opt_level is not None and gpu is None:
        raise click.UsageError("--opt-level is the assembler's and needs --gpu")
    data = write(read_module(file), version)
    if gpu is not None:
        from .assembler import assemble

        data = assemble(data, gpu, opt_level).data
    write_whole(output, data)


@main.command()
@FILE_ARGUMENT
@OUTPUT
@click.option("--version", callback=_version, required=True, help="The bytecode version, 13.1 to 13.5.")
@_reported
def convert(file: str, output: str, version: Any) -> None:
    """Write FILE as bytecode of another version."""
    from .bytecode import write
    from .files import read_module, write_whole

    write_whole(output, write(read_module(file), version))


@main.command()
@FILE_ARGUMENT
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@_reported
def info(file: str, as_json: bool) -> None:
    """Say what FILE holds: entries and their parameters, operations, versions, size."""
    import json

    from .files import load
    from .info import describe, summary

    module, size = load(file)
    described = describe(module, size)
    click.echo(json.dumps(described, indent=2) if as_json else summary(described))


@main.command()
@FILE_ARGUMENT
@click.option("--gpu", metavar="TARGET", help="Check the rules of a target, such as sm_90, too.")
@click.option("--hints", is_flag=True, help="Warn of hints that no compiler heeds.")
@_reported
def verify(file: str, gpu: str | None, hints: bool) -> None:
    """Check FILE against the rules of the dialect; each that is broken is a line on standard error."""
    from .files import read_module
    from .verify import unheeded_hints
    from .verify import verify as check

    module = read_module(file)
    diagnostics = check(module, gpu)
    for diagnostic in diagnostics:
        click.echo(f"{module.source}: " + " ".join(str(diagnostic).split("\n")), err=True)
    for diagnostic in unheeded_hints(module) if hints else ():
        click.echo(f"{module.source}: warning: {diagnostic}", err=True)
    if diagnostics:
        sys.exit(REFUSED)


if __name__ == "__main__":
    main()
