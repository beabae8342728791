"""Every declared operation has an evaluator, or ends a region."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tileref.evaluators
from tileir.module import Operation
from tileir.registry import BY_NAME
from tileref.evaluators import EVALUATORS
from tileref.regions import TERMINATORS

ROOT = Path(tileref.evaluators.__file__).parent


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_an_evaluator_for(name: str) -> None:
    kind = BY_NAME[name]
    assert (kind in EVALUATORS) != issubclass(kind, TERMINATORS)


@pytest.mark.parametrize("kind", sorted(EVALUATORS, key=lambda k: k.mnemonic))
def test_an_evaluator_is_beside_its_family(kind: type[Operation]) -> None:
    family = kind.__module__.rsplit(".", 1)[1]
    source = (ROOT / f"{family}.py").read_text(encoding="utf-8")
    functions = {n.name.rstrip("_"): n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)}
    assert kind.mnemonic in functions or f'"{kind.mnemonic}"' in source
