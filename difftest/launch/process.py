"""A worker seen from outside: started, asked, and ended together with all it started."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

STDERR_KEPT = 2000
"""Characters of a dead worker's last words."""


class WorkerDied(Exception):
    """The worker is gone; ``how`` says how it went."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


class WorkerTimeout(Exception):
    """The worker did not answer in time."""


class Worker:
    """A worker process, a session and process group of its own."""

    def __init__(self, folder: Path, driver: str, ordinal: int) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by end)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "difftest.launch.worker", str(folder), driver, str(ordinal)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )
        self._buffer = b""

    def ask(self, request: Mapping[str, Any] | None, timeout: float) -> dict[str, Any]:
        """Send a request (None: only wait for the greeting) and give the answer.

        Raises:
            WorkerDied: the worker ended before it answered.
            WorkerTimeout: ``timeout`` seconds were over.
        """
        assert self._process.stdin is not None
        if request is not None:
            try:
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()
            except OSError:
                raise WorkerDied(self._epitaph()) from None
        deadline = time.monotonic() + timeout
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                raise WorkerTimeout
            data = os.read(descriptor, 1 << 16)
            if not data:
                raise WorkerDied(self._epitaph())
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise WorkerDied("the worker answered nonsense") from None
        return answer

    def _epitaph(self) -> str:
        status = self._process.wait()
        if status < 0:
            with contextlib.suppress(ValueError):
                return f"killed by {signal.Signals(-status).name}{self._last_words()}"
        return f"exit status {status}{self._last_words()}"

    def _last_words(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - STDERR_KEPT))
        text = self._errors.read().decode("utf-8", "replace").strip()
        return f": {text.splitlines()[-1]}" if text else ""

    def end(self) -> None:
        """End the worker and everything in its process group."""
        if self._process.poll() is None:
            assert self._process.stdin is not None
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.5)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
