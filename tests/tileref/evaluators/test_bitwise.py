"""Bitwise logic of every width and shape against Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tileref.evaluators.test_integer import EVERY_WIDTH, check
from tests.tileref.kernels import SHAPES
from tests.tileref.operations import operation


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    ("name", "function"),
    [
        pytest.param("andi", lambda a, b: a & b, marks=operation("andi", oracle="numpy")),
        pytest.param("ori", lambda a, b: a | b, marks=operation("ori", oracle="numpy")),
        pytest.param("xori", lambda a, b: a ^ b, marks=operation("xori", oracle="numpy")),
    ],
)
@EVERY_WIDTH
def test_of_patterns(name: str, function: Callable[..., int], element: str, shape: tuple[int, ...]) -> None:
    check(f"{name} %a, %b : {{R}}", function, [element] * 2, shape=shape)
