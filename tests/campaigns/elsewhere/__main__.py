"""Kernels of the package tilegym and of cuTile's published samples, as they are, on the emulator.

    python -m tests.campaigns.elsewhere --tilegym --samples CUTILE_PYTHON --model sm_90 --json

``--tilegym`` runs those of the installed package, ``--samples`` those in a checkout of NVIDIA/cutile-python.
Neither is part of this repository. Needs torch (a CPU build will do) and cuda-tile. The references are torch's
or written here. The exit status is 1 if an answer deviates, or if anything stops that is not known to.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

from .running import Row, never_launched, run


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tilegym", action="store_true", help="the installed package's kernels")
    parser.add_argument("--samples", type=Path, help="a checkout of NVIDIA/cutile-python")
    parser.add_argument("--model", default="sm_90")
    parser.add_argument("--capability", default="9.0", help="what host code takes the GPU for")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--limit", type=int, default=300, help="seconds that a case may take")
    parser.add_argument("--json", action="store_true", help="print JSON, not a table")
    arguments = parser.parse_args()
    if not arguments.tilegym and arguments.samples is None:
        parser.error("say which kernels: --tilegym, --samples DIR, or both")

    out = sys.stdout

    def show(row: Row) -> None:
        if not arguments.json:
            print(row.line(), file=out, flush=True)

    with redirect_stdout(sys.stderr):  # What host code has to say.
        rows = run(
            tilegym=arguments.tilegym,
            samples=arguments.samples,
            model=arguments.model,
            capability=_capability(arguments.capability),
            only=arguments.only,
            limit=arguments.limit,
            show=show,
        )
    unused = never_launched(rows)
    if arguments.json:
        print(json.dumps({"rows": [row.as_dict() for row in rows], "never_launched": unused}, indent=1))
    counts = {v: sum(row.verdict == v for row in rows) for v in sorted({row.verdict for row in rows})}
    kernels = {kernel for row in rows if row.verdict == "agrees" for kernel in row.kernels}
    print(
        f"{len(rows)} cases: {', '.join(f'{n} {v}' for v, n in counts.items())}; "
        f"{len(kernels)} kernels in cases that agree; {len(unused)} kernels beside them were not launched",
        file=sys.stderr if arguments.json else sys.stdout,
    )
    return int(any(row.surprising for row in rows))


def _capability(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)


if __name__ == "__main__":
    sys.exit(main())
