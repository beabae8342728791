"""Conversions: from each format to all others, one output each."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import LANES, TILE, Array, Draft, hard, output, seed

GRID = (LANES // TILE,)
FLOATS = ("f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2")
INTEGERS = ("i8", "i16", "i32", "i64")


@ct.kernel
def convert(x, outputs, T: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    for y in ct.static_iter(outputs):
        ct.store(y, index=(i,), tile=ct.astype(a, y.dtype))


@ct.kernel
def through_tf32(x, y, T: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    ct.store(y, index=(i,), tile=ct.astype(ct.astype(a, ct.tfloat32), ct.float32))


@ct.kernel
def reread(x, y, back, T: ct.Constant[int]):
    """The same bits under another type, and back."""
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    b = ct.bitcast(a, y.dtype)
    ct.store(y, index=(i,), tile=b)
    ct.store(back, index=(i,), tile=ct.bitcast(b, x.dtype))


def drafts() -> Iterator[Draft]:
    """Float to float, float to integer, integer to float and to integer, and reinterpretation."""
    for fmt in FLOATS:
        name = f"cast/{fmt}_to_floats"
        source = _every(fmt, name)
        targets = [output(other, source.shape) for other in FLOATS if other != fmt]
        yield Draft(name, convert, (source.shape[0] // 256,), [source, targets, 256])
        name = f"cast/{fmt}_to_integers"
        source = _every(fmt, name)
        targets = [output(other, source.shape) for other in INTEGERS]
        yield Draft(name, convert, (source.shape[0] // 256,), [source, targets, 256])
        if fmt in ("f64", "f32", "f16"):
            name = f"cast/{fmt}_to_unsigned"
            source = _every(fmt, name)
            targets = [output(other, source.shape, unsigned=True) for other in INTEGERS]
            yield Draft(name, convert, (source.shape[0] // 256,), [source, targets, 256])
    for fmt in INTEGERS:
        for unsigned in (False, True):
            name = f"cast/{'u' if unsigned else ''}{fmt}_to_all"
            targets = [output(other) for other in ("f64", "f32", "f16", "bf16")]
            targets += [output(other, unsigned=unsigned) for other in INTEGERS if other != fmt]
            yield Draft(name, convert, GRID, [hard(fmt, name, unsigned=unsigned), targets, TILE])
    name = "cast/f32_through_tf32"
    yield Draft(name, through_tf32, GRID, [hard("f32", name), output("f32"), TILE])
    for fmt, other in (("f64", "i64"), ("f32", "i32"), ("f16", "bf16"), ("bf16", "i16")):
        name = f"bitcast/{fmt}_{other}"
        yield Draft(name, reread, GRID, [hard(fmt, name), output(other), output(fmt), TILE])


def _every(fmt: str, name: str) -> Array:
    """Hard values; for an 8-bit format every pattern there is."""
    if fmt.startswith("f8"):
        patterns = [f"{i:x}" for i in range(256)]
        return Array(fmt, (256,), {"kind": "explicit", "bits": patterns})
    return Array(fmt, (2048,), {"kind": "hard", "seed": seed(name), "role": "only"})
