"""The command ``tileref``, run as a program is."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

import tileir
from tests.tileref.support import pointers
from tileir.errors import ArgumentError, TileError
from tileref import buffers
from tileref.cli import Code, main
from tileref.launching import launch

ADD = f"""
entry @add(%a: tile<ptr<f32>>, %n: tile<f32>, %b: tile<ptr<f32>>) {{
  %i = iota : tile<8xi32>
  {pointers("a", "pa", "f32", 8, "i")}
  {pointers("b", "pb", "f32", 8, "i")}
  %x, %t = load_ptr_tko weak %pa : tile<8xptr<f32>> -> tile<8xf32>, token
  %n1 = reshape %n : tile<f32> -> tile<1xf32>
  %n8 = broadcast %n1 : tile<1xf32> -> tile<8xf32>
  %s = addf %x, %n8 : tile<8xf32>
  %u = store_ptr_tko weak %pb, %s : tile<8xptr<f32>>, tile<8xf32> -> token
  return
}}
"""
SAYS = """
entry @says(%n: tile<i32>) {
  %t = print_tko "n is %d\\0A", %n : tile<i32> -> token
  %zero = constant <i32: 0> : tile<i32>
  %good = cmpi greater_than %n, %zero, signed : tile<i32> -> tile<i1>
  assert %good, "n is not positive" : tile<i1>
  return
}
"""


def run(*arguments: str, data: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, arguments, input=data)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def add(tmp_path: Path) -> str:
    path = tmp_path / "add.tilebc"
    path.write_bytes(tileir.write(tileir.parse(ADD)))
    return str(path)


def test_a_kernel_on_files(add: str, tmp_path: Path) -> None:
    source, target = tmp_path / "x.npy", tmp_path / "y.npy"
    x = np.arange(8, dtype=np.float32)
    np.save(source, x)
    code, out, err = run(
        "run", add, "--grid", "1", "--arg", str(source), "--arg", "f32:0.5", "--arg", "zeros:f32:8",
        "--out", f"2={target}", "--model", "sm_90", "--threads", "1",
    )  # fmt: skip
    assert (code, out) == (Code.DONE, "")
    assert "add on 1x1x1 blocks as sm_90" in err
    assert (np.load(target) == x + np.float32(0.5)).all()
    assert (np.load(source) == x).all()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["add.tilebc", "x.npy", "y.npy"]


def test_text_from_standard_input() -> None:
    arguments = ("--arg", "iota:f32:8", "--arg", "1", "--arg", "zeros:f32:8")
    code, out, _ = run("run", "-", "--grid", "1,1,1", *arguments, "--json", data=ADD)
    found = json.loads(out)
    assert code == Code.DONE
    assert found["entry"] == "add"
    assert found["grid"] == [1, 1, 1]
    assert found["undefined"] == []


def test_undefined_behaviour_is_said(add: str, tmp_path: Path) -> None:
    target = tmp_path / "y.npy"
    arguments = (
        "--grid",
        "1",
        "--arg",
        "iota:f32:4",
        "--arg",
        "0",
        "--arg",
        "zeros:f32:8",
        "--out",
        f"2={target}",
    )
    code, _, err = run("run", add, *arguments)
    assert code == Code.UNDEFINED
    assert "out-of-range-load" in err
    assert "argument 2: 4 elements have no defined value" in err
    assert np.load(target)[:4].tolist() == [0, 1, 2, 3]
    code, out, _ = run("run", add, *arguments, "--json")
    assert code == Code.UNDEFINED
    assert json.loads(out)["undefined"][0]["kind"] == "out-of-range-load"
    assert json.loads(out)["undefined_elements"] == {"2": 4}


def test_strict_stops_and_writes_nothing(add: str, tmp_path: Path) -> None:
    target = tmp_path / "y.npy"
    arguments = ("--grid", "1", "--arg", "iota:f32:4", "--arg", "0", "--arg", "zeros:f32:8")
    code, _, err = run("run", add, *arguments, "--out", f"2={target}", "--check", "strict")
    assert code == Code.UNDEFINED
    assert err.startswith("tileref: ")
    assert len(err.splitlines()) == 1
    assert not target.exists()
    code, _, _ = run("run", add, *arguments, "--check", "off")
    assert code == Code.DONE


def test_prints_and_assertions() -> None:
    code, out, err = run("run", "-", "--grid", "2", "--arg", "i32:7", data=SAYS)
    assert (code, out) == (Code.DONE, "n is 7\nn is 7\n")
    code, out, err = run("run", "-", "--grid", "1", "--arg", "i32:-7", data=SAYS)
    assert (code, out) == (Code.UNDEFINED, "n is -7\n")
    assert "n is not positive" in err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), Code.USAGE),
        (("--grid", "x"), Code.USAGE),
        (("--grid", "0"), Code.USAGE),
        (("--grid", "1"), Code.USAGE),
        (("--grid", "1", "--arg", "5", "--arg", "5", "--arg", "5"), Code.USAGE),
        (("--grid", "1", "--arg", "nonsense"), Code.USAGE),
        (("--grid", "1", "--arg", "no/such.npy"), Code.FILE),
        (("--grid", "1", "--out", "nonsense"), Code.USAGE),
        (("--grid", "1", "--arg", "5", "--out", "0=x.npy"), Code.USAGE),
        (("--grid", "1", "--model", "none"), Code.USAGE),
        (("--grid", "1", "--entry", "none"), Code.USAGE),
    ],
)
def test_what_is_wrong_is_one_line(add: str, arguments: tuple[str, ...], code: Code) -> None:
    found, out, err = run("run", add, *arguments)
    assert (found, out) == (code, "")
    assert "Traceback" not in err
    assert err


def test_files_that_are_no_kernels(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_bytes(b"\x7fTileIR\x00 and then nothing")
    assert run("run", str(bad), "--grid", "1")[0] == Code.REFUSED
    bad.write_text("entry of nothing")
    assert run("run", str(bad), "--grid", "1")[0] == Code.REFUSED
    bad.write_bytes(b"\xff\xfe")
    assert run("run", str(bad), "--grid", "1")[0] == Code.FILE
    assert run("run", str(tmp_path / "missing"), "--grid", "1")[0] == Code.FILE


def test_an_output_that_cannot_be_written(add: str, tmp_path: Path) -> None:
    arguments = ("--arg", "iota:f32:8", "--arg", "1", "--arg", "zeros:f32:8")
    code, _, err = run("run", add, "--grid", "1", *arguments, "--out", f"2={tmp_path / 'no' / 'y.npy'}")
    assert code == Code.FILE
    assert len(err.splitlines()) == 1


def test_models() -> None:
    code, out, _ = run("models")
    assert code == Code.DONE
    assert [line.split()[0] for line in out.splitlines()][:2] == ["spec", "sm_90"]
    assert set(json.loads(run("models", "--json")[1])) >= {"spec", "sm_90"}


def test_as_a_program() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", "tileref.cli", "--help"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0
    assert "Exit codes" in done.stdout


class TestArguments:
    """Arguments as text."""

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("5", 5),
            ("-0x10", -16),
            ("1.5", 1.5),
            ("i32:-5", np.int32(-5)),
            ("i8:255", np.int8(-1)),
            ("f16:0.1", np.float16(0.1)),
            ("bf16:1.5", ml_dtypes.bfloat16(1.5)),
            ("f64:inf", np.float64(np.inf)),
            ("i1:1", np.True_),
        ],
    )
    def test_numbers(self, text: str, value: Any) -> None:
        found = buffers.argument(text)
        assert found == value
        assert type(found) is type(value)

    @pytest.mark.parametrize(
        ("text", "dtype", "values"),
        [
            ("zeros:f32:2x2", np.float32, [[0, 0], [0, 0]]),
            ("iota:i32:4", np.int32, [0, 1, 2, 3]),
            ("iota:bf16:2x2", ml_dtypes.bfloat16, [[0, 1], [2, 3]]),
            ("iota:i1:3", np.bool_, [False, True, False]),
            ("fill:bf16:2:1.5", ml_dtypes.bfloat16, [1.5, 1.5]),
            ("fill:i64:2:-1", np.int64, [-1, -1]),
            ("zeros:f32:0", np.float32, []),
        ],
    )
    def test_made(self, text: str, dtype: Any, values: Any) -> None:
        found = buffers.argument(text)
        assert found.dtype == dtype
        assert found.tolist() == values

    def test_random(self) -> None:
        first, again = buffers.argument("random:f32:64x2:seed=1"), buffers.argument("random:f32:64x2:seed=1")
        assert first.shape == (64, 2)
        assert (first == again).all()
        assert (first != buffers.argument("random:f32:64x2:seed=2")).any()
        whole = buffers.argument("random:i8:4096")
        assert whole.dtype == np.int8
        assert (whole.min(), whole.max()) == (-128, 127)
        some = buffers.argument("random:i32:512:low=3:high=6")
        assert set(some.tolist()) == {3, 4, 5}
        uniform = buffers.argument("random:f16:512:low=-1:high=1")
        assert uniform.dtype == np.float16
        assert np.abs(uniform.astype(np.float32)).max() <= 1

    @pytest.mark.parametrize(
        "text",
        [
            "", "text", "zeros", "zeros:f32", "zeros:f33:4", "zeros:f32:4x", "zeros:f32:-4", "zeros:f32:4:5",
            "zeros:f32:99999999999x99999999999", "fill:f32:4", "fill:f32:4:x", "fill:i8:4:300", "i32:x",
            "random:f32:4:seed=x", "random:f32:4:seed=-1", "random:f32:4:low=1", "random:f32:4:low=2:high=1",
            "random:f32:4:other=1", "random:i8:4:low=0:high=1000", "f32:1:2", "i8:300",
            "random:i32:4:low=0:high=inf", "random:f32:4:low=-inf:high=0", "random:f64:4:low=-1e308:high=1e308",
            "random:i32:4:low=nan:high=nan", "zeros:i32:" + "1x" * 64 + "4",
        ],
    )  # fmt: skip
    def test_refused(self, text: str) -> None:
        with pytest.raises(ArgumentError):
            buffers.argument(text)

    def test_files(self, tmp_path: Path) -> None:
        path = tmp_path / "x.npy"
        values = np.array([1.5, -2.0, 0.0]).astype(ml_dtypes.bfloat16)
        buffers.save(str(path), values)
        assert np.load(path).dtype == np.uint16
        found = buffers.argument(f"{path}:bf16")
        assert found.dtype == ml_dtypes.bfloat16
        assert (found == values).all()
        with pytest.raises(ArgumentError):
            buffers.argument(f"{path}:f32")

    def test_files_that_are_no_arrays(self, tmp_path: Path) -> None:
        path = tmp_path / "x.npy"
        for data in (b"", b"text", b"\x93NUMPY\x01\x00"):
            path.write_bytes(data)
            with pytest.raises(TileError):
                buffers.argument(str(path))
        np.save(path, np.array([{}], dtype=object), allow_pickle=True)
        with pytest.raises(TileError):
            buffers.argument(str(path))


ROUND_AND_ROUND = """
entry @k(%times: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  for %i in (%zero to %times, step %one) : tile<i32> {
    continue
  }
  return
}
"""


def test_a_launch_may_take_so_many_steps() -> None:
    arguments = ("run", "-", "--grid", "1", "--arg", "50", "--steps")
    assert run(*arguments, "50", data=ROUND_AND_ROUND)[0] == Code.DONE
    code, _, errors = run(*arguments, "49", data=ROUND_AND_ROUND)
    assert code == Code.REFUSED
    assert "at most 49 iterations" in errors
    assert "[step-budget]" in errors


def test_the_command_has_the_functions_default() -> None:
    default = inspect.signature(launch).parameters["step_budget"].default
    (option,) = (p for p in main.commands["run"].params if p.name == "steps")
    assert option.default == default
