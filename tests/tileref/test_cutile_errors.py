"""Arguments that no kernel takes: the exceptions that cuda-tile raises, each an error of ours as well."""

from __future__ import annotations

from collections import namedtuple
from typing import Annotated, Any

import numpy as np
import pytest

import tileref.cutile
from tileir.errors import ArgumentError

ct: Any = pytest.importorskip("cuda.tile")
from tests.tileref import cutile_kernels as kernels  # noqa: E402

X = np.zeros(256, np.float32)
Pair = namedtuple("Pair", "x y")


@ct.kernel
def twice_named(x: Annotated[object, ct.ArrayAnnotation(static_shape_dims=(0, -1))], y):
    """An annotation of a vector that names its one dimension twice."""


@ct.kernel
def wide(x: Annotated[object, ct.ArrayAnnotation(index_dtype=ct.int64)]):
    """Indexed with 64 bits."""


@pytest.mark.parametrize(
    ("kind", "grid", "kernel", "args", "message"),
    [
        (TypeError, (1,), "add", (X, X), "takes another number of arguments"),
        (TypeError, (1,), "add", (X, X, X, 128, 1), "takes another number of arguments"),
        (TypeError, (1,), "add", (X, X, "x", 128), "z is of a type that no kernel takes"),
        (TypeError, (1,), "add", (X, X, None, 128), "z is of a type that no kernel takes"),
        (TypeError, (1,), "pairs", ((1, 2.0, 3), X), "both is a tuple of another length"),
        (TypeError, (1,), "pairs", (1, X), "both is of a type"),
        (TypeError, (1,), "pairs", (Pair(1, 2.0), X), "both is of a type.*a plain tuple"),
        (TypeError, (1,), "extents", ([], X), "empty list"),
        (TypeError, (1,), "extents", ([X, np.zeros(3, np.int32)], X), "differ in type or rank"),
        (TypeError, (1,), "extents", ([X, np.zeros((3, 3), np.float32)], X), "differ in type or rank"),
        (ValueError, (1,), "whole", (np.zeros((), np.float32), X), "x has no dimension 0"),
        (ValueError, (1,), "add", (X[::-1], X, X, 128), "strides that no kernel takes"),
        (ValueError, (1, 1, 1, 1), "add", (X, X, X, 128), "one to three"),
        (ValueError, (1 << 24,), "add", (X, X, X, 128), "grid"),
        (OverflowError, (1,), "scale", (X, X, 1 << 31, 0.0, True, 1, 128), "factor does not fit int32"),
        (OverflowError, (1,), "scale", (X, X, 1.0, 0.0, True, 1 << 63, 128), "large does not fit int64"),
    ],
)
def test_what_cuda_tile_raises(kind: Any, grid: Any, kernel: str, args: Any, message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        tileref.cutile.launch(grid, getattr(kernels, kernel), args)
    assert isinstance(caught.value, ArgumentError)
    with tileref.cutile.emulating(), pytest.raises(kind, match=message):
        ct.launch(0, grid, getattr(kernels, kernel), args)


def test_a_dimension_that_is_named_twice() -> None:
    with pytest.raises(ValueError, match="names a dimension twice"):
        tileref.cutile.launch((1,), twice_named, (X, X))


@pytest.mark.parametrize("strides", [(1 << 34, 4), (4, 0)])
def test_extents_and_strides_that_an_index_of_32_bits_cannot_count(strides: tuple[int, int]) -> None:
    shape = (1, 64) if strides[0] > 4 else (1, 1 << 31)
    far = np.lib.stride_tricks.as_strided(X, shape, strides)
    with pytest.raises(
        OverflowError, match=r"x has an? (extent|stride) that does not fit int32.*index_dtype"
    ):
        tileref.cutile.launch((1,), kernels.copy, (far, X.reshape(16, 16), 16, 16))
    assert isinstance(tileref.cutile.compile_kernel(wide, (far,)), tileref.cutile.Compiled)


def test_a_launch_takes_tuples_and_a_grid_of_none_is_one_block() -> None:
    with tileref.cutile.emulating() as launches:
        with pytest.raises(TypeError, match="takes the grid as a tuple"):
            ct.launch(0, [2], kernels.add, (X, X, X.copy(), 128))
        with pytest.raises(TypeError, match="the arguments of the kernel as a tuple"):
            ct.launch(0, (2,), kernels.add, [X, X, X.copy(), 128])
        ct.launch(0, (), kernels.add, (X, X, X.copy(), 128))
    assert [launch.grid for launch in launches] == [(1, 1, 1)]


def test_signatures_and_the_capability_need_no_driver() -> None:
    from cuda.tile.compilation import CallingConvention, KernelSignature

    convention = CallingConvention.cutile_python_v2()
    with tileref.cutile.emulating(capability=(10, 0)):
        import cuda.tile._cext as extension

        assert extension.get_compute_capability() == (10, 0)
        found = KernelSignature.from_kernel_args(kernels.add, (X, X, X, 128), convention)
    assert len(found.parameters) == 4
    assert found.parameters[0].ndim == 1
    assert found.parameters[3].value == 128


def test_a_search_ends_where_a_grid_or_a_hint_raises() -> None:
    with tileref.cutile.emulating():
        y = np.zeros_like(X)

        def search(**options: Any) -> Any:
            given = {"grid_fn": lambda _: (2,), "kernel": kernels.add, "args_fn": lambda t: (X, X, y, t)}
            return ct.tune.exhaustive_search([100, 128], 0, **(given | options), quiet=True)

        found = search()
        assert found.best.config == 128
        assert [config for config, _, _ in found.failures] == [100]
        with pytest.raises(ZeroDivisionError):
            search(grid_fn=lambda _: (1 // 0,))
        with pytest.raises(TypeError, match="no_such_hint"):
            search(hints_fn=lambda _: {"no_such_hint": 1})
        # A grid that no launch takes is a failure of its configuration.
        found = search(grid_fn=lambda t: (1 << 24,) if t == 128 else (2,), args_fn=lambda t: (X, X, y, 64))
        assert [config for config, _, _ in found.failures] == []
        assert found.best.config == 100
        with pytest.raises(ValueError, match="search space is empty"):
            ct.tune.exhaustive_search([], 0, lambda _: (1,), kernels.add, lambda _: ())
