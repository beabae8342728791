"""``python -m difftest.launch FOLDER``: the launch stage without the rest of the package's dependencies."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tileir.errors import TileError

from ..codes import Code
from ..plan import Launched
from .driver import DRIVER_MODULE
from .pack import pack
from .stage import EnvironmentMissing, Options, launch_folder


def main(arguments: list[str]) -> int:
    """Parse the command line, launch, and pack what came of it if asked to."""
    parser = argparse.ArgumentParser(prog="python -m difftest.launch", description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder that 'difftest build' made")
    parser.add_argument("--out", type=Path, help="also write the answers to archives in this folder")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds a case may take (%(default)s)")
    parser.add_argument("--times", type=int, default=3, help="launches a case (%(default)s)")
    parser.add_argument("--device", type=int, default=0, help="which GPU (%(default)s)")
    parser.add_argument("--retry", action="store_true", help="launch again what failed earlier")
    parser.add_argument("--driver", default=DRIVER_MODULE, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    options = Options(given.timeout, given.times, given.device, given.driver, given.retry)
    try:
        counts = launch_folder(given.folder, options, _report)
        if given.out is not None:
            for path in pack(given.folder, given.out):
                print(f"{path}: {path.stat().st_size} bytes")
    except EnvironmentMissing as error:
        print(f"error: {error}", file=sys.stderr)
        return Code.ENVIRONMENT
    except TileError as error:
        print(f"error: {error}", file=sys.stderr)
        return Code.USAGE
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())) or "nothing to launch")
    return Code.AGREE if set(counts) <= {"ok"} else Code.DIFFER


def _report(done: int, total: int, name: str, launched: Launched) -> None:
    if launched.result != "ok":
        print(f"[{done}/{total}] {name}: {launched.result}: {launched.message}", flush=True)
    elif done % 100 == 0:
        print(f"[{done}/{total}]", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
