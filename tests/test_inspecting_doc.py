"""What docs/inspecting.md shows is so."""

from __future__ import annotations

import io
import pdb
import re
import shlex
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOC = (ROOT / "docs" / "inspecting.md").read_text()
BLOCKS = re.findall(r"```(python|text|sh)\n(.*?)```", DOC, re.S)


def agrees(shown: str, found: str) -> bool:
    """Whether two lines are the same, up to where the shown one is cut short."""
    return found.startswith(shown.removesuffix(" ...")) if shown.endswith(" ...") else found == shown


def assert_shown(shown: str, found: str) -> None:
    lines, there = shown.splitlines(), found.splitlines()
    assert len(lines) == len(there), found
    for line, other in zip(lines, there, strict=True):
        assert agrees(line, other), f"shown {line}\nfound {other}"


def test_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("cuda.tile")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "attention", raising=False)
    names: dict[str, Any] = {}
    found, compared = "", 0
    for kind, code in BLOCKS:
        if kind == "python" and "@ct.kernel" in code:
            # A kernel's source must be in a file.
            name = re.findall(r"^def (\w+)", code, re.M)[0]
            (tmp_path / f"{name}.py").write_text(code)
            names.update(_imported(name, name))
            found = ""
        elif kind == "python":
            commands = _commands_behind(code)
            monkeypatch.setattr(sys, "breakpointhook", partial(_debug, io.StringIO(commands)))
            exec(compile(code, "inspecting.md", "exec"), names)
            found = capsys.readouterr().out.replace(f"{tmp_path}/", "")
        elif kind == "text" and found:
            if "(Pdb)" in code:
                _assert_debugged(code, found)
            else:
                assert_shown(code, found)
            compared += 1
            found = ""
    assert compared == 8


def _debug(commands: io.StringIO) -> None:
    """What ``breakpoint()`` does, without what pytest makes of it."""
    pdb.Pdb(stdin=commands, stdout=sys.stdout, nosigint=True).set_trace(sys._getframe(1))


def _imported(module: str, name: str) -> dict[str, Any]:
    from importlib import import_module

    sys.modules.pop(module, None)
    return {name: getattr(import_module(module), name)}


def _commands_behind(code: str) -> str:
    """What is typed into the debugger in the text behind a piece of code."""
    at = next(i for i, block in enumerate(BLOCKS) if block[1] == code)
    shown = BLOCKS[at + 1][1] if at + 1 < len(BLOCKS) else ""
    return "".join(f"{line}\n" for line in re.findall(r"^\(Pdb\) (.*)$", shown, re.M))


def _assert_debugged(shown: str, found: str) -> None:
    """Every line of the session but the commands is there, in order."""
    at = 0
    for line in shown.splitlines():
        if not line.startswith("(Pdb)"):
            at = found.index(line, at) + len(line)


def test_the_commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from click.testing import CliRunner

    from tileref.cli import main

    # A folder of their own for what they write.
    (tmp_path / "corpora").symlink_to(ROOT / "corpora")
    monkeypatch.chdir(tmp_path)
    arguments = re.findall(r'ARGS="(.*)"', DOC)[0]
    commands = re.findall(r"^tileref (run .*)$", DOC, re.M)
    outputs: dict[str, tuple[str, str]] = {}
    for command in commands:
        result = CliRunner().invoke(main, shlex.split(command.replace("$ARGS", arguments)))
        assert result.exit_code == 0, result.output
        outputs[command.split("$ARGS ")[1]] = (result.stdout, result.stderr)
    shown = {
        BLOCKS[i - 1][1].splitlines()[-1].split("$ARGS ")[1]: text
        for i, (kind, text) in enumerate(BLOCKS)
        if kind == "text" and BLOCKS[i - 1][0] == "sh" and "tileref run" in BLOCKS[i - 1][1].splitlines()[-1]
    }
    assert len(shown) == 2
    for options, text in shown.items():
        assert_shown(text, outputs[options][0])
    assert outputs["--estimate"][0].startswith("about ")
    assert "kernel on 3 (0, 1, 3) of 4x1x1 blocks" in outputs["--blocks '0-1 3'"][1]
    assert "kernel on 2 (" in outputs["--blocks sample=2,seed=1"][1]
    assert "%2 = exp" in outputs["--profile"][1]


def test_the_table_has_every_word() -> None:
    """Every word of ``--help`` is in the page's table, and is one."""
    from tileref.inspection.selections import where
    from tileref.inspection.words import WORDS

    words = [w for line in WORDS.splitlines() for w in re.split(r" {2,}", line.strip())]
    table = DOC[DOC.index("| word |") :].split("\n\n")[0]
    for word in re.findall(r"`([^`]+)`", table):
        if word not in ("for", "loop", "if", "entry", "tileir dis", "FILE.npz", "FILE.npy", "FOLDER/"):
            where(word)
    for word in words:
        if re.fullmatch(
            r"(block|iteration|first|differs)=\S+|nan|inf|undefined|changed|first|bodies|!\S+|%\S+", word
        ):
            assert word.split("=")[0] in table
