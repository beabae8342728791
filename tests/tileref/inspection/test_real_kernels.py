"""Kernels of the corpus and of cuda-tile, looked into: their values against numpy's."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileref
from corpora.manifest import load
from tileref.inspection import Callback, Event, Trace


def launch(name: str, **looks: Any) -> tuple[list[Any], tileref.LaunchResult]:
    (case,) = load([name])
    args = case.arguments()
    return args, tileref.launch(case.kernel, case.grid, args, entry=case.entry, **looks)


def test_softmax_value_by_value(tmp_path: Path) -> None:
    args, result = launch("model/softmax_f32", probe={"!constant": f"{tmp_path}/"})

    def value(name: str) -> np.ndarray:
        found: np.ndarray = np.load(tmp_path / f"{name}.npz")["data"]
        return found

    x, top, total = value("tile"), value("reduce"), value("reduce_8")
    assert len(x) == np.prod(result.grid)
    np.testing.assert_array_equal(top, x.max(axis=2))
    np.testing.assert_array_equal(value("1"), x - top[..., None])
    np.testing.assert_allclose(value("2"), np.exp((x - top[..., None]).astype(np.float64)), rtol=2**-23)
    # numpy's running sum adds one element after the other, as the model's left fold does.
    np.testing.assert_array_equal(total, np.cumsum(value("2"), axis=2)[..., -1])
    np.testing.assert_array_equal(value("3"), value("2") / total[..., None])
    plain, _ = launch("model/softmax_f32")
    for looked, not_looked in zip(args, plain, strict=True):
        np.testing.assert_array_equal(looked, not_looked)


@pytest.mark.parametrize("name", ["model/attention_f16", "model/attention_bf16"])
def test_attention_turn_by_turn(name: str) -> None:
    """The running maximum of each block, and what is subtracted for it."""
    values: dict[tuple[str, tuple[int, ...]], np.ndarray] = {}

    def note(event: Event) -> None:
        for seen in (*event.operands, *event.results):
            if seen.data is not None:
                values[seen.name, event.iteration] = seen.data

    launch(name, observe=Callback(note, "for maxf subf mulf exp2 fma mmaf"))
    turns = sorted({i for _, i in values if i})
    assert turns == [(0,), (1,), (2,), (3,)]
    for turn in turns:
        scores, before, top = (values[n, turn] for n in ("%7", "%iterArg1", "%8"))
        np.testing.assert_array_equal(top, np.maximum(before, scores.max(axis=2, keepdims=True)))
        np.testing.assert_array_equal(values["%9", turn], scores - top)
        if turn != (0,):
            np.testing.assert_array_equal(before, values["%8", (turn[0] - 1,)])
        weights = np.exp2(values["%9", turn].astype(np.float64))
        np.testing.assert_allclose(values["%10", turn], weights, rtol=2**-22)
        np.testing.assert_allclose(values["%6", turn] * values["%bcast", turn], scores, rtol=2**-22)
    np.testing.assert_array_equal(values["%for#1", ()], values["%8", (3,)])


@pytest.mark.parametrize("name", ["wait/look_back_i32", "loop/collatz_i32", "reduce/sum_f16_2048"])
@pytest.mark.parametrize("model", ["spec", "sm_90"])
def test_looking_changes_nothing(name: str, model: str, tmp_path: Path) -> None:
    plain, without = launch(name, model=model)
    stream = io.StringIO()
    events: list[str] = []
    looked, result = launch(
        name,
        model=model,
        observe=[lambda event: events.append(event.name), Trace("changed", to=stream)],
        lint="lost-addend",
        probe={"bodies block=0": f"{tmp_path}/"},
    )
    for a, b in zip(plain, looked, strict=True):
        np.testing.assert_array_equal(np.atleast_1d(a).view(np.uint8), np.atleast_1d(b).view(np.uint8))
    assert result.undefined == without.undefined
    assert "return" in events
    assert list(tmp_path.iterdir())


def test_source_lines_of_a_corpus_kernel() -> None:
    """The line of its Python file says what happens in it."""
    stream = io.StringIO()
    launch(
        "model/softmax_f32", trace=Trace("corpora/sources/models.py:16-17 exp subf divf block=0", to=stream)
    )
    source = (Path(__file__).parents[3] / "corpora" / "sources" / "models.py").read_text().splitlines()
    for line in stream.getvalue().splitlines():
        file, number, _ = line.split(" ")[0].split(":")
        assert file == "corpora/sources/models.py"
        expected = "ct.exp(row - " if " = divf" not in line else "e / ct.sum(e"
        assert expected in source[int(number) - 1]
    assert len(stream.getvalue().splitlines()) == 3


def test_a_kernel_of_cuda_tile() -> None:
    pytest.importorskip("cuda.tile")
    import tileref.cutile
    from tests.tileref import cutile_kernels

    lines = Path(cutile_kernels.__file__).read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if "* factor + shift" in text)
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    args = (x, y, 0.5, 2.0, True, 2**33, 16)
    found: dict[int, np.ndarray] = {}

    def note(event: Event) -> None:
        assert event.location is not None
        assert event.location.split(":")[0].endswith("cutile_kernels.py")
        data = event.results[0].data
        assert data is not None
        found.update(zip(event.blocks.tolist(), data, strict=True))

    callback = Callback(note, f"cutile_kernels.py:{line} fma")
    tileref.cutile.launch((4,), cutile_kernels.scale, args, observe=callback, blocks="1-3")
    assert sorted(found) == [1, 2, 3]
    for block, values in found.items():
        np.testing.assert_array_equal(values, x.reshape(4, 16)[block] * np.float32(0.5) + np.float32(2))
    np.testing.assert_array_equal(y[:16], 0)
    np.testing.assert_array_equal(y[16:], -(x[16:] * 0.5 + 2) + 2)
    y[:] = 0
    assert tileref.cutile.estimate((4,), cutile_kernels.scale, args).blocks == 4
    assert not y.any()
