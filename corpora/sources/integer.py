"""Integer arithmetic and bitwise operations, signed and unsigned, at every width."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import LANES, TILE, Draft, hard, integers, output

GRID = (LANES // TILE,)


@ct.kernel
def arithmetic(x, y, outputs, T: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    b = ct.load(y, index=(i,), shape=(T,))
    ct.store(outputs[0], index=(i,), tile=a + b)
    ct.store(outputs[1], index=(i,), tile=a - b)
    ct.store(outputs[2], index=(i,), tile=a * b)
    ct.store(outputs[3], index=(i,), tile=ct.minimum(a, b))
    ct.store(outputs[4], index=(i,), tile=ct.maximum(a, b))


@ct.kernel
def bitwise(x, y, amounts, outputs, T: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    b = ct.load(y, index=(i,), shape=(T,))
    n = ct.load(amounts, index=(i,), shape=(T,))
    ct.store(outputs[0], index=(i,), tile=a & b)
    ct.store(outputs[1], index=(i,), tile=a | b)
    ct.store(outputs[2], index=(i,), tile=a ^ b)
    ct.store(outputs[3], index=(i,), tile=a << n)
    ct.store(outputs[4], index=(i,), tile=a >> n)
    ct.store(outputs[5], index=(i,), tile=~a)


@ct.kernel
def division(x, y, outputs, T: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    b = ct.load(y, index=(i,), shape=(T,))
    ct.store(outputs[0], index=(i,), tile=a // b)
    ct.store(outputs[1], index=(i,), tile=a % b)
    ct.store(outputs[2], index=(i,), tile=ct.cdiv(a, b))


@ct.kernel
def unsigned_division(x, y, outputs, T: ct.Constant[int]):
    """Without ``//``: cuda-tile 1.7.0 rounds it downwards, which the assembler refuses for unsigned."""
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    b = ct.load(y, index=(i,), shape=(T,))
    ct.store(outputs[0], index=(i,), tile=a % b)
    ct.store(outputs[1], index=(i,), tile=ct.cdiv(a, b))


@ct.kernel
def negation(x, outputs, T: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    ct.store(outputs[0], index=(i,), tile=ct.negative(a))
    ct.store(outputs[1], index=(i,), tile=ct.abs(a))


def drafts() -> Iterator[Draft]:
    """Four kernels for each width and sign; the divisors of ``division`` are not zero."""
    for fmt in ("i8", "i16", "i32", "i64"):
        for unsigned in (False, True):
            sign = "u" if unsigned else ""

            def name(what: str, sign: str = sign, fmt: str = fmt) -> str:
                return f"integer/{what}_{sign}{fmt}"

            def operand(what: str, role: str, fmt: str = fmt, unsigned: bool = unsigned, **more: bool):
                return hard(fmt, name(what), role, unsigned=unsigned, **more)

            result = output(fmt, unsigned=unsigned)
            both = [operand("arithmetic", "lhs"), operand("arithmetic", "rhs")]
            yield Draft(name("arithmetic"), arithmetic, GRID, [*both, [result] * 5, TILE])
            both = [operand("bitwise", "lhs"), operand("bitwise", "rhs")]
            amounts = integers(fmt, name("shift"), (LANES,), 0, int(fmt[1:]), unsigned=unsigned)
            yield Draft(name("bitwise"), bitwise, GRID, [*both, amounts, [result] * 6, TILE])
            both = [operand("division", "lhs"), operand("division", "rhs", nonzero=True)]
            kernel, count = (unsigned_division, 2) if unsigned else (division, 3)
            yield Draft(name("division"), kernel, GRID, [*both, [result] * count, TILE])
            if not unsigned:
                source = operand("negation", "only")
                yield Draft(name("negation"), negation, GRID, [source, [result] * 2, TILE])
