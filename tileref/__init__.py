"""The reference interpreter of CUDA Tile IR, in numpy, bit for bit."""

from .launching import launch
from .models import Explanation, Model, model, models
from .result import Assertion, LaunchResult
from .run import UndefinedBehaviour
from .undefined import Undefined

__all__ = [
    "Assertion",
    "Explanation",
    "LaunchResult",
    "Model",
    "Undefined",
    "UndefinedBehaviour",
    "launch",
    "model",
    "models",
]
