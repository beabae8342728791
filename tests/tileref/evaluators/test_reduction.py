"""Reductions and scans against folds in Python, and the orders against themselves written out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.tileref.kernels import apply
from tests.tileref.operations import operation
from tests.tileref.support import bits, run
from tileref.numerics.formats import FORMATS

RNG = np.random.Generator(np.random.PCG64(7))
Fold = Callable[[list[np.float32]], np.float32]


def kernel(shape: tuple[int, ...], dim: int, *, scan: bool, reverse: bool = False, body: str = "addf") -> str:
    """A kernel that reads a tile of ``shape``, folds it along ``dim`` and writes the result."""
    whole = "x".join(map(str, shape))
    kept = list(shape) if scan else [e for i, e in enumerate(shape) if i != dim] or [1]
    out = "x".join(map(str, kept))
    result = f"tile<{out}xf32>" if scan or len(shape) > 1 else "tile<f32>"

    def view(name: str, extents: list[int]) -> tuple[str, str]:
        strides = [1]
        for e in extents[:0:-1]:
            strides.insert(0, strides[0] * e)
        text = "x".join(map(str, extents))
        tensor = f"tensor_view<{text}xf32, strides=[{','.join(map(str, strides))}]>"
        part = f"partition_view<tile=({text}), {tensor}>"
        shape_, strides_ = ", ".join(map(str, extents)), ", ".join(map(str, strides))
        make = f"""
      %t{name} = make_tensor_view %{name}, shape = [{shape_}], strides = [{strides_}] : {tensor}
      %v{name} = make_partition_view %t{name} : {part}
        """
        return part, make

    source, make_a = view("a", list(shape))
    target, make_b = view("b", kept)
    zeros_a = ", ".join(["%zero"] * len(shape))
    zeros_b = ", ".join(["%zero"] * len(kept))
    operation = f"scan %x dim={dim} reverse={str(reverse).lower()}" if scan else f"reduce %x dim={dim}"
    return f"""
    entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {{
      %zero = constant <i32: 0> : tile<i32>
      {make_a}
      {make_b}
      %x, %t0 = load_view_tko weak %va[{zeros_a}] : {source}, tile<i32> -> tile<{whole}xf32>, token
      %r = {operation} identities=[0.000000e+00 : f32] : tile<{whole}xf32> -> {result}
      (%l: tile<f32>, %e: tile<f32>) {{
        %s = {body} %l, %e : tile<f32>
        yield %s : tile<f32>
      }}
      %w = reshape %r : {result} -> tile<{out}xf32>
      %t1 = store_view_tko weak %w, %vb[{zeros_b}] : tile<{out}xf32>, {target}, tile<i32> -> token
      return
    }}
    """


def left(values: list[np.float32]) -> np.float32:
    total = values[0]
    for v in values[1:]:
        total = np.float32(total + v)
    return total


def halves(values: list[np.float32]) -> np.float32:
    while len(values) > 1:
        half = len(values) // 2
        values = [np.float32(values[i] + values[i + half]) for i in range(half)]
    return values[0]


def threads(lanes: int, warps: int) -> Fold:
    """Element i belongs to thread i modulo all; lanes of a warp fold by halves, then warps by halves."""

    def fold(values: list[np.float32]) -> np.float32:
        own = [left(values[i :: lanes * warps]) for i in range(lanes * warps)]
        return halves([halves(own[i : i + lanes]) for i in range(0, len(own), lanes)])

    return fold


def kogge_stone(segment: int) -> Callable[[list[np.float32]], list[np.float32]]:
    """Within segments of neighbours, then a running sum of their totals."""

    def scan(values: list[np.float32]) -> list[np.float32]:
        done: list[np.float32] = []
        before: np.float32 | None = None
        for first in range(0, len(values), segment):
            part = values[first : first + segment]
            distance = 1
            while distance < len(part):
                part = [
                    np.float32(part[i - distance] + part[i]) if i >= distance else part[i]
                    for i in range(len(part))
                ]
                distance *= 2
            done += part if before is None else [np.float32(before + p) for p in part]
            before = part[-1] if before is None else np.float32(before + part[-1])
        return done

    return scan


def running(values: list[np.float32]) -> list[np.float32]:
    return [left(values[: i + 1]) for i in range(len(values))]


def rough(shape: tuple[int, ...]) -> np.ndarray:
    return (RNG.standard_normal(shape) * 10.0 ** RNG.integers(-4, 5, shape)).astype(np.float32)


@operation("reduce", oracle="numpy")
@pytest.mark.parametrize(
    ("model", "shape", "dim", "fold"),
    [
        ("spec", (64,), 0, left),
        ("spec", (8, 16), 0, left),
        ("spec", (8, 16), 1, left),
        ("spec", (4, 8, 2), 1, left),
        ("sm_90", (16,), 0, threads(16, 1)),
        ("sm_90", (1, 64), 1, threads(32, 2)),
        ("sm_90", (1, 1024), 1, threads(32, 4)),
        ("sm_90", (1024,), 0, threads(32, 4)),
        ("sm_90", (128, 32), 0, threads(32, 4)),
        ("sm_90", (128, 32), 1, threads(1, 1)),
        ("sm_90", (64, 32), 1, threads(1, 2)),
        ("sm_90", (16, 16), 1, threads(2, 4)),
        ("sm_90", (2, 128), 1, threads(16, 4)),
        ("sm_90", (16, 4, 64), 2, threads(1, 2)),
    ],
)
def test_the_order_of_a_reduction(model: str, shape: tuple[int, ...], dim: int, fold: Fold) -> None:
    source = rough(shape)
    expected = np.apply_along_axis(lambda v: fold(list(v)), dim, source).astype(np.float32)
    out = np.zeros(expected.shape or (1,), np.float32)
    run(kernel(shape, dim, scan=False), 1, [source, out], model=model)
    np.testing.assert_array_equal(bits(out).ravel(), bits(np.atleast_1d(expected)).ravel())


SHAPES = [((64,), 0, 32), ((16,), 0, 16), ((4, 32), 1, 8), ((128, 2), 0, 32), ((32, 8), 1, 1)]


@operation("scan", oracle="numpy")
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("model", ["spec", "sm_90"])
@pytest.mark.parametrize(("shape", "dim", "lanes"), SHAPES)
def test_the_order_of_a_scan(model: str, shape: tuple[int, ...], dim: int, lanes: int, reverse: bool) -> None:
    scan = running if model == "spec" else kogge_stone(lanes)
    source = rough(shape)

    def one(row: np.ndarray) -> np.ndarray:
        values = list(row[::-1] if reverse else row)
        done = np.array(scan(values), np.float32)
        return done[::-1] if reverse else done

    expected = np.apply_along_axis(one, dim, source)
    out = np.zeros(shape, np.float32)
    run(kernel(shape, dim, scan=True, reverse=reverse), 1, [source, out], model=model)
    np.testing.assert_array_equal(bits(out), bits(np.ascontiguousarray(expected)))


@pytest.mark.parametrize("model", ["spec", "sm_90"])
@pytest.mark.parametrize("body", ["maxf", "minf"])
def test_extremes_keep_signed_zeros_and_pass_over_nans(model: str, body: str) -> None:
    rows = np.array(
        [
            [0.0, -0.0, -0.0, 0.0],
            [np.nan, 1.0, -3.0, np.nan],
            [np.nan, np.nan, np.nan, np.nan],
            [-np.inf, np.inf, 0.0, 1.0],
        ],
        np.float32,
    )
    out = np.zeros(4, np.float32)
    run(kernel((4, 4), 1, scan=False, body=body), 1, [rows, out], model=model)
    expected = [0.0, 1.0, None, np.inf] if body == "maxf" else [-0.0, -3.0, None, -np.inf]
    for got, want in zip(out, expected, strict=True):
        if want is None:
            assert np.isnan(got)
        else:
            assert bits(got) == bits(np.float32(want))


def test_the_accumulator_comes_first_and_the_identity_is_not_folded_in() -> None:
    for which, expected in (("%l", 0.5), ("%e", 7.5)):
        text = (
            kernel((8,), 0, scan=False)
            .replace("%s = addf %l, %e : tile<f32>", "")
            .replace("yield %s", f"yield {which}")
        )
        text = text.replace("0.000000e+00 : f32", "9.000000e+01 : f32")
        out = np.zeros(1, np.float32)
        run(text, 1, [np.arange(8, dtype=np.float32) + 0.5, out])
        assert out[0] == expected


@operation("reduce", oracle="numpy")
def test_two_operands_travel_together_as_an_argmax_needs() -> None:
    text = """
    entry @k(%a: tile<ptr<f32>>, %v: tile<ptr<f32>>, %i: tile<ptr<i32>>) {
      %x, %y, %z = get_tile_block_id : tile<i32>
      %n = constant <i32: 16> : tile<i32>
      %lanes = iota : tile<16xi32>
      %first = muli %x, %n : tile<i32>
      %f1 = reshape %first : tile<i32> -> tile<1xi32>
      %fn = broadcast %f1 : tile<1xi32> -> tile<16xi32>
      %at = addi %fn, %lanes : tile<16xi32>
      %a1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
      %an = broadcast %a1 : tile<1xptr<f32>> -> tile<16xptr<f32>>
      %from = offset %an, %at : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
      %w, %t = load_ptr_tko weak %from : tile<16xptr<f32>> -> tile<16xf32>, token
      %best, %where = reduce %w, %lanes dim=0 identities=[0xFF800000 : f32, 0 : i32]
          : tile<16xf32>, tile<16xi32> -> tile<f32>, tile<i32>
      (%bv: tile<f32>, %ev: tile<f32>, %bi: tile<i32>, %ei: tile<i32>) {
        %later = cmpf greater_than ordered %ev, %bv : tile<f32> -> tile<i1>
        %nv = select %later, %ev, %bv : tile<i1>, tile<f32>
        %ni = if %later -> (tile<i32>) {
          %q = addi %ei, %x : tile<i32>
          %p = subi %q, %x : tile<i32>
          yield %p : tile<i32>
        } else {
          yield %bi : tile<i32>
        }
        yield %nv, %ni : tile<f32>, tile<i32>
      }
      %pv = offset %v, %x : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %pi = offset %i, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %t1 = store_ptr_tko weak %pv, %best : tile<ptr<f32>>, tile<f32> -> token
      %t2 = store_ptr_tko weak %pi, %where : tile<ptr<i32>>, tile<i32> -> token
      return
    }
    """
    source = RNG.standard_normal((5, 16)).astype(np.float32)
    values, places = np.zeros(5, np.float32), np.zeros(5, np.int32)
    run(text, 5, [source, values, places])
    np.testing.assert_array_equal(values, source.max(axis=1))
    np.testing.assert_array_equal(places, source.argmax(axis=1))


@operation("scan", oracle="numpy")
def test_a_scan_whose_body_is_not_commutative() -> None:
    """h[i] = a[i] * h[i-1] + b[i], as pairs of a coefficient and an addend."""
    text = """
    entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %h: tile<ptr<f32>>) {
      %lanes = iota : tile<8xi32>
      %a1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
      %an = broadcast %a1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
      %pa = offset %an, %lanes : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
      %b1 = reshape %b : tile<ptr<f32>> -> tile<1xptr<f32>>
      %bn = broadcast %b1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
      %pb = offset %bn, %lanes : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
      %h1 = reshape %h : tile<ptr<f32>> -> tile<1xptr<f32>>
      %hn = broadcast %h1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
      %ph = offset %hn, %lanes : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
      %x, %t0 = load_ptr_tko weak %pa : tile<8xptr<f32>> -> tile<8xf32>, token
      %y, %t1 = load_ptr_tko weak %pb : tile<8xptr<f32>> -> tile<8xf32>, token
      %c, %v = scan %x, %y dim=0 reverse=false identities=[1.000000e+00 : f32, 0.000000e+00 : f32]
          : tile<8xf32>, tile<8xf32> -> tile<8xf32>, tile<8xf32>
      (%cl: tile<f32>, %cr: tile<f32>, %vl: tile<f32>, %vr: tile<f32>) {
        %cc = mulf %cl, %cr : tile<f32>
        %m = mulf %cr, %vl : tile<f32>
        %vv = addf %m, %vr : tile<f32>
        yield %cc, %vv : tile<f32>, tile<f32>
      }
      %t2 = store_ptr_tko weak %ph, %v : tile<8xptr<f32>>, tile<8xf32> -> token
      return
    }
    """
    a = np.array([2, 3, -1, 0, 5, 2, 2, -3], np.float32)
    b = np.array([1, -1, 2, 7, 1, 0, -2, 4], np.float32)
    expected, h = [], np.float32(0)
    for c, d in zip(a, b, strict=True):
        h = np.float32(c * h + d)
        expected.append(h)
    for model in ("spec", "sm_90"):
        out = np.zeros(8, np.float32)
        run(text, 1, [a, b, out], model=model)
        np.testing.assert_array_equal(out, expected)


def test_an_undefined_element_takes_its_own_fold_alone() -> None:
    text = """
    entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>) {
      %zero = constant <i32: 0> : tile<i32>
      %ta = make_tensor_view %a, shape = [4, 8], strides = [8, 1] : tensor_view<4x8xi32, strides=[8,1]>
      %va = make_partition_view %ta : partition_view<tile=(4x8), tensor_view<4x8xi32, strides=[8,1]>>
      %tb = make_tensor_view %b, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
      %vb = make_partition_view %tb : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
      %x, %t0 = load_view_tko weak %va[%zero, %zero]
          : partition_view<tile=(4x8), tensor_view<4x8xi32, strides=[8,1]>>, tile<i32> -> tile<4x8xi32>, token
      %h = constant <i32: 100> : tile<4x8xi32>
      %q = divi %h, %x signed : tile<4x8xi32>
      %r = reduce %q dim=1 identities=[0 : i32] : tile<4x8xi32> -> tile<4xi32>
      (%l: tile<i32>, %e: tile<i32>) {
        %s = addi %l, %e : tile<i32>
        yield %s : tile<i32>
      }
      %t1 = store_view_tko weak %r, %vb[%zero]
          : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
      return
    }
    """
    source = np.full((4, 8), 5, np.int32)
    source[2, 3] = 0
    out = np.zeros(4, np.int32)
    result = run(text, 1, [source, out])
    np.testing.assert_array_equal(result.undefined_elements[1], [False, False, True, False])
    np.testing.assert_array_equal(out[[0, 1, 3]], 160)


FOLDS: dict[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "muli": lambda a, b: a * b,
    "andi": lambda a, b: a & b,
    "xori": lambda a, b: a ^ b,
    "maxi signed": max,
    "subi": lambda a, b: a - b,
}


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=operation(k, oracle="numpy")) for k in ("reduce", "scan")]
)
@pytest.mark.parametrize("body", FOLDS)
@pytest.mark.parametrize("element", ["i1", "i8", "i16", "i32", "i64"])
def test_integers_of_every_width(element: str, body: str, kind: str) -> None:
    if body == "subi" and kind == "reduce":
        body = "addi"
    width = FORMATS[element].width
    rng = np.random.default_rng(5)
    given = np.frombuffer(
        rng.bytes(64 * max(1, width // 8)), FORMATS[element].dtype if width > 1 else np.int8
    )
    given = given[:64] & 1 == 1 if width == 1 else given[:64].copy()
    name, *how = body.split()
    types = f"tile<{element}>"
    fold = f"{name} %p0, %q0 {' '.join(how)} : {types}"
    identity = "false" if element == "i1" else f"0 : {element}"
    reverse = "reverse=false " if kind == "scan" else ""
    text = (
        f"{kind} %a dim=1 {reverse}identities=[{identity}] : {{A}} -> {{R}}"
        f" (%p0: {types}, %q0: {types}) {{{{ %s0 = {fold} yield %s0 : {types} }}}}"
    )
    after = (4,) if kind == "reduce" else (4, 8)
    found = apply(text, [given], [element], element, (4, 8), after).array

    def signed(value: int) -> int:
        value &= (1 << width) - 1
        return value - (1 << width) if value >> (width - 1) else value

    expected: list[int] = []
    for row in given.astype(np.int64).reshape(-1, 8).tolist():
        total = signed(row[0])
        for k, value in enumerate(row):
            total = total if k == 0 else signed(FOLDS[body](total, signed(value)))
            if kind == "scan" or k == 7:
                expected.append(total & ((1 << width) - 1))
    assert [int(v) & ((1 << width) - 1) for v in found.astype(np.int64)] == expected


@operation("reduce", oracle="written")
@pytest.mark.parametrize(
    ("element", "given", "identity", "reported"),
    [
        ("f16", "bf16", "0.0", False),
        ("f16", "bf16", "0.5", True),
        ("bf16", "f16", "0.0", False),
        ("bf16", "f16", "0.5", True),
    ],
)
def test_f16_and_bf16_stand_for_each_other_in_identities(
    element: str, given: str, identity: str, reported: bool
) -> None:
    text = (
        f"reduce %a dim=0 identities=[{identity} : {given}] : {{A}} -> {{R}} "
        f"(%p: tile<{element}>, %q: tile<{element}>) {{{{ %s = addf %p, %q : tile<{element}> yield %s : tile<{element}> }}}}"
    )
    values = np.arange(16).astype(FORMATS[element].dtype)
    found = apply(text, [values], [element], shape=(8,), result_shape=())
    np.testing.assert_array_equal(found.array.astype(float), [28, 92])
    assert [u.kind for u in found.result.undefined] == (["identity"] if reported else [])
