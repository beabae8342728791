"""What a launch is asked to look at, however it was said, as observers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar

from tileir.errors import ArgumentError
from tileir.module import Function

from .lost_addends import LostAddends
from .observer import Callback, Observer
from .probe import Probe
from .selections import Where
from .session import Inspection
from .stops import Breakpoint
from .trace import Trace
from .watch import Watch
from .words import LINTS

O = TypeVar("O", bound=Observer)  # noqa: E741

Asked = bool | str | Where | Observer | Sequence[str | Where | Observer] | None
"""Selections, or observers made of them; True is a selection of everything."""
Probes = Mapping[str, str | PathLike[str]] | Probe | Sequence[Probe] | None
Observers = Callable[..., Any] | Observer | Sequence[Callable[..., Any] | Observer] | None


def inspection(
    function: Function,
    grid: tuple[int, int, int],
    *,
    observe: Observers = None,
    trace: Asked = None,
    watch: Asked = None,
    breakpoint: Asked = None,
    probe: Probes = None,
    lint: str | Sequence[str] = (),
) -> Inspection | None:
    """The observers of a launch; None if nobody looks on.

    Raises:
        ArgumentError: a selection means nothing, or names what the kernel does not have.
    """
    observers = [
        *_given(observe),
        *_made("trace", trace, Trace),
        *_made("watch", watch, Watch),
        *_probes(probe),
        *_lints(lint),
        *_made("breakpoint", breakpoint, Breakpoint),
    ]
    return Inspection(function, grid, observers) if observers else None


def _each(asked: Any) -> list[Any]:
    if asked is None or asked is False:
        return []
    return list(asked) if isinstance(asked, list | tuple) else [asked]


def _given(observe: Any) -> Iterator[Observer]:
    for each in _each(observe):
        yield each if isinstance(each, Observer) else Callback(each)


def _made(name: str, asked: Any, kind: Callable[..., O]) -> Iterator[Observer]:
    for each in _each(asked):
        if isinstance(each, Observer):
            yield each
        elif isinstance(each, str | Where) or each is True:
            yield kind("" if each is True else each)
        else:
            raise ArgumentError(
                f"{name} is a selection, or several",
                rule="selection",
                found=type(each).__name__,
                expected="text such as '%17 block=0'",
            )


def _probes(probe: Any) -> Iterator[Observer]:
    if isinstance(probe, Mapping):
        for selection, path in probe.items():
            yield Probe(selection, path)
        return
    for each in _each(probe):
        if not isinstance(each, Probe):
            raise ArgumentError(
                "probe is selections with the paths of their files",
                rule="probe",
                found=type(each).__name__,
                expected="such as {'%17': 'out.npz'}",
            )
        yield each


def _lints(lint: Any) -> Iterator[Observer]:
    for each in dict.fromkeys(_each(lint)):
        if each not in LINTS:
            raise ArgumentError("there is no such lint", rule="lint", found=each, expected=", ".join(LINTS))
        yield LostAddends()
