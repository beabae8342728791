"""Lanes without a value: every operation passes the marks of its operands on, and to those lanes alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tileref.kernels import apply, cycle
from tests.tileref.operations import operation
from tileir.registry import BY_NAME
from tileref.evaluators import EVALUATORS
from tileref.numerics.formats import FORMATS

SHAPE = (2, 4)
LANES = 24

F, I = "f32", "i32"  # noqa: E741
UNARY_FLOATS = (
    *("absf", "ceil", "cos", "cosh", "exp", "exp2", "floor", "log", "log2", "negf", "rsqrt", "sin", "sinh"),
    *("sqrt", "tan", "tanh"),
)
BINARY_FLOATS = ("addf", "divf", "maxf", "minf", "mulf", "fpowf", "remf", "subf", "atan2")
BINARY_INTEGERS = ("addi", "andi", "mulhii", "muli", "ori", "shli", "subi", "xori")
SIGNED_INTEGERS = ("divi", "maxi", "mini", "remi", "shri")

ELEMENTWISE: dict[str, tuple[str, list[str], str]] = {
    **{name: (f"{name} %a : {{R}}", [F], F) for name in UNARY_FLOATS},
    **{name: (f"{name} %a, %b : {{R}}", [F, F], F) for name in BINARY_FLOATS},
    **{name: (f"{name} %a, %b : {{R}}", [I, I], I) for name in BINARY_INTEGERS},
    **{name: (f"{name} %a, %b signed : {{R}}", [I, I], I) for name in SIGNED_INTEGERS},
    "fma": ("fma %a, %b, %c : {R}", [F, F, F], F),
    "fpowi": ("fpowi %a, %b : {A}, {B}", [F, I], F),
    "cmpf": ("cmpf less_than ordered %a, %b : {A} -> {R}", [F, F], "i1"),
    "cmpi": ("cmpi less_than %a, %b, signed : {A} -> {R}", [I, I], "i1"),
    "absi": ("absi %a : {R}", [I], I),
    "negi": ("negi %a : {R}", [I], I),
    "bitcast": ("bitcast %a : {A} -> {R}", [F], I),
    "exti": ("exti %a signed : {A} -> {R}", [I], "i64"),
    "trunci": ("trunci %a : {A} -> {R}", [I], "i8"),
    "ftof": ("ftof %a : {A} -> {R}", [F], "f16"),
    "ftoi": ("ftoi %a signed : {A} -> {R}", [F], I),
    "itof": ("itof %a signed : {A} -> {R}", [I], F),
}
OF_POINTERS: dict[str, tuple[str, list[str], str]] = {
    "int_to_ptr": (
        "%p = int_to_ptr %a : {A} -> tile<2x4xptr<f32>>\n%r = ptr_to_int %p : tile<2x4xptr<f32>> -> {R}",
        ["i64"],
        "i64",
    ),
    "ptr_to_int": (
        "%p = int_to_ptr %a : {A} -> tile<2x4xptr<f32>>\n%r = ptr_to_int %p : tile<2x4xptr<f32>> -> {R}",
        ["i64"],
        "i64",
    ),
    "ptr_to_ptr": (
        "%p = int_to_ptr %a : {A} -> tile<2x4xptr<f32>>\n"
        "%q = ptr_to_ptr %p : tile<2x4xptr<f32>> -> tile<2x4xptr<i8>>\n"
        "%r = ptr_to_int %q : tile<2x4xptr<i8>> -> {R}",
        ["i64"],
        "i64",
    ),
    "offset": (
        "%p = int_to_ptr %a : {A} -> tile<2x4xptr<f32>>\n"
        "%q = offset %p, %b : tile<2x4xptr<f32>>, {B} -> tile<2x4xptr<f32>>\n"
        "%r = ptr_to_int %q : tile<2x4xptr<f32>> -> {R}",
        ["i64", I],
        "i64",
    ),
}
TABLE = ELEMENTWISE | OF_POINTERS


def is_elementwise(kind: type[Any]) -> bool:
    return "elementwise" in EVALUATORS[kind].__qualname__


def test_the_table_has_every_elementwise_operation() -> None:
    there = {name for name, kind in BY_NAME.items() if kind in EVALUATORS and is_elementwise(kind)}
    assert there <= TABLE.keys()
    assert len(there) > 50


def numbers(element: str) -> NDArray[Any]:
    """Small positive numbers, for which every operation has an answer."""
    return cycle(np.arange(1, 8), LANES).astype(FORMATS[element].dtype)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=operation(name, oracle="written")) for name in sorted(TABLE)]
)
def test_a_lane_without_a_value_takes_its_own_result(name: str) -> None:
    text, formats, result = TABLE[name]
    operands = [numbers(f) for f in formats]
    plain = apply(text, operands, formats, result, SHAPE)
    assert not plain.undefined.any()
    # Each operand misses another lane, in another block.
    missing = (1, 10, 23)[: len(formats)]
    masks = [np.arange(LANES) != lane for lane in missing]
    found = apply(text, operands, formats, result, SHAPE, masks=masks)
    np.testing.assert_array_equal(np.flatnonzero(found.undefined), missing)
    there = ~found.undefined
    assert found.array[there].tobytes() == plain.array[there].tobytes()
    # Nothing went wrong: the marks say it all.
    assert not found.result.undefined


MOVES = [
    ("reshape %a : {A} -> {R}", (2, 4), (8,), lambda a: a.reshape(8)),
    ("permute %a [1, 0] : {A} -> {R}", (2, 4), (4, 2), lambda a: a.T),
    ("broadcast %a : {A} -> {R}", (2, 1), (2, 4), lambda a: np.broadcast_to(a, (2, 4))),
    ("cat %a, %a dim = 0 : {A}, {A} -> {R}", (2, 4), (4, 4), lambda a: np.concatenate([a, a])),
    ("cat %a, %a dim = 1 : {A}, {A} -> {R}", (2, 4), (2, 8), lambda a: np.concatenate([a, a], 1)),
    (
        "%i = constant <i32: 0> : tile<i32>\n%j = constant <i32: 1> : tile<i32>\n"
        "%r = extract %a[%i, %j] : {A} -> {R}",
        *((2, 4), (2, 2), lambda a: a[:, 2:]),
    ),
    (
        "%i = constant <i32: 0> : tile<i32>\n%d = constant <i32: 5> : {R}\n"
        "%r = insert %a, %d[%i, %i] : {A}, {R}",
        *((2, 2), (2, 4), lambda a: np.concatenate([a, np.zeros_like(a)], 1)),
    ),
]


@pytest.mark.parametrize(
    ("text", "shape", "after", "move"),
    [
        pytest.param(*case, marks=operation(name, oracle="numpy"))
        for case in MOVES
        for name in ("reshape", "permute", "broadcast", "cat", "extract", "insert")
        if f"{name} %a" in case[0]
    ],
)
def test_marks_move_with_their_elements(text: str, shape: Any, after: Any, move: Any) -> None:
    size = int(np.prod(shape))
    for lane in range(2 * size):
        there = np.arange(2 * size) != lane
        found = apply(
            text, [np.arange(2 * size, dtype=np.int32)], ["i32"], "i32", shape, after, masks=[there]
        )
        expected = [move(block) for block in ~there.reshape(2, *shape)]
        np.testing.assert_array_equal(found.undefined, np.concatenate([e.reshape(-1) for e in expected]))


@operation("insert", oracle="numpy")
def test_what_is_inserted_has_a_value_again() -> None:
    text = "%i = constant <i32: 1> : tile<i32>\n%n = constant <i32: 5> : tile<2xi32>\n%r = insert %n, %a[%i] : tile<2xi32>, {R}"
    there = np.zeros(16, np.bool_)
    found = apply(text, [np.arange(16, dtype=np.int32)], ["i32"], shape=(8,), masks=[there])
    expected = np.ones((2, 8), np.bool_)
    expected[:, 2:4] = False
    np.testing.assert_array_equal(found.undefined, expected.reshape(-1))
    assert set(found.array.reshape(2, 8)[:, 2:4].reshape(-1).tolist()) == {5}


@operation("select", oracle="numpy")
@pytest.mark.parametrize("shape", [(), (8,), (2, 4)], ids=str)
def test_select(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    cond = rng.random(64) < 0.5
    a, b = (rng.integers(-9, 9, 64).astype(np.int32) for _ in range(2))
    masks = [rng.random(64) < 0.8 for _ in range(3)]
    found = apply(
        "select %a, %b, %c : {A}, {B}", [cond, a, b], ["i1", "i32", "i32"], "i32", shape, masks=masks
    )
    # The condition needs a value, and of the others the chosen one alone.
    unknown = ~masks[0] | np.where(cond, ~masks[1], ~masks[2])
    np.testing.assert_array_equal(found.undefined, unknown)
    np.testing.assert_array_equal(found.array[~unknown], np.where(cond, a, b)[~unknown])


@operation("reduce", "scan", oracle="numpy")
def test_folds_of_lanes_without_a_value() -> None:
    body = "(%x0: tile<i32>, %y0: tile<i32>) {{ %s = addi %x0, %y0 : tile<i32> yield %s : tile<i32> }}"
    there = np.ones(24, np.bool_)
    there[[2, 13]] = False
    text = f"scan %a dim=1 reverse=false identities=[0 : i32] : {{A}} -> {{R}} {body}"
    found = apply(text, [np.arange(24, dtype=np.int32)], ["i32"], "i32", (2, 4), masks=[there])
    expected = np.maximum.accumulate(~there.reshape(3, 2, 4), axis=2)
    np.testing.assert_array_equal(found.undefined, expected.reshape(-1))
    text = f"reduce %a dim=1 identities=[0 : i32] : {{A}} -> {{R}} {body}"
    found = apply(text, [np.arange(24, dtype=np.int32)], ["i32"], "i32", (2, 4), (2,), masks=[there])
    np.testing.assert_array_equal(found.undefined, (~there.reshape(3, 2, 4)).any(axis=2).reshape(-1))
