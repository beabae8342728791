"""Running cases one after the other, and saying what came of each."""

from __future__ import annotations

import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

import tileref.cutile
from tileref import LaunchResult

from .cases import Case


@dataclass
class Row:
    """What came of a case.

    Attributes:
        verdict: ``agrees``, ``differs``, ``undefined`` (something undefined was reported), ``refused`` (an
            error), ``stopped`` (it took too long).
        kernels: the kernels that were launched, by module and name, each with its last grid.
        excess: the largest deviation over what is allowed.
        reason: why, if it does not agree.
        unexplained: operations whose bits the model does not claim.
    """

    case: str
    source: str
    model: str
    verdict: str
    kernels: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    excess: float | None = None
    seconds: float = 0.0
    reason: str = ""
    unexplained: list[str] = field(default_factory=list)
    known: bool = False

    @property
    def surprising(self) -> bool:
        """Whether this is news: it does not agree, and nobody said that it would not."""
        return self.verdict != "agrees" and not self.known

    def line(self) -> str:
        """The row of the table."""
        launched = ", ".join(f"{k.rpartition('.')[2]}{list(grid)}" for k, grid in self.kernels.items())
        excess = "" if self.excess is None else f"{self.excess:.2g}"
        return (
            f"{self.verdict:9} {self.source:9} {self.case:34} {self.seconds:6.1f} s {excess:>8}  "
            f"{launched}{': ' if self.reason else ''}{self.reason}"
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class TooLong(Exception):
    """A case that takes longer than it may."""


@contextmanager
def _within(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(
    *,
    tilegym: bool,
    samples: Path | None,
    model: str,
    capability: tuple[int, int],
    only: str,
    limit: int,
    show: Callable[[Row], None],
) -> list[Row]:
    """Run every case whose name contains ``only``."""
    warnings.simplefilter("ignore")
    cases: list[Case] = []
    with tileref.cutile.emulating():
        # Host code asks for the GPU as soon as it is imported.
        if samples is not None:
            from . import cutile_samples

            cases += cutile_samples.cases(samples)
        if tilegym:
            for part in ("ops", "attention", "suites", "more", "backward", "rest"):
                cases += import_module(f"{__package__}.tilegym_{part}").cases()
    rows: list[Row] = []
    for case in cases:
        if only in case.name:
            rows.append(_row(case, model, case.capability or capability, limit))
            show(rows[-1])
    return rows


def _row(case: Case, model: str, capability: tuple[int, int], limit: int) -> Row:
    torch.manual_seed(0)
    row = Row(case.name, case.source, model, "refused", known=case.reason is not None)
    excess: list[float] = []
    started = time.perf_counter()
    kernels: list[Any] = []

    def noted(grid: Any, kernel: Any, args: Any, **options: Any) -> LaunchResult:
        kernels.append(kernel)
        return tileref.cutile.launch(grid, kernel, args, **options)

    with (
        patch("tileref.cutile.host.launch", noted),
        tileref.cutile.emulating(model=model, capability=capability) as launches,
    ):
        try:
            with _within(limit):
                excess = [check.excess() for check in case.answer()]
        except TooLong:
            row.verdict, row.reason = "stopped", f"more than {limit} s"
        except Exception as error:  # Whatever somebody else's code raises is the finding.
            row.reason = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"
        else:
            row.verdict, row.reason = _verdict(excess, launches)
    row.seconds = time.perf_counter() - started
    row.kernels = {_full_name(k): launch.grid for k, launch in zip(kernels, launches, strict=False)}
    row.excess = max(excess, default=None)
    claims = {f"{e.operation} {' '.join(e.formats)}" for launch in launches for e in launch.unexplained}
    row.unexplained = sorted(claims)
    if row.verdict != "agrees" and case.reason is not None:
        row.reason = f"{case.reason} ({row.reason})"
    return row


def _verdict(excess: list[float], launches: list[LaunchResult]) -> tuple[str, str]:
    events = [event for launch in launches for event in launch.undefined]
    if not launches:
        return "refused", "the host code launched no kernel"
    if not excess:
        return "refused", "nothing was compared"
    if max(excess) > 1:
        return "differs", f"{max(excess):.3g} times what is allowed" + (f"; {events[0]}" if events else "")
    if events:
        return "undefined", str(events[0])
    return "agrees", ""


def never_launched(rows: list[Row]) -> list[str]:
    """The kernels in the modules that were loaded that are in no row."""
    import cuda.tile as ct

    found: dict[int, str] = {}
    for name, module in list(sys.modules.items()):
        if not name.startswith("cuda.") and not name.startswith("tests."):
            kernels = [k for k in list(vars(module).values()) if isinstance(k, ct.kernel)]
            found.update({id(k): _full_name(k) for k in kernels})
    return sorted(set(found.values()).difference(*(row.kernels for row in rows)))


def _full_name(kernel: Any) -> str:
    return f"{kernel._pyfunc.__module__}.{kernel._pyfunc.__name__}"
