"""The test files of CUDA Tile IR's own repository, and what this package makes of them.

    python -m tests.campaigns.cuda_tile_files FOLDER [--json] [--all]

FOLDER is the ``test`` folder of that repository, or any folder with such files. Every chunk of every file is
read and verified, every file of bytecode too, and compared with what the tests expect. The exit status is 1 if
there is a disagreement that has no name in ``reasons``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from .judge import Judged, judge_bytecode, judge_chunk
from .lit import bytecode_files, read_file

WRONG = ("wrongly refused", "wrongly accepted")


def judge_folder(folder: Path) -> tuple[int, list[Judged]]:
    """How many files there are, and the verdicts on all chunks and files of bytecode."""
    verdicts, files = [], 0
    for path in sorted(folder.rglob("*.mlir")):
        files += 1
        verdicts += [judge_chunk(c) for c in read_file(path, str(path.relative_to(folder)))]
    bytecode = bytecode_files(folder)
    verdicts += [judge_bytecode(f) for f in bytecode]
    return files + len(bytecode), verdicts


def summary(files: int, verdicts: list[Judged]) -> str:
    """A table of the verdicts, and of the reasons for those that are wrong."""
    count = Counter(v.verdict for v in verdicts)
    lines = [
        f"{files} files, {len(verdicts)} chunks and files of bytecode",
        f"  {sum(v.parsed for v in verdicts):5} parsed",
        f"  {sum(not v.refused for v in verdicts):5} verified",
        *(f"  {count[name]:5} {name}" for name in ("accepted", "rightly refused", *WRONG, "unsaid")),
    ]
    place = Counter(v.at_place for v in verdicts if v.verdict == "rightly refused")
    lines.append(
        f"  of the right refusals {place[True]} are about the operation that the test names, {place[False]} "
        f"about another, {place[None]} name none"
    )
    reasons = Counter(v.reason or "unexplained" for v in verdicts if v.verdict in WRONG)
    lines += [f"    {number:5} {reason}" for reason, number in reasons.most_common()]
    return "\n".join(lines)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true", help="all verdicts, as JSON")
    parser.add_argument(
        "--all", action="store_true", help="a line for every verdict, not only the wrong ones"
    )
    arguments = parser.parse_args()
    if not arguments.folder.is_dir():
        parser.error(f"there is no folder {arguments.folder}")
    files, verdicts = judge_folder(arguments.folder)
    if arguments.json:
        print(json.dumps({"files": files, "verdicts": [v.document() for v in verdicts]}, indent=1))
    else:
        for v in verdicts:
            if arguments.all or v.verdict in WRONG:
                said = v.said or "; ".join(v.expected or [])
                print(f"{v.name}: {v.verdict}{f' ({v.reason})' if v.reason else ''}: {said}")
        print(summary(files, verdicts))
    return 1 if any(v.verdict in WRONG and v.reason is None for v in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
