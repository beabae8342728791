"""Modules made at random, written and read, by the thousand.

    python -m tests.campaigns.round_trips --examples 20000

The exit status is 1 if one does not come back as it went in; Hypothesis prints the smallest it can find.
"""

from __future__ import annotations

import argparse
import sys
import time

from hypothesis import HealthCheck, given, seed, settings

from tests.tileir.strategies import modules
from tests.tileir.test_round_trips import check_bytes
from tileir.module import Module


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    count = operations = 0

    @seed(arguments.seed)
    @settings(
        max_examples=arguments.examples, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(modules())
    def run(module: Module) -> None:
        nonlocal count, operations
        check_bytes(module)
        count += 1
        operations += sum(1 for _ in module.walk())

    start = time.monotonic()
    run()
    seconds = time.monotonic() - start
    print(f"{count} modules of {operations} operations came back as they went in, {seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
