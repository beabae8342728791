"""The command ``difftest``. Each command imports what it needs, so that ``--help`` is quick."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .codes import Code

if TYPE_CHECKING:
    from collections import Counter

    from corpora import Case

    from .judge import Verdict

F = TypeVar("F", bound=Callable[..., Any])

EPILOG = """\b
Exit codes:
  0  everything that was compared agrees
  1  a difference was found, or the assembler or the GPU failed on a kernel
  2  an argument, a case or a folder is wrong
  3  something of the machine is missing: the assembler, the driver, the GPU
  4  nothing was compared: there is no GPU of the target and no recorded answer
"""


class _Group(click.Group):
    """A group whose commands answer a ``TileError`` with one line and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        from tileir.errors import AssemblerError, TileError

        try:
            return super().invoke(ctx)
        except TileError as error:
            click.echo(f"error: {error}", err=True)
            missing = isinstance(error, AssemblerError) or error.rule.startswith("gpu-")
            sys.exit(Code.ENVIRONMENT if missing else Code.USAGE)
        except BrokenPipeError:
            sys.exit(Code.AGREE)
        except OSError as error:
            click.echo(f"error: {error.filename or 'file'}: {error.strerror}", err=True)
            sys.exit(Code.USAGE)


@click.group(cls=_Group, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Find out whether a GPU agrees with the reference interpreter, bit for bit.

    CASES are names or shell patterns such as 'mma/*' or '*f16*'; all cases if there are none.
    """


def _options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


_folder = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
_cases = click.argument("cases", nargs=-1)
_building = _options(
    click.option("--gpu", required=True, metavar="TARGET", help="What to assemble for, such as sm_90."),
    click.option(
        "--corpus",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="A folder of cases with a manifest.json, in place of the cases that come with difftest.",
    ),
    click.option(
        "--opt-level",
        "opt_levels",
        type=click.IntRange(0, 3),
        multiple=True,
        help="Optimization level of the assembler; may be repeated.  [default: 3 and 0]",
    ),
    click.option("--assembler", metavar="PATH", help="The tileiras to use, if not the one that is found."),
    click.option(
        "--jobs", type=click.IntRange(1), help="Kernels assembled at a time.  [default: processors]"
    ),
    click.option("--assembler-timeout", default=120.0, show_default=True, help="Seconds a kernel may take."),
)
_launching = _options(
    click.option("--timeout", default=30.0, show_default=True, help="Seconds a launched case may take."),
    click.option(
        "--times", type=click.IntRange(1), default=3, show_default=True, help="Launches of each case."
    ),
    click.option("--device", default=0, show_default=True, help="Which GPU of the machine."),
    click.option("--driver", default="cuda.bindings.driver", hidden=True),
)
_reporting = _options(
    click.option("--model", metavar="NAME", help="Model that says what to expect.  [default: the target's]"),
    click.option(
        "--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all results."
    ),
    click.option("--csv", "csv_path", type=click.Path(dir_okay=False, path_type=Path), help="Write a table."),
    click.option(
        "--html", "html_path", type=click.Path(dir_okay=False, path_type=Path), help="Write a page."
    ),
    click.option(
        "--junit", "junit_path", type=click.Path(dir_okay=False, path_type=Path), help="Write JUnit XML."
    ),
    click.option("--github", is_flag=True, help="Print GitHub annotations of what failed."),
    click.option("-v", "--verbose", is_flag=True, help="Say more: reasons and notes of each case."),
    click.option("-q", "--quiet", is_flag=True, help="Print only what does not agree, and the summary."),
)
_retry = click.option("--retry", is_flag=True, help="Do again what failed earlier.")


@main.command()
@_cases
@_building
@_retry
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), required=True, help="The folder."
)
def build(cases: tuple[str, ...], output: Path, **options: Any) -> None:
    """Assemble CASES into a folder. Needs the assembler and no GPU.

    A folder that was begun is gone on with: what is assembled already is not assembled again.
    """
    counts = _build(output, _load(cases, options["corpus"]), options)
    click.echo(_counted(counts, "assembled"))
    sys.exit(Code.AGREE if set(counts) <= {"ok", "unsupported"} else Code.DIFFER)


@main.command()
@_folder
@_launching
@_retry
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Also write archives to send back."
)
def launch(folder: Path, out: Path | None, **options: Any) -> None:
    """Launch what FOLDER holds. Needs a GPU and no assembler.

    The same as 'python -m difftest.launch FOLDER', which needs fewer packages.
    """
    from .launch.pack import pack

    counts = _launch(folder, options)
    if out is not None:
        for path in pack(folder, out):
            click.echo(str(path))
    click.echo(_counted(counts, "launched"))
    sys.exit(Code.AGREE if set(counts) <= {"ok"} else Code.DIFFER)


@main.command()
@_folder
@click.argument("archives", type=click.Path(exists=True, path_type=Path))
def collect(folder: Path, archives: Path) -> None:
    """Take launches into FOLDER that another machine wrote to ARCHIVES ('launch --out')."""
    from .launch.pack import unpack
    from .plan import load

    load(folder)
    click.echo(f"{unpack(archives, folder)} launches")


@main.command()
@_folder
@_cases
@_reporting
def judge(folder: Path, cases: tuple[str, ...], **options: Any) -> None:
    """Compare the launches in FOLDER with the interpreter. Needs neither assembler nor GPU.

    Where a case was not launched, an answer recorded in the corpus stands in, and the report says so.
    """
    sys.exit(_judge(folder, cases, options))


@main.command()
@_cases
@_building
@_launching
@_reporting
@_retry
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder.  [default: runs/TARGET]",
)
def run(cases: tuple[str, ...], output: Path | None, **options: Any) -> None:
    """Build, launch and judge CASES in one go.

    Without a GPU of the target, recorded answers stand in for launches, and every line says so. Without
    those either, everything is assembled and interpreted, nothing is compared, and the exit code is 4.
    """
    from .launch.stage import EnvironmentMissing

    corpus: Path | None = options["corpus"]
    folder = output or Path("runs") / (options["gpu"] + (f"-{corpus.resolve().name}" if corpus else ""))
    _build(folder, _load(cases, corpus), options)
    try:
        _launch(folder, options)
    except EnvironmentMissing as error:
        click.echo(f"not launched: {error.message}", err=True)
    sys.exit(_judge(folder, (), options))


@main.command()
@_folder
def record(folder: Path) -> None:
    """Keep what the launches in FOLDER answered in the corpus, as records with where they come from."""
    from .record import record_folder

    click.echo(_counted(record_folder(folder, click.echo), "recorded"))


@main.command()
@click.option("--driver", default="cuda.bindings.driver", hidden=True)
@click.option("--assembler", metavar="PATH", help="The tileiras to look at, if not the one that is found.")
def doctor(driver: str, assembler: str | None) -> None:
    """Say what this machine has: assembler, targets, driver, GPU, processor."""
    from .doctor import examine

    findings = examine(driver, assembler)
    width = max(len(f.what) for f in findings)
    for finding in findings:
        mark = click.style("ok  ", fg="green") if finding.good else click.style("none", fg="yellow")
        click.echo(f"{mark}  {finding.what:<{width}}  {finding.found}")
    sys.exit(Code.AGREE if all(f.good for f in findings if f.needed) else Code.ENVIRONMENT)


@main.command(name="cases")
@_cases
@click.option(
    "--corpus", type=click.Path(exists=True, file_okay=False, path_type=Path), help="A folder of cases."
)
def list_cases(cases: tuple[str, ...], corpus: Path | None) -> None:
    """List cases, with their grid and buffers."""
    from corpora import Buffer

    for case in _load(cases, corpus):
        buffers = [p for p in case.parameters if isinstance(p, Buffer)]
        shapes = ", ".join(f"{'→ ' if b.output else ''}{b.format}{list(b.shape)}" for b in buffers)
        click.echo(f"{case.name}  grid {'x'.join(map(str, case.grid))}  {shapes}")


def _load(patterns: tuple[str, ...], corpus: Path | None) -> list[Case]:
    import corpora
    from corpora.manifest import choose

    return corpora.load(patterns) if corpus is None else choose(corpora.foreign(corpus), patterns)


def _build(folder: Path, cases: list[Case], options: dict[str, Any]) -> Counter[str]:
    from .build import OPT_LEVELS, Options, build_folder
    from .terminal import progress

    chosen = Options(
        opt_levels=tuple(dict.fromkeys(options["opt_levels"])) or OPT_LEVELS,
        timeout=options["assembler_timeout"],
        jobs=options["jobs"],
        retry=options["retry"],
        assembler=options["assembler"],
    )
    corpus = options["corpus"]
    with progress("assembling") as step:
        return build_folder(
            folder,
            cases,
            options["gpu"],
            chosen,
            lambda done, total, name, _: step(done, total, name),
            None if corpus is None else corpus.resolve(),
        )


def _launch(folder: Path, options: dict[str, Any]) -> Counter[str]:
    from .launch.stage import Options, launch_folder
    from .terminal import progress

    chosen = Options(
        options["timeout"], options["times"], options["device"], options["driver"], options["retry"]
    )
    with progress("launching") as step:
        return launch_folder(folder, chosen, lambda done, total, name, _: step(done, total, name))


def _judge(folder: Path, patterns: tuple[str, ...], options: dict[str, Any]) -> Code:
    from .judge import judge_folder
    from .terminal import progress, show

    with progress("interpreting") as step:
        verdicts = judge_folder(
            folder, options["model"], patterns, lambda done, total, name, _: step(done, total, name)
        )
    show(verdicts, verbose=options["verbose"], quiet=options["quiet"])
    _write(verdicts, options)
    return outcome(verdicts)


def outcome(verdicts: list[Verdict]) -> Code:
    """The exit code of a run with these verdicts."""
    if any(v.failed for v in verdicts):
        return Code.DIFFER
    return Code.AGREE if any(v.source != "none" for v in verdicts) else Code.NOTHING_COMPARED


def _write(verdicts: list[Verdict], options: dict[str, Any]) -> None:
    if not (
        options["github"] or any(options[k] for k in ("json_path", "csv_path", "html_path", "junit_path"))
    ):
        return
    from dataclasses import asdict

    from reports import ci
    from reports.frame import frame, to_csv, to_json
    from reports.page import page

    from .about import about
    from .judge.verdict import CLASSES, FAILURES

    results = frame(asdict(v) for v in verdicts)
    facts = about(verdicts)
    for key in ("json_path", "csv_path", "html_path", "junit_path"):
        if options[key] is not None:
            options[key].parent.mkdir(parents=True, exist_ok=True)
    if options["json_path"] is not None:
        to_json(results, {**facts, "facts": dict(facts["facts"])}, options["json_path"])
    if options["csv_path"] is not None:
        to_csv(results, options["csv_path"])
    if options["html_path"] is not None:
        options["html_path"].write_text(page(results, facts, CLASSES), encoding="utf-8")
    if options["junit_path"] is not None:
        ci.to_junit(results, FAILURES, options["junit_path"])
    if options["github"]:
        for line in ci.github(results, FAILURES):
            click.echo(line)


def _counted(counts: Counter[str], verb: str) -> str:
    return f"{verb}: " + (", ".join(f"{n} {what}" for what, n in sorted(counts.items())) or "nothing")


if __name__ == "__main__":
    main()
