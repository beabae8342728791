"""Reading and printing bytecode, beside NVIDIA's disassembler on the same files, in one run.

    python benchmarks/bench_tileir.py [FOLDER] [--repeat R]

FOLDER is searched for ``*.tilebc``; without it the corpus's kernels are used. ``tileirdisasm`` reads one file
a process, as its users run it; the last lines give what one of our processes takes for one file likewise, and
for a module of 20,000 operations. Seconds; the best of R runs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import tileir
from tileir import ops, toolchain, types
from tileir.generate.maker import Maker, tile


def best(action: Callable[[], object], repeat: int) -> float:
    """Seconds of the quickest of some runs."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def large_module(operations: int) -> bytes:
    """A module of one long chain of additions."""
    maker = Maker()
    value = maker.value(tile(types.F32, 16))
    for _ in range(operations):
        value = maker.op(ops.floating.AddF, [value.type], lhs=value, rhs=value)
    return tileir.write(maker.finish())


def line(what: str, ours: float, theirs: float) -> None:
    """Print a comparison."""
    print(f"{what:26} {ours:8.3f} s   tileirdisasm {theirs:8.3f} s   {theirs / ours:6.3g}x")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    corpus = Path(__file__).resolve().parents[1] / "corpora" / "kernels"
    parser.add_argument("folder", nargs="?", type=Path, default=corpus)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    files = sorted(arguments.folder.rglob("*.tilebc"))
    contents = [path.read_bytes() for path in files]
    disassembler = toolchain.find().tileirdisasm
    one = min(files, key=lambda path: path.stat().st_size)

    ours = best(lambda: [tileir.render(tileir.read(data)) for data in contents], arguments.repeat)
    theirs = best(
        lambda: [subprocess.run([disassembler, path], capture_output=True, check=True) for path in files], 1
    )
    line(f"read and print {len(files)} files", ours, theirs)
    alone = best(
        lambda: subprocess.run(
            [sys.executable, "-m", "tileir.cli", "dis", one], capture_output=True, check=True
        ),
        arguments.repeat,
    )
    once = best(
        lambda: subprocess.run([disassembler, one], capture_output=True, check=True), arguments.repeat
    )
    line("one file a process", alone, once)
    data = large_module(20_000)
    print(
        f"{'read 20,000 operations':26} {best(lambda: tileir.read(data), arguments.repeat):8.3f} s   goal 0.5"
    )


if __name__ == "__main__":
    main()
