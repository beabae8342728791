"""Folders for tests of the launch stage: one case a program of the fake driver."""

import json
from pathlib import Path

from difftest.plan import (
    BUILDS,
    CASES,
    LAUNCHES,
    Argument,
    Build,
    Plan,
    PlannedCase,
    build_id,
    parse_launch,
    save,
    write_record,
)
from difftest.store import Store

DATA = bytes(range(64))


def make_folder(folder: Path, programs: list[str], gpu: str = "sm_90") -> Store:
    """A folder as 'difftest build' would leave it, whose cubins are programs of the fake driver."""
    store = Store(folder)
    names = {}
    for number, program in enumerate(programs):
        kernel = store.put(f"kernel {number}".encode())
        cubin = store.put(json.dumps({"do": program, "number": number}).encode())
        arguments = (
            Argument("i8", "in0", (64,), store.put(DATA)),
            Argument("i8", "out0", (64,), store.put(bytes(64)), output=True),
            Argument("i32", bits=64),
        )
        case = PlannedCase(f"case{number}", kernel, "kernel", (4,), arguments, "0" * 64, "1" * 64)
        write_record(store, CASES, case.identity, case)
        names[case.name] = case.identity
        build = Build(kernel, gpu, 3, "fake", "ok", 0.0, cubin=cubin)
        write_record(store, BUILDS, build_id(kernel, gpu, 3, "fake"), build)
    save(folder, Plan(gpu, (3,), "fake", names))
    return store


def launches(store: Store) -> dict:
    """Every launch of the folder by the name of its case."""
    found = {}
    for identity, record in store.all(LAUNCHES):
        launched = parse_launch(record, store.path / f"{identity}.json")
        found[store.read(CASES, launched.case)["name"]] = launched
    return found
