"""Looking inside a kernel while it runs: traces, watches, breakpoints, probes, lints, estimates.

``tileref.launch`` takes all of these by name; here are the observers themselves. docs/inspecting.md walks
through them. Names are loaded when first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimating import Estimate, estimate
    from .event import Event, Seen
    from .lost_addends import LostAddends
    from .observer import Callback, Match, Observer
    from .probe import Probe
    from .progress import Progress
    from .selections import Where, where
    from .stops import Breakpoint
    from .trace import Trace
    from .watch import Watch

_HOMES = {
    "Breakpoint": "stops",
    "Callback": "observer",
    "Estimate": "estimating",
    "Event": "event",
    "LostAddends": "lost_addends",
    "Match": "observer",
    "Observer": "observer",
    "Probe": "probe",
    "Progress": "progress",
    "Seen": "event",
    "Trace": "trace",
    "Watch": "watch",
    "Where": "selections",
    "estimate": "estimating",
    "where": "selections",
}

__all__ = [
    "Breakpoint",
    "Callback",
    "Estimate",
    "Event",
    "LostAddends",
    "Match",
    "Observer",
    "Probe",
    "Progress",
    "Seen",
    "Trace",
    "Watch",
    "Where",
    "estimate",
    "where",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tileref.inspection' has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
