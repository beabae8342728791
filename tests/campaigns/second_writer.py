"""Every form of every operation in every version: our bytes and cuda-tile's.

    python -m tests.campaigns.second_writer

Prints how many were compared, and the first that differ; the exit status is 1 if any do.
"""

from __future__ import annotations

import sys

import tileir
from tests.tileir.second_writer import write_theirs
from tileir import generate
from tileir.version import SUPPORTED


def main() -> int:
    """The command."""
    compared = 0
    different: list[str] = []
    for form in generate.all_forms():
        for version in SUPPORTED:
            if version < form.since:
                continue
            module = form.module(version)
            compared += 1
            theirs = write_theirs(module, version)
            if tileir.write(module) != theirs or tileir.read(theirs) != module:
                different.append(f"{version}: {form.label}")
    print(f"{compared} modules, {len(different)} different")
    print(*different[:50], sep="\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
