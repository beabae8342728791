"""cuda-tile kernels on numpy arrays and torch tensors."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileref.cutile
from tileir.errors import ArgumentError, TileError
from tileref.cutile import arrays, parameters

ct: Any = pytest.importorskip("cuda.tile")
from tests.tileref import cutile_kernels as kernels  # noqa: E402

RNG = np.random.Generator(np.random.PCG64(11))


def floats(*shape: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return RNG.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_adds(dtype: Any) -> None:
    x, y = floats(1000, dtype=dtype), floats(1000, dtype=dtype)
    z = np.zeros_like(x)
    result = tileref.cutile.launch((8,), kernels.add, (x, y, z, 128), model="sm_90")
    assert z.tobytes() == (x + y).tobytes()
    assert result.model == "sm_90"
    assert result.entry == "add"
    assert not result.undefined


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers(dtype: str) -> None:
    x = RNG.integers(0, 100, 256).astype(dtype)
    z = np.zeros_like(x)
    tileref.cutile.launch(2, kernels.add, (x, x, z, 128))
    assert (z == x + x).all()


def test_booleans_and_narrow_floats_move() -> None:
    for x in (RNG.random((16, 32)) < 0.5, floats(16, 32, dtype=ml_dtypes.float8_e4m3fn)):
        y = np.zeros_like(x)
        tileref.cutile.launch((2, 2), kernels.copy, (x, y, 8, 16))
        assert (x == y).all()


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[3:, 1:],
        lambda a: a[::2, ::3],
        lambda a: a[:, 5:6],
        lambda a: np.asfortranarray(a),
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: a[:0],
    ],
    ids=["C", "transposed", "offset", "steps", "column", "F", "broadcast", "empty"],
)
def test_views_are_read_and_written_in_place(view: Any) -> None:
    whole = floats(40, 48)
    x = view(whole)
    backing = np.full((*(s + 2 for s in x.shape),), 7.0, np.float32)
    y = backing[1:-1, 1:-1] if x.size else backing
    result = tileref.cutile.launch((6, 3), kernels.copy, (x, y[: x.shape[0], : x.shape[1]], 8, 16))
    assert (y[: x.shape[0], : x.shape[1]] == x).all()
    assert backing[0].tolist() == [7.0] * backing.shape[1]
    assert backing[-1].tolist() == [7.0] * backing.shape[1]
    assert not result.undefined


def test_numbers_of_every_kind() -> None:
    # Exact, because cuda-tile's compiler may fuse a multiplication with an addition.
    x = np.arange(64, dtype=np.float32)
    y = np.zeros_like(x)
    for flag in (True, False):
        tileref.cutile.launch((4,), kernels.scale, (x, y, 0.5, 3, flag, 5 << 32, 16))
        expected = x * np.float32(0.5) + np.float32(3)
        assert (y == (-expected if flag else expected) + np.float32(5)).all()


def test_tuples() -> None:
    inputs = (floats(64), floats(64), floats(64))
    y = np.zeros(64, np.float32)
    tileref.cutile.launch((4,), kernels.add_all, (inputs, y, 16))
    assert (y == (inputs[0] + inputs[1]) + inputs[2]).all()


def takes_types() -> bool:
    """Whether this version of cuda-tile takes types as constants of a kernel."""
    from cuda.tile._cext import classify_constant

    return classify_constant(ct.float16, True) is not None


def test_types_as_constants() -> None:
    x = floats(64)
    y = np.zeros(64, np.float16)
    if takes_types():
        tileref.cutile.launch((4,), kernels.convert, (x, y, ct.float16, 16))
        assert (y == x.astype(np.float16)).all()
    else:
        with pytest.raises(ArgumentError, match="dtype is a constant"):
            tileref.cutile.launch((4,), kernels.convert, (x, y, ct.float16, 16))


def test_extents_as_constants() -> None:
    for extent in (8, 32):
        x = floats(extent)
        y = np.zeros_like(x)
        tileref.cutile.launch((1,), kernels.whole, (x, y))
        assert (y == x * 2).all()


def test_prints() -> None:
    result = tileref.cutile.launch((2,), kernels.says, (floats(32), 16))
    assert result.prints == ["block 0\n", "block 1\n"]


def test_a_kernel_is_compiled_once_for_like_arguments() -> None:
    def bytecode(n: int, tile: int, dtype: Any = np.float32) -> Any:
        args = [floats(n, dtype=dtype) for _ in range(3)]
        return tileref.cutile.compile_kernel(kernels.add, (*args, tile))

    first = bytecode(1024, 128)
    assert bytecode(2048, 128) is first
    assert bytecode(1024, 64) is not first
    assert bytecode(1000, 128) is not first
    assert bytecode(1024, 128, np.float16) is not first
    again = ct.kernel(kernels.add._annotated_function.pyfunc)
    other = tileref.cutile.compile_kernel(again, (*(floats(1024) for _ in range(3)), 128))
    assert other is not first
    assert other.module is first.module


def test_true_and_one_are_different_constants() -> None:
    one, true = parameters.ConstantArgument("n", 1), parameters.ConstantArgument("n", True)
    assert one.assumed != true.assumed != parameters.ConstantArgument("n", 1.0).assumed
    nan = parameters.ConstantArgument("n", float("nan"))
    assert nan.assumed == parameters.ConstantArgument("n", float("nan")).assumed


def test_undefined_behaviour_names_the_parameter() -> None:
    x, at, y = floats(64), np.array([0, 1, 2, 900], np.int32), np.zeros(4, np.float32)
    result = tileref.cutile.launch((1,), kernels.gather, (x, at, y, 4))
    event = next(e for e in result.undefined if e.kind == "out-of-range-load")
    assert event.buffer == 0
    assert event.index == 900
    assert "argument x" in event.message
    assert result.undefined_elements[2].tolist() == [False, False, False, True]


@pytest.mark.parametrize(
    ("args", "rule"),
    [
        ((np.zeros(8), np.zeros(8), 4), "argument-count"),
        ((np.zeros(8), np.zeros(8), "text", 4), "argument-type"),
        ((np.zeros(8), np.zeros(8), np.zeros(8, complex), 4), "argument-type"),
        ((np.zeros(8), np.zeros(8), np.zeros(8)[::-1], 4), "argument-layout"),
        ((np.zeros(8), np.zeros(8), [], 4), "argument-list"),
        ((np.zeros(8), np.zeros(8), [1, 2], 4), "argument-type"),
        ((np.zeros(8), np.zeros(8), [np.zeros(8), np.zeros(8, np.float32)], 4), "argument-list"),
        ((np.zeros(8), np.zeros(8), [np.zeros(8), np.zeros((8, 8))], 4), "argument-list"),
        ((np.zeros(8), np.zeros(8), 1 << 31, 4), "argument-range"),
    ],
)
def test_arguments_that_are_refused(args: Any, rule: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        tileref.cutile.launch((1,), kernels.add, args)
    assert caught.value.rule == rule


def test_only_kernels_are_launched() -> None:
    with pytest.raises(ArgumentError) as caught:
        tileref.cutile.launch((1,), lambda x: x, (np.zeros(8),))
    assert caught.value.rule == "kernel-type"


def test_without_cuda_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    from tileref.cutile import compiling

    monkeypatch.setattr(compiling, "find_spec", lambda _: None)
    with pytest.raises(TileError, match=r"pip install") as caught:
        tileref.cutile.launch((1,), kernels.add, ())
    assert caught.value.rule == "cutile-missing"


def test_importing_needs_no_cuda_tile() -> None:
    code = "import sys, tileref.cutile; sys.exit('cuda.tile' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestTorch:
    """Tensors, where torch is installed."""

    @pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "float64"])
    def test_tensors(self, name: str) -> None:
        torch = pytest.importorskip("torch")
        dtype = getattr(torch, name)
        x = torch.randn(256, dtype=torch.float32).to(dtype)
        z = torch.zeros_like(x)
        tileref.cutile.launch((2,), kernels.add, (x, x, z, 128))
        assert torch.equal(z, x + x)

    def test_views(self) -> None:
        torch = pytest.importorskip("torch")
        x = torch.randn(48, 32).T
        y = torch.zeros(34, 50)[1:33, 1:49]
        tileref.cutile.launch((4, 3), kernels.copy, (x, y, 8, 16))
        assert torch.equal(x, y)

    @pytest.mark.skipif(not takes_types(), reason="this cuda-tile takes no types as constants")
    def test_types_as_constants(self) -> None:
        torch = pytest.importorskip("torch")
        x = torch.randn(64)
        y = torch.zeros(64, dtype=torch.bfloat16)
        tileref.cutile.launch((4,), kernels.convert, (x, y, torch.bfloat16, 16))
        assert torch.equal(y, x.to(torch.bfloat16))


class WithDlpack:
    """An array of some other library."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_dlpack() -> None:
    x, z = floats(64), np.zeros(64, np.float32)
    tileref.cutile.launch((4,), kernels.add, (WithDlpack(x), x, WithDlpack(z), 16))
    assert (z == x + x).all()


def test_memory_of_an_array_with_gaps() -> None:
    whole = np.arange(24.0).reshape(4, 6)
    part = whole[1:3, 2:5:2]
    strides = arrays.strides_of(part, "part")
    flat = arrays.memory_of(part, strides)
    assert flat.tolist() == list(range(8, 17))
    assert (arrays.shaped(flat, part.shape, strides) == part).all()
    flat[0] = -1
    assert whole[1, 2] == -1


def test_two_models_compared_in_terms_of_the_parameters() -> None:
    x = floats(16, 256)
    memory = np.full((16, 3), 7.0, np.float32)
    sums = memory[:, 1:2]
    found = tileref.cutile.compare((16,), kernels.row_sums, (x, sums, 256))
    [end] = found.arguments.values()
    spec, gpu = np.zeros((16, 1), np.float32), np.zeros((16, 1), np.float32)
    tileref.cutile.launch((16,), kernels.row_sums, (x, spec, 256), model="spec")
    tileref.cutile.launch((16,), kernels.row_sums, (x, gpu, 256), model="sm_90")
    assert (spec != gpu).any()
    assert list(found.arguments) == [1]
    assert end.name == "y"
    assert (end.lanes == (spec != gpu)).all()
    assert end.values == (str(spec[end.index]), str(gpu[end.index]))
    assert [p.operation for p in found.origins] == ["reduce"]
    # The arrays stay as they are.
    assert (memory == 7).all()
