"""What a folder is about: its target, its cases, and the kernels assembled for them.

These are the records that the stages hand to each other. Only the standard library is used here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from .store import FolderError, Store, identify, read_json, write_whole

PLAN = "plan.json"
VERSION = 1
CASES, BUILDS, LAUNCHES = "cases", "builds", "launches"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter of a launch: a buffer (``blob`` holds its bytes) or a number (``bits``)."""

    format: str
    name: str = ""
    shape: tuple[int, ...] = ()
    blob: str | None = None
    output: bool = False
    bits: int = 0

    @property
    def is_buffer(self) -> bool:
        """Whether this is memory and not a number."""
        return self.blob is not None


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A case as the folder keeps it: everything that a launch needs but the cubin."""

    name: str
    kernel: str
    entry: str
    grid: tuple[int, ...]
    arguments: tuple[Argument, ...]
    kernel_sha256: str
    inputs_sha256: str

    @property
    def identity(self) -> str:
        """Names the case by content; its name is no part of that."""
        return identify(self.kernel, self.entry, self.grid, [asdict(a) for a in self.arguments])


@dataclass(frozen=True, slots=True)
class Build:
    """What the assembler did with a kernel.

    ``result``: ok, refused, unsupported (the target lacks what the kernel uses), crashed, timeout.
    """

    kernel: str
    gpu: str
    opt_level: int
    assembler: str
    result: str
    seconds: float
    cubin: str | None = None
    message: str = ""
    signal: str | None = None


@dataclass(frozen=True, slots=True)
class Launched:
    """What a GPU did with a case.

    ``result``: ok, load (the cubin was not accepted), fault (an error of the driver), crashed (the worker
    died), timeout, guard (the kernel wrote outside its buffers), nondeterministic. ``outputs`` maps the
    position of each buffer whose bytes changed, and of every output, to the blob it held afterwards.
    """

    case: str
    cubin: str
    result: str
    seconds: float
    gpu: str = ""
    device: str = ""
    driver: str = ""
    compute_capability: str = ""
    date: str = ""
    launches: int = 0
    message: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """The folder's table of contents: what to compare, where, and at which optimization levels."""

    gpu: str
    opt_levels: tuple[int, ...]
    assembler: str
    cases: dict[str, str]
    """Name to identity, in the order of the report."""
    corpus: str | None = None
    """Folder of a corpus that is not the package's own."""


def save(folder: Path, plan: Plan) -> None:
    """Write the plan."""
    text = json.dumps({"version": VERSION, **asdict(plan)}, indent=1) + "\n"
    write_whole(folder / PLAN, text.encode())


def load(folder: Path) -> Plan:
    """Read the plan of a folder.

    Raises:
        FolderError: there is none, or it is damaged.
    """
    if not (folder / PLAN).is_file():
        raise FolderError(
            "this is no folder that 'difftest build' made",
            rule="folder-plan",
            file=str(folder),
            expected=PLAN,
        )
    document = read_json(folder / PLAN, "the plan")
    if document.pop("version", None) != VERSION:
        raise FolderError(
            "the plan is of another version of difftest", rule="folder-version", file=str(folder / PLAN)
        )
    return _parse(lambda: Plan(**{**document, "opt_levels": tuple(document["opt_levels"])}), folder / PLAN)


def build_id(kernel: str, gpu: str, opt_level: int, assembler: str) -> str:
    """Names a build by what goes into it."""
    return identify(kernel, gpu, opt_level, assembler)


def launch_id(case: str, cubin: str, device: str, driver: str) -> str:
    """Names a launch by what goes into it."""
    return identify(case, cubin, device, driver)


def read_case(store: Store, identity: str) -> PlannedCase:
    """The case of this identity.

    Raises:
        FolderError: it is missing or damaged.
    """
    document = store.read(CASES, identity)

    def parse() -> PlannedCase:
        arguments = tuple(Argument(**{**a, "shape": tuple(a["shape"])}) for a in document["arguments"])
        return PlannedCase(**{**document, "grid": tuple(document["grid"]), "arguments": arguments})

    return _parse(parse, store.path / CASES / f"{identity}.json")


def read_build(store: Store, identity: str) -> Build:
    """The build of this id.

    Raises:
        FolderError: it is missing or damaged.
    """
    return _parse(lambda: Build(**store.read(BUILDS, identity)), store.path / BUILDS / f"{identity}.json")


def parse_launch(record: dict[str, Any], path: Path) -> Launched:
    """A launch from its record.

    Raises:
        FolderError: the record is damaged.
    """
    launched = _parse(lambda: Launched(**record), path)
    outputs = launched.outputs
    if not isinstance(outputs, dict) or not all(
        k.isdigit() and isinstance(v, str) for k, v in outputs.items()
    ):
        raise FolderError("the record of a launch is damaged", rule="folder-record", file=str(path))
    return launched


def write_record(store: Store, kind: str, identity: str, record: Any) -> None:
    """Keep a dataclass of this module."""
    store.write(kind, identity, asdict(record))


def _parse(make: Callable[[], T], path: Path) -> T:
    try:
        return make()
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise FolderError(f"a record is damaged: {error!r}", rule="folder-record", file=str(path)) from error
