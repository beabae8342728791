"""Bitwise logic, element by element."""

from __future__ import annotations

from tileir.ops import bitwise as ops

from ..formats import Array, integer_format
from ..numerics import integer as n
from ..targets.model import Model
from .registry import elementwise


@elementwise
def andi(_model: Model, op: ops.AndI, lhs: Array, rhs: Array) -> Array:
    """And."""
    return n.andi(lhs, rhs, integer_format(op.result.type))[0]


@elementwise
def ori(_model: Model, op: ops.OrI, lhs: Array, rhs: Array) -> Array:
    """Or."""
    return n.ori(lhs, rhs, integer_format(op.result.type))[0]


@elementwise
def xori(_model: Model, op: ops.XOrI, lhs: Array, rhs: Array) -> Array:
    """Exclusive or."""
    return n.xori(lhs, rhs, integer_format(op.result.type))[0]
