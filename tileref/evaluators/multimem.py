"""Operations across devices: a launch here is on a single one."""

from __future__ import annotations

from typing import Any

from tileir.errors import UnsupportedError
from tileir.module import Operation

from ..frame import Frame
from ..undefined import describe
from .registry import evaluates


@evaluates("multimem_load_reduce_view_tko", "multimem_reduce_view_tko", "multimem_store_view_tko")
def multimem(_frame: Frame, op: Operation, *_operands: Any) -> None:
    """Refuse."""
    raise UnsupportedError(
        "multicast memory needs several devices, and a launch runs on one",
        rule="multimem-single-device",
        **describe(op),
    )
