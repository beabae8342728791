"""How far a long launch is, on the terminal."""

from __future__ import annotations

import sys
import threading
from typing import Any

from .progress import Progress

PATIENCE = 2.0
"""Seconds after which people want to know."""


class Display:
    """A line on standard error while a launch takes longer than that, if it is a terminal and ``shown``.

    To be called with every ``Progress``, inside of ``with``.
    """

    def __init__(self, console: Any = None, patience: float = PATIENCE, *, shown: bool = True) -> None:
        self._shown = shown
        self._console = console
        self._timer = threading.Timer(patience, self._show)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._bar: Any = None
        self._over = False
        self._last: Progress | None = None

    def __enter__(self) -> Display:
        if self._shown:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._bar is not None:
                self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """So far it is now."""
        with self._lock:
            self._last = progress
            if self._bar is not None:
                self._bar.update(self._task, completed=progress.done, total=progress.total)

    def _show(self) -> None:
        from rich import progress as bars
        from rich.console import Console

        console = self._console or Console(file=sys.stderr)
        with self._lock:
            if self._over or not console.is_terminal:
                return
            self._bar = bars.Progress(
                bars.BarColumn(),
                bars.MofNCompleteColumn(),
                bars.TextColumn("blocks,"),
                bars.TimeElapsedColumn(),
                bars.TextColumn("gone,"),
                bars.TimeRemainingColumn(),
                bars.TextColumn("left"),
                console=console,
                transient=True,
            )
            last = self._last
            self._task = self._bar.add_task("", total=last and last.total, completed=last.done if last else 0)
            self._bar.start()
