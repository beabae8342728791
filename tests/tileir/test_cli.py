"""The command ``tileir``, run as a program is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import tileir
from tileir.cli import main

from .support import needs_tileiras

TEXT = """entry @k(%arg0: tile<ptr<f32>>, %arg1: tile<i32>) {
  %cst_1_f32 = constant <f32: 1.000000e+00> : tile<4xf32>
  %0 = addf %cst_1_f32, %cst_1_f32  : tile<4xf32>
  return
}
"""


def run(*arguments: str, data: bytes | str | None = None) -> tuple[int, bytes, str]:
    result = CliRunner().invoke(main, arguments, input=data)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout_bytes, result.stderr


@pytest.fixture
def bytecode(tmp_path: Path) -> Path:
    path = tmp_path / "k.tilebc"
    path.write_bytes(tileir.write(tileir.parse(TEXT)))
    return path


def test_text_to_bytecode_and_back(tmp_path: Path) -> None:
    source, target = tmp_path / "k.mlir", tmp_path / "k.tilebc"
    source.write_text(TEXT)
    assert run("as", str(source), "-o", str(target)) == (0, b"", "")
    assert run("dis", str(target)) == (0, TEXT.encode(), "")
    assert run("dis", "-", data=target.read_bytes()) == (0, TEXT.encode(), "")
    code, out, _ = run("as", "-", "-o", "-", data=TEXT)
    assert (code, out) == (0, target.read_bytes())


def test_versions(bytecode: Path, tmp_path: Path) -> None:
    target = tmp_path / "old.tilebc"
    assert run("convert", str(bytecode), "--version", "13.1", "-o", str(target))[0] == 0
    assert tileir.read(target).version == (13, 1)
    assert tileir.read(target) == tileir.read(bytecode)
    code, _, err = run("convert", str(bytecode), "--version", "12.0", "-o", str(target))
    assert code == 2
    assert "13.1, 13.2" in err


def test_what_a_version_cannot_hold_is_named(tmp_path: Path) -> None:
    source, target = tmp_path / "k.mlir", tmp_path / "k.tilebc"
    source.write_text(TEXT.replace("addf %cst_1_f32, %cst_1_f32 ", "atan2 %cst_1_f32, %cst_1_f32"))
    code, _, err = run("as", str(source), "--version", "13.1", "-o", str(target))
    assert code == 1
    assert "atan2" in err
    assert "13.2" in err
    assert not target.exists()


def test_info(bytecode: Path) -> None:
    code, out, _ = run("info", "--json", str(bytecode))
    assert code == 0
    found = json.loads(out)
    assert found["size"] == bytecode.stat().st_size
    assert found["version"] == "13.4"
    assert found["oldest_version"] == "13.1"
    assert found["entries"] == [{"name": "k", "parameters": ["tile<ptr<f32>>", "tile<i32>"], "operations": 3}]
    assert found["operations"] == {"addf": 1, "constant": 1, "return": 1}
    code, out, _ = run("info", str(bytecode))
    assert b"entry @k(tile<ptr<f32>>, tile<i32>): 3 operations" in out


def test_verify(bytecode: Path, tmp_path: Path) -> None:
    assert run("verify", str(bytecode)) == (0, b"", "")
    wrong = tmp_path / "wrong.mlir"
    wrong.write_text(TEXT.replace("tile<4xf32>", "tile<3xf32>"))
    code, out, err = run("verify", str(wrong))
    assert code == 1
    assert out == b""
    assert all(line.startswith(str(wrong)) for line in err.splitlines())
    assert "tile<3xf32>" in err


@pytest.mark.parametrize(
    ("arguments", "data", "code", "says"),
    [
        (("dis", "-"), b"\x7fTileIR\x00\x0d\x04\x00\x00", 1, "<stdin>"),
        (("dis", "-"), b"\xff\xfe", 1, "neither bytecode nor text"),
        (("dis", "-"), "entry @k() { oops }", 1, "<stdin>:1:14"),
        (("dis", "/no/such/file"), None, 4, "No such file"),
        (("as", "-", "-o", "/no/such/folder/k.tilebc"), TEXT, 4, "cannot write"),
        (("as", "-", "-o", "-", "--opt-level", "1"), TEXT, 2, "--gpu"),
        (("as", "-"), TEXT, 2, "--output"),
    ],
)
def test_what_goes_wrong_is_one_line_and_a_code(
    arguments: tuple[str, ...], data: bytes | str | None, code: int, says: str
) -> None:
    found, out, err = run(*arguments, data=data)
    assert found == code
    assert out == b""
    assert says in err
    assert "Traceback" not in err
    if code != 2:
        assert err.count("\n") == 1


def test_hints_that_no_compiler_heeds_are_warned_of_on_request() -> None:
    text = "entry @k() optimization_hints = <sm_90 = {occupancy = 33}> { return }"
    assert run("verify", "-", data=text) == (0, b"", "")
    code, out, err = run("verify", "--hints", "-", data=text)
    assert (code, out) == (0, b"")
    assert "warning: entry in @k: the hint occupancy for sm_90 is from 1 to 32 [hint-unheeded]" in err


def test_what_was_there_stays_when_writing_fails(tmp_path: Path) -> None:
    target = tmp_path / "k.tilebc"
    target.write_bytes(b"before")
    assert run("as", "-", "-o", str(target), data="entry @k(")[0] == 1
    assert target.read_bytes() == b"before"
    assert run("as", "-", "-o", str(target), data=TEXT)[0] == 0
    assert target.read_bytes() != b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["k.tilebc"]
    assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@needs_tileiras
def test_to_a_cubin(tmp_path: Path) -> None:
    target = tmp_path / "k.cubin"
    assert run("as", "-", "--gpu", "sm_90", "-o", str(target), data=TEXT)[0] == 0
    assert target.read_bytes().startswith(b"\x7fELF")
    code, _, err = run("as", "-", "--gpu", "sm_1", "-o", str(tmp_path / "x"), data=TEXT)
    assert code == 2
    assert "sm_90" in err


def test_help_names_the_commands_and_imports_little() -> None:
    heavy = "{'numpy', 'pandas', 'rich', 'jinja2'}"
    code = f"import sys, tileir.cli; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    found, out, _ = run("--help")
    assert found == 0
    for command in ("as", "convert", "dis", "info", "verify"):
        assert f"\n  {command} ".encode() in out
