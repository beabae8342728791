"""The reference interpreter of CUDA Tile IR, in numpy, bit for bit.

Names are loaded when first asked for, so that ``tileref.numerics`` can be used without the IR.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .arguments import Table
    from .inspection.comparing import Comparison, compare
    from .inspection.estimating import Estimate, estimate
    from .launching import launch
    from .loading import Loaded, load
    from .result import Assertion, LaunchResult, Lint, Printed
    from .run import UndefinedBehaviour
    from .targets import Explanation, Model, model, models
    from .undefined import Undefined

_HOMES = {
    "Assertion": "result",
    "Comparison": "inspection.comparing",
    "Estimate": "inspection.estimating",
    "Explanation": "targets",
    "LaunchResult": "result",
    "Lint": "result",
    "Loaded": "loading",
    "Model": "targets",
    "Printed": "result",
    "Table": "arguments",
    "Undefined": "undefined",
    "UndefinedBehaviour": "run",
    "compare": "inspection.comparing",
    "estimate": "inspection.estimating",
    "launch": "launching",
    "load": "loading",
    "model": "targets",
    "models": "targets",
}

__all__ = [
    "Assertion",
    "Comparison",
    "Estimate",
    "Explanation",
    "LaunchResult",
    "Lint",
    "Loaded",
    "Model",
    "Printed",
    "Table",
    "Undefined",
    "UndefinedBehaviour",
    "compare",
    "estimate",
    "launch",
    "load",
    "model",
    "models",
]


def __getattr__(name: str) -> Any:
    if name == "cutile":
        return import_module(".cutile", __name__)
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tileref' has no attribute {name!r}")
    value = getattr(import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
