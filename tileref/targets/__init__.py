"""What the dialect leaves open, as each target decides it: models, by name."""

from __future__ import annotations

from tileir.errors import ArgumentError

from .model import Explanation, Model
from .sm_90 import SM_90
from .spec import SPEC

MODELS: dict[str, Model] = {m.name: m for m in (SPEC, SM_90)}


def models() -> list[str]:
    """Names of the models there are."""
    return list(MODELS)


def model(name: str | Model) -> Model:
    """The model called ``name``; raises ``ArgumentError`` naming those there are."""
    if isinstance(name, Model):
        return name
    if name not in MODELS:
        raise ArgumentError(
            "there is no model of this name", rule="model", found=name, expected=" or ".join(MODELS)
        )
    return MODELS[name]


__all__ = ["MODELS", "Explanation", "Model", "model", "models"]
