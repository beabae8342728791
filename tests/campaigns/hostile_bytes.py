"""Damaged bytecode: the reader answers with a module or a ``TileError``, soon, and in little memory.

    python -m tests.campaigns.hostile_bytes --seconds 60
    python -m tests.campaigns.hostile_bytes --files 1000000

What is read in spite of the damage must be verifiable, writable, and read back as the same module. A file
that breaks any of this is kept in the folder ``--faults`` names, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import tileir
from tests.tileir.support import shared_cases
from tileir import generate
from tileir.bytecode.cursor import Cursor
from tileir.bytecode.output import Output
from tileir.bytecode.sections import (
    MAGIC,
    Section,
    read_header,
    read_sections,
    read_table,
    write_section,
    write_table,
)
from tileir.errors import TileError
from tileir.version import SUPPORTED, Version

SECONDS_A_FILE = 0.1
BYTES_A_FILE = 64 << 20
INTERESTING = (
    0,
    1,
    2,
    0x7F,
    0x80,
    0xFF,
    1 << 14,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 63,
    (1 << 64) - 1,
)


def seeds(limit: int = 600) -> list[bytes]:
    """Files to damage: every operation in a version that has it, and the recorded cases."""
    files = []
    for number, form in enumerate(generate.all_forms()):
        if form.choices and number % 7:
            continue
        versions = [v for v in SUPPORTED if v >= form.since]
        version = versions[number % len(versions)]
        try:
            files.append(tileir.write(form.module(version)))
        except TileError:
            continue
    random.Random(0).shuffle(files)
    files = files[:limit]
    files += [(case / "kernel.tilebc").read_bytes() for case in shared_cases()[::10]]
    return files


@dataclass(slots=True)
class Parts:
    """A file taken apart, so that damage inside a section leaves the frame whole."""

    version: Version
    sections: list[tuple[Section, bytes]]

    def join(self) -> bytes:
        """The file put together again, lengths and paddings made to fit."""
        out = Output(MAGIC + bytes((*self.version, 0, 0)))
        for section, data in self.sections:
            write_section(out, section, data)
        out.append(Section.END)
        return bytes(out)


def take_apart(data: bytes) -> Parts:
    """The parts of a well-formed file."""
    cursor = Cursor(data)
    version = read_header(cursor)
    sections = read_sections(cursor, version)
    return Parts(version, [(s, c.take(c.remaining)) for s, c in sections.items()])


Damage = Callable[[random.Random, bytes, bytes], bytes]


def flip_bits(r: random.Random, data: bytes, other: bytes) -> bytes:
    """A few bits are flipped."""
    out = bytearray(data)
    for _ in range(r.choice((1, 1, 2, 8))):
        if out:
            out[r.randrange(len(out))] ^= 1 << r.randrange(8)
    return bytes(out)


def set_bytes(r: random.Random, data: bytes, other: bytes) -> bytes:
    """A byte becomes a small number, or one from the edge."""
    out = bytearray(data)
    for _ in range(r.choice((1, 2, 4))):
        if out:
            out[r.randrange(len(out))] = r.choice((0, 1, 2, 3, 0x7F, 0x80, 0xFF, r.randrange(256)))
    return bytes(out)


def blow_up(r: random.Random, data: bytes, other: bytes) -> bytes:
    """A byte, which may be a count or a length, becomes a large number."""
    if not data:
        return data
    at = r.randrange(len(data))
    number = Output()
    number.varint(r.choice(INTERESTING) if r.random() < 0.7 else r.randrange(1 << r.randrange(1, 64)))
    return data[:at] + bytes(number) + data[at + 1 :]


def word(r: random.Random, data: bytes, other: bytes) -> bytes:
    """A word of 4 or 8 bytes, which may be an offset or an extent, becomes a number from the edge."""
    width = r.choice((4, 8))
    if len(data) < width:
        return data
    at = r.randrange(0, len(data) - width + 1)
    value = r.choice(INTERESTING) & ((1 << (8 * width)) - 1)
    return data[:at] + value.to_bytes(width, "little") + data[at + width :]


def truncate(r: random.Random, data: bytes, other: bytes) -> bytes:
    """The end is cut off."""
    return data[: r.randrange(len(data) + 1)]


def delete(r: random.Random, data: bytes, other: bytes) -> bytes:
    """A stretch is cut out."""
    at, length = r.randrange(len(data) + 1), r.randrange(1, 9)
    return data[:at] + data[at + length :]


def splice(r: random.Random, data: bytes, other: bytes) -> bytes:
    """A stretch of another file is put in, or takes the place of what was there."""
    start = r.randrange(len(other) + 1)
    piece = other[start : start + r.choice((1, 2, 4, 8, 16, 64, 256))]
    at = r.randrange(len(data) + 1)
    return data[:at] + piece + data[at + r.choice((0, len(piece))) :]


def repeat(r: random.Random, data: bytes, other: bytes) -> bytes:
    """A stretch is repeated many times."""
    at = r.randrange(len(data) + 1)
    piece = data[at : at + r.randrange(1, 33)]
    return data[:at] + piece * r.choice((2, 3, 16, 256)) + data[at:]


DAMAGES: tuple[Damage, ...] = (flip_bits, set_bytes, blow_up, word, truncate, delete, splice, repeat)


TABLES = {Section.STRING: 4, Section.TYPE: 4, Section.CONSTANT: 8}
"""Sections that are tables, with the width of their offsets."""


def damage_section(r: random.Random, section: Section, data: bytes, other: bytes) -> bytes:
    """The section's bytes damaged: of a table mostly those of an item, so that its offsets fit."""
    width = TABLES.get(section)
    if width is None or r.random() < 0.25:
        return r.choice(DAMAGES)(r, data, other)
    items = table_items(data, width)
    others = table_items(other, width)
    if not items:
        return data
    at = r.randrange(len(items))
    choice = r.random()
    if choice < 0.6:
        items[at] = r.choice(DAMAGES)(r, items[at], r.choice(others) if others else b"")
    elif choice < 0.8 and others:
        items[at] = r.choice(others)
    elif choice < 0.9:
        items[at], items[-1] = items[-1], items[at]
    else:
        items.append(r.choice(items))
    out = Output()
    write_table(out, items, width)
    return bytes(out)


def table_items(data: bytes, width: int) -> list[bytes]:
    """The items of a table; none if it is not well-formed."""
    try:
        return [c.take(c.remaining) for c in read_table(Cursor(data), width, "items")]
    except TileError:
        return []


def damaged(r: random.Random, files: list[bytes], parts: list[Parts]) -> bytes:
    """One damaged file: damaged as it is, inside a section, or in how its sections stand."""
    number = r.randrange(len(files))
    way = r.random()
    if way < 0.2:
        data = files[number]
        for _ in range(r.choice((1, 1, 2))):
            data = r.choice(DAMAGES)(r, data, r.choice(files))
        return data
    whole = parts[number]
    sections = list(whole.sections)
    if way < 0.95:
        for _ in range(r.choice((1, 1, 1, 2, 3))):
            at = r.choice([0, r.randrange(len(sections))])  # the functions more often than the rest
            section, data = sections[at]
            donor = r.choice(parts).sections
            other = next((d for s, d in donor if s is section), donor[0][1])
            sections[at] = section, damage_section(r, section, data, other)
    else:
        at = r.randrange(len(sections))
        donor = r.choice(parts).sections
        choice = r.randrange(4)
        if choice == 0:
            del sections[at]
        elif choice == 1:
            sections.append(r.choice(donor))
        elif choice == 2:
            r.shuffle(sections)
        else:
            section = sections[at][0]
            other = next((d for s, d in donor if s is section), b"")
            sections[at] = section, other
    version = whole.version if r.random() < 0.9 else r.choice(SUPPORTED)
    return Parts(version, sections).join()


@dataclass(slots=True)
class Report:
    """What came of the files."""

    files: int = 0
    read: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    faults: list[tuple[str, bytes]] = field(default_factory=list)


def peak_memory() -> int:
    """Bytes that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def check(data: bytes, report: Report, seconds_a_file: float = SECONDS_A_FILE) -> str | None:
    """Read one file; what is wrong with how that went, if anything is."""
    report.files += 1
    memory = peak_memory()
    start = time.process_time()
    try:
        module = tileir.read(data)
    except TileError as error:
        report.rules[error.rule] += 1
        str(error)
        module = None
    except Exception as error:  # the very thing that must not happen
        return f"{type(error).__name__}: {error}"
    seconds = time.process_time() - start
    report.slowest = max(report.slowest, seconds)
    # A file as long as this one may take longer; what is damaged is seldom longer than a few thousand bytes.
    if seconds > seconds_a_file * max(1, len(data) / 50_000):
        return f"took {seconds:.3f} s"
    if peak_memory() - memory > BYTES_A_FILE:
        return f"took {(peak_memory() - memory) >> 20} MB"
    if module is None:
        return None
    report.read += 1
    try:
        tileir.verify(module)
        again = tileir.read(tileir.write(module))
    except Exception as error:
        return f"what was read cannot be used: {type(error).__name__}: {error}"
    return None if again == module else "what was read is written as something else"


def run(
    seed: int,
    seconds: float | None = None,
    files: int | None = None,
    seconds_a_file: float = SECONDS_A_FILE,
) -> Report:
    """Damage files until the time or the number is reached."""
    originals = seeds()
    parts = [take_apart(data) for data in originals]
    r = random.Random(seed)
    report = Report()
    start = time.monotonic()
    while (seconds is None or time.monotonic() - start < seconds) and (files is None or report.files < files):
        data = damaged(r, originals, parts)
        fault = check(data, report, seconds_a_file)
        if fault is not None:
            report.faults.append((fault, data))
            if len(report.faults) >= 20:
                break
    return report


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--files", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--faults", type=Path, default=Path("runs/hostile-bytes"))
    arguments = parser.parse_args()
    if arguments.seconds is None and arguments.files is None:
        arguments.seconds = 60.0
    report = run(arguments.seed, arguments.seconds, arguments.files)
    print(
        f"{report.files} files, {report.read} of them readable, slowest {report.slowest * 1000:.1f} ms, "
        f"{len(report.rules)} rules broken, {len(report.faults)} faults"
    )
    for rule, count in report.rules.most_common():
        print(f"  {count:9} {rule}")
    for fault, data in report.faults:
        arguments.faults.mkdir(parents=True, exist_ok=True)
        path = arguments.faults / f"{hashlib.sha256(data).hexdigest()[:16]}.tilebc"
        path.write_bytes(data)
        print(f"FAULT {path}: {fault}")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
