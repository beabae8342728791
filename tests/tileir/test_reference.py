"""The instruction reference in the documentation."""

from __future__ import annotations

from pathlib import Path

from tileir import registry
from tileir.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "instructions.md"


def test_the_page_is_what_the_declarations_say() -> None:
    assert PAGE.read_text() == reference(), "run: python -m tileir.reference > docs/instructions.md"


def test_every_operation_is_there_with_its_parts() -> None:
    page = reference()
    for kind in registry.BY_NAME.values():
        section = page.split(f"### `{kind.mnemonic}`\n", 1)[1].split("\n### ", 1)[0]
        assert f"Opcode {kind.opcode}" in section
        for name in kind.declaration.names:
            assert f"| `{name.rstrip('_')}` |" in section
