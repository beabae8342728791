"""Whether the identity of a reduction or scan is one.

The dialect lets an implementation combine the identity with any partial result. So an identity is wrong where
combining it with what came out gives something else: two implementations may then answer differently. Where
no lane shows a difference nothing is reported: -1e30 will do for the largest of numbers that are above it.

What arithmetic leaves open anyway is no difference: the pattern of a NaN, the sign of a zero, and a subnormal
where the body flushes them.
"""

from __future__ import annotations

import numpy as np

from tileir.attributes import Attribute, FloatAttribute, IntegerAttribute
from tileir.ops import bitwise, floating, integer
from tileir.ops.reduction import Reduce, Scan

from ..formats import Array, element_format, from_bits
from ..frame import Frame
from ..kinds import Kind
from ..numerics.conversion import ftof
from ..numerics.formats import FORMATS, FloatFormat, IntegerFormat
from ..targets.bodies import only_operation
from ..targets.lanes import Combine, Lanes


def check_identities(frame: Frame, op: Reduce | Scan, result: Lanes, *, keep: bool, combine: Combine) -> None:
    """Report results that depend on whether the identity is folded in.

    ``result`` has the axis of blocks first; a scan's (``keep``) the folded one before it, whose last element
    is looked at. The results keep their values: models do not fold the identity in.
    """
    if frame.run.check == "off" or _is_certain(op):
        return
    final = Lanes(
        tuple(a[-1:] if keep else a[None] for a in result.data),
        tuple(None if m is None else m[-1:] if keep else m[None] for m in result.marks),
    )
    identity = Lanes(
        tuple(
            np.broadcast_to(_value(i, element_format(v.type)), a.shape)
            for i, v, a in zip(op.identities, op.operands, final.data, strict=True)
        ),
        (None,) * len(final.data),
    )
    with np.errstate(all="ignore"):
        again = combine(identity, final)
    differs = np.zeros(final.data[0].shape, np.bool_)
    for value, before, after, marks in zip(op.results, final.data, again.data, final.marks, strict=True):
        flushes = any(getattr(inner, "flush_to_zero", False) for inner in op.body.walk())
        different = _differ(before, after, element_format(value.type), flushes=flushes)
        differs |= different if marks is None else different & ~marks
    if not differs.any():
        return
    lanes = differs[0]
    if keep:
        lanes = np.broadcast_to(differs, result.data[0].shape)
        lanes = np.moveaxis(lanes, 0, op.dim + 1)
    shown = ", ".join(str(array.flat[0]) for array in identity.data)
    text = f"combining the identity {shown} with the result changes it"
    frame.run.report(frame, op, Kind.IDENTITY, text, np.asarray(lanes))


def _value(identity: Attribute, wanted: FloatFormat | IntegerFormat) -> Array:
    """An identity as an array of one element, in its operand's format: bf16 may be given for f16."""
    assert isinstance(identity, FloatAttribute | IntegerAttribute)
    fmt = FORMATS[identity.type.name]
    bits = identity.bits << (fmt.unused_bits if isinstance(fmt, FloatFormat) else 0)
    value = from_bits(np.array([bits], np.uint64), fmt)
    if fmt is wanted:
        return value
    assert isinstance(fmt, FloatFormat)
    assert isinstance(wanted, FloatFormat)
    return ftof(value, fmt, wanted)


def _differ(before: Array, after: Array, fmt: FloatFormat | IntegerFormat, *, flushes: bool) -> Array:
    """Where two answers are not the same number."""
    if isinstance(fmt, IntegerFormat):
        return np.asarray(before != after)
    with np.errstate(invalid="ignore"):
        a, b = before.astype(np.float64), after.astype(np.float64)
    least = 2.0**fmt.emin if flushes else 0.0
    return np.asarray((a != b) & ~np.isnan(a) & ~((np.abs(a) < least) & (np.abs(b) < least)))


def _is_certain(op: Reduce | Scan) -> bool:
    """Whether nothing has to be tried: the body is one operation, and this is its identity."""
    single = only_operation(op)
    if single is None:
        return False
    value = _value(op.identities[0], element_format(op.operands[0].type))[0]
    match single:
        case floating.AddF() | integer.AddI() | bitwise.OrI() | bitwise.XOrI():
            return bool(value == 0)
        case floating.MulF() | integer.MulI():
            return bool(value == 1)
        case floating.MaxF():
            return bool(value == -np.inf)
        case floating.MinF():
            return bool(value == np.inf)
    return False
