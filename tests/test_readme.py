"""What README shows is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.S)
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert capsys.readouterr().out.startswith("[0.0625 ")
    result = names["result"]
    assert result.undefined == []
    assert result.unexplained == []
    # 2 ** (x / 2): the ends are whole powers, and every element was written.
    assert names["y"][0] == 0.0625
    assert names["y"][-1] == 16.0
    assert (names["y"] > 0).all()


@pytest.mark.parametrize("path", re.findall(r"\]\((?!http)([^)#]+)\)", README))
def test_what_it_links_to_is_there(path: str) -> None:
    assert (ROOT / path).exists()
