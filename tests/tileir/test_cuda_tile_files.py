"""The reader of the dialect's own test files: lit's conventions, on files of our own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import tileir
from tests.campaigns.cuda_tile_files.__main__ import judge_folder
from tests.campaigns.cuda_tile_files.judge import Judged

LEGAL = "entry @k(%a: tile<f32>) { %b = negf %a : tile<f32> return }"
SPLIT = """// RUN: cuda-tile-opt %s -verify-diagnostics \\
// RUN:   -split-input-file
cuda_tile.module @legal {
  testing$func @takes_anything(%a: !cuda_tile.tile<2x2xf32>) -> !cuda_tile.tile<2x2xf32> {
    %b = "some.op"() : () -> !cuda_tile.tile<2x2xf32>
    %c = addf %a, %b : tile<2x2xf32>
    return %c : tile<2x2xf32>
  }
}
// -----
// expected-error @below {{power of two}}
%0 = "use.type"() : () -> !cuda_tile.tile<3xf32>
// -----
// A comment alone is no chunk.
// -----
testing$func @refused(%a: tile<4xf32>) {
  // expected-error@+1 {{integer}}
  %b = absi %a : tile<4xf32>
}
// -----
testing$func @not_refused_by_us(%a: tile<4xf32>) {
  // expected-error @below {{nobody knows}}
  %b = negf %a : tile<4xf32>
}
// -----
// expected-note @below {{a note is no error}}
entry @refused_by_us() { %a = iota : tile<4xf32> return }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "split.mlir").write_text(SPLIT)
    (tmp_path / "whole.mlir").write_text(f"// RUN: cuda-tile-opt %s | FileCheck %s\n{LEGAL}\n// -----\n")
    (tmp_path / "old.mlir").write_text(
        "// RUN: not cuda-tile-translate -mlir-to-cudatilebc -bytecode-version=13.1 %s 2>&1 | FileCheck %s\n"
        "// CHECK: requires bytecode version 13.2+\n"
        "entry @k(%a: tile<i32>) { %b = negi %a overflow<no_signed_wrap> : tile<i32> return }\n"
    )
    (tmp_path / "other.mlir").write_text(
        "// RUN: not cuda-tile-translate -mlir-to-cudatilebc %s 2>&1 | FileCheck %s\n// CHECK: only ops from\n"
        'entry @k() { "some.op"() : () -> () return }\n'
    )
    (tmp_path / "bytes.mlir").write_text(
        "// RUN: not cuda-tile-translate -cudatilebc-to-mlir %S/bad.tileirbc 2>&1 | FileCheck %s --check-prefix=BAD\n"
        "// RUN: cuda-tile-translate -cudatilebc-to-mlir %S/good.tileirbc | FileCheck %s\n// BAD: magic\n"
    )
    good = tileir.write(tileir.parse(LEGAL))
    (tmp_path / "good.tileirbc").write_bytes(good)
    (tmp_path / "bad.tileirbc").write_bytes(b"\x00" + good[1:])
    (tmp_path / "nobody.bc").write_bytes(good)
    return tmp_path


def test_every_chunk_has_its_verdict(folder: Path) -> None:
    files, verdicts = judge_folder(folder)
    assert files == 8
    found = {v.name: (v.verdict, v.rule) for v in verdicts}
    assert found == {
        "split.mlir:1": ("accepted", None),
        "split.mlir:10": ("rightly refused", "tile-extent-power-of-two"),
        "split.mlir:15": ("rightly refused", "operand-element"),
        "split.mlir:20": ("wrongly accepted", None),
        "split.mlir:25": ("wrongly refused", "result-element"),
        "whole.mlir:1": ("accepted", None),
        "old.mlir:1": ("rightly refused", "part-version"),
        "other.mlir:1": ("rightly refused", "operation-name"),
        "good.tileirbc": ("accepted", None),
        "bad.tileirbc": ("rightly refused", "bytecode-magic"),
        "nobody.bc": ("unsaid", None),
    }


def test_what_is_at_the_line_that_the_test_names(folder: Path) -> None:
    _, verdicts = judge_folder(folder)
    at: dict[str, Judged] = {v.name: v for v in verdicts}
    assert at["split.mlir:15"].at_place is True
    assert at["old.mlir:1"].at_place is None


def test_the_command_says_what_is_not_explained(folder: Path) -> None:
    command = [sys.executable, "-m", "tests.campaigns.cuda_tile_files"]
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "split.mlir:25: wrongly refused" in done.stdout
    assert "2 unexplained" in done.stdout
    (folder / "split.mlir").unlink()
    done = subprocess.run([*command, str(folder), "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["verdicts"]) == 6
    done = subprocess.run([*command, str(folder / "nothing")], capture_output=True, text=True, check=False)
    assert done.returncode == 2
