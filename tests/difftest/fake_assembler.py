"""A stand-in for ``tileiras``: a script that copies its input, or fails as a file beside it says."""

from __future__ import annotations

import hashlib
from pathlib import Path

SCRIPT = """#!/bin/sh
here=$(dirname "$0")
case "$1" in --version) echo "fake: NVIDIA (R) tileiras, V13.4.92"; exit 0;; esac
for last; do :; done
while [ "$1" != "-o" ]; do shift; done
sum=$(sha256sum < "$last" | cut -c1-64)
echo "$sum" >> "$here/calls"
[ -f "$here/slow" ] && sleep 0.2
case "$(cat "$here/$sum" 2>/dev/null)" in
  foreign) echo "loc(x): error: Incompatibility with architecture 'sm_90': unsupported type" >&2; exit 5;;
  refuse) echo "error: no such thing" >&2; exit 3;;
  crash) kill -SEGV $$;;
  hang) sleep 60;;
esac
if [ -f "$here/program" ]; then cat "$here/program" > "$2"; else cat "$last" > "$2"; fi
"""


class FakeAssembler:
    """The script in a folder, what it was called with, and how to make it fail."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.path = folder / "tileiras"
        for name in ("tileiras", "ptxas"):
            (folder / name).write_text(SCRIPT)
            (folder / name).chmod(0o755)

    def fail(self, kernel: bytes, how: str) -> None:
        """Refuse, crash or hang on ``kernel``."""
        (self.folder / hashlib.sha256(kernel).hexdigest()).write_text(how)

    def slow(self) -> None:
        """Take a while for each kernel."""
        (self.folder / "slow").touch()

    def answer(self, cubin: str) -> None:
        """Make this out of every kernel."""
        (self.folder / "program").write_text(cubin)

    @property
    def calls(self) -> int:
        """How many kernels it was given."""
        path = self.folder / "calls"
        return len(path.read_text().splitlines()) if path.exists() else 0
