"""Lists and tuples as arguments of cuda-tile kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileref.cutile
from tileir.errors import ArgumentError

ct: Any = pytest.importorskip("cuda.tile")
from tests.tileref import cutile_kernels as kernels  # noqa: E402

RNG = np.random.Generator(np.random.PCG64(12))


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return RNG.standard_normal(shape).astype(np.float32)


def test_arrays_of_a_list_are_read_and_written_in_place() -> None:
    backing = floats(64, 3)
    inputs = [floats(64), backing[:, 1], floats(48)]
    outputs = [np.zeros(64, np.float32), np.zeros((64, 2), np.float32)[:, 0], np.zeros(48, np.float32)]
    result = tileref.cutile.launch(4, kernels.pick, (inputs, outputs, 1, 16))
    assert result.undefined == []
    expected = [2 * x for x in inputs]
    expected[1][0] = -1
    for found, wanted in zip(outputs, expected, strict=True):
        assert found.tolist() == wanted.tolist()
    assert (outputs[1].base[:, 1] == 0).all()


def test_the_table_holds_extents_and_strides_of_each() -> None:
    arrays = [np.arange(12, dtype=np.int32).reshape(3, 4), np.arange(35, dtype=np.int32).reshape(7, 5).T]
    y = np.zeros((2, 3), np.int32)
    tileref.cutile.launch(1, kernels.extents, (arrays, y))
    assert y.tolist() == [[3, 4, 5], [5, 7, 6]]


def test_an_array_may_be_in_a_list_twice_and_an_argument_too() -> None:
    x = floats(16)
    before = x.copy()
    tileref.cutile.launch(1, kernels.pick, ([x, x], [x, x], 0, 16))
    assert x[1:].tolist() == (before * 4)[1:].tolist()


def test_the_length_of_a_list_is_not_compiled_in() -> None:
    def module(count: int, step: int = 1) -> Any:
        arrays = [floats(16 * step)[::step] for _ in range(count)]
        return tileref.cutile.compile_kernel(kernels.pick, (arrays, [floats(16)], 0, 16)).module

    assert module(2) is module(3)
    assert module(2, 2) is not module(2)


def test_undefined_behaviour_names_the_item() -> None:
    arrays = [np.zeros(8, np.float32), np.zeros(8, np.float32)]
    at = np.array([0, 1, 2, 100], np.int32)
    result = tileref.cutile.launch(1, kernels.scatter_past, (arrays, at))
    [event] = result.undefined
    assert event.kind == "out-of-range-store"
    assert event.buffer == 1
    assert event.index == 100
    assert "argument arrays[1]" in event.message
    assert arrays[1].tolist() == [1, 1, 1, 0, 0, 0, 0, 0]


def test_undefined_elements_are_those_of_the_item() -> None:
    arrays = [np.zeros(4, np.float32), np.zeros((4, 2), np.float32)[:, 0]]
    at = np.array([0, 900, 2, 3], np.int32)
    result = tileref.cutile.launch(1, kernels.gather_into, (floats(8), at, arrays))
    assert {n: mask.tolist() for n, mask in result.undefined_elements.items()} == {
        3: [False, True, False, False]
    }


def test_a_list_that_the_index_leaves() -> None:
    y = [np.zeros(16, np.float32)]
    result = tileref.cutile.launch(1, kernels.pick, ([floats(16)], y, 5, 16))
    assert {event.kind for event in result.undefined} >= {"undefined-value"}


def test_constants_in_tuples() -> None:
    for count, value in ((4, 0.5), (8, 2.0)):
        y = np.zeros(8, np.float32)
        tileref.cutile.launch(1, kernels.pairs, ((count, value), y))
        assert y.tolist() == [value] * count + [0.0] * (8 - count)


def test_tuples_of_any_length() -> None:
    for factors in ((1.5,), (1.5, 2.0, 4.0)):
        y = np.zeros(1, np.float32)
        tileref.cutile.launch(1, kernels.each, (factors, y))
        assert y[0] == sum(factors)
    with pytest.raises(ArgumentError) as caught:
        tileref.cutile.launch(1, kernels.each, (1.5, np.zeros(1, np.float32)))
    assert caught.value.rule == "argument-type"
