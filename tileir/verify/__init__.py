"""The rules of the dialect, and of targets: what a module must keep to mean something."""

from .diagnostic import Diagnostic
from .verifier import verify

__all__ = ["Diagnostic", "verify"]
