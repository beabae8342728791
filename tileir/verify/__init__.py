"""The rules of the dialect, and of targets: what a module must keep to mean something."""

from .diagnostic import Diagnostic
from .hints import unheeded_hints
from .verifier import verify

__all__ = ["Diagnostic", "unheeded_hints", "verify"]
