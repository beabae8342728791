"""The interpreter against the scalar evaluator, and against itself in every way that must not matter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import tileir
import tileref
from tileref.numerics.formats import FORMATS
from tileref.run import UndefinedBehaviour

from . import evaluator, numbers
from .programs import Program


def arguments(program: Program) -> list[Any]:
    """The arguments as numpy has them, fresh."""
    found: list[Any] = []
    for argument in program.arguments:
        assert argument.data is not None
        found.append(np.frombuffer(bytearray(argument.data), FORMATS[argument.element.name].dtype))
    return found


def launch(program: Program, module: Any = None, **options: Any) -> tuple[list[bytes], dict[int, Any], Any]:
    """Bytes of every array afterwards, which elements have no value, and the result."""
    args = arguments(program)
    options.setdefault("threads", 1)
    result = tileref.launch(program.module if module is None else module, program.grid, args, **options)
    return [a.tobytes() for a in args], result.undefined_elements, result


def expected(program: Program) -> list[evaluator.Buffer]:
    """What the scalar evaluator leaves in every array."""
    found = evaluator.run(program.module, program.grid, [a.data for a in program.arguments])
    return [buffer for buffer in found if buffer is not None]


def differences(program: Program, found: list[bytes], undefined: dict[int, Any]) -> list[str]:
    """Where an answer of the interpreter is not the scalar evaluator's."""
    wrong = []
    for position, (buffer, data) in enumerate(zip(expected(program), found, strict=True)):
        element = program.arguments[position].element
        size = element.bytes
        count = len(data) // size
        marks = undefined.get(position)
        for i in range(count):
            here = slice(i * size, (i + 1) * size)
            is_open = any(buffer.undefined[here])
            was_open = bool(marks is not None and marks.reshape(-1)[i])
            text = f"argument {position} ({element}) element {i}"
            if is_open != was_open:
                wrong.append(
                    f"{text}: has {'no' if is_open else 'a'} value, found {'none' if was_open else 'one'}"
                )
            elif not is_open and buffer.bytes[here] != data[here]:
                wrong.append(f"{text}: {buffer.bytes[here].hex()} expected, {data[here].hex()} found")
    return wrong


@contextmanager
def nothing_hoisted() -> Iterator[None]:
    """No operation is evaluated before the blocks run."""
    from tileref import launching

    before = launching.evaluate
    launching.evaluate = lambda _run, _steps, known, _blocks: (known, frozenset())
    try:
        yield
    finally:
        launching.evaluate = before


@contextmanager
def together(blocks: int) -> Iterator[None]:
    """So many blocks run together."""
    from tileref import schedule

    before = schedule.blocks_together
    schedule.blocks_together = lambda *_: blocks
    try:
        yield
    finally:
        schedule.blocks_together = before


def _events(result: Any) -> list[Any]:
    return sorted((e.kind, e.operation, e.count, e.block, e.lane, e.message) for e in result.undefined)


def disagreements(program: Program) -> list[str]:
    """Ways to run a program that change its answer."""
    data, undefined, result = launch(program)
    wrong = []

    def check(name: str, other: tuple[list[bytes], dict[int, Any], Any], *, events: bool = True) -> None:
        if other[0] != data:
            wrong.append(f"{name}: other bits")
        if other[1].keys() != undefined.keys() or any((other[1][k] != v).any() for k, v in undefined.items()):
            wrong.append(f"{name}: other elements without a value")
        if events and _events(other[2]) != _events(result):
            wrong.append(f"{name}: other reports: {_events(result)} and {_events(other[2])}")

    with together(1):
        check("a block at a time", launch(program))
    with together(2):
        check("threads", launch(program, threads=4))
    with nothing_hoisted():
        check("not hoisted", launch(program))
    check("observed", launch(program, observe=lambda _event: None))
    check("bytecode", launch(program, tileir.read(tileir.write(program.module))))
    check("text", launch(program, tileir.parse(tileir.render(program.module))))
    off = launch(program, check="off")
    if off[0] != data:
        wrong.append("not checked: other bits")
    try:
        strict = launch(program, check="strict")
    except UndefinedBehaviour:
        if not result.undefined:
            wrong.append("strict: raises, and nothing is reported")
    else:
        check("strict", strict)
        if result.undefined:
            wrong.append("strict: does not raise, and something is reported")
    return wrong


OutsideScope = evaluator.OutsideScope
Float = numbers.Float
