"""The kernels of real work compute what they say: the interpreter's answers beside plain numpy."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pytest

import corpora
import tileref
from corpora import Buffer, Scalar
from tileref.numerics.formats import FORMATS, FloatFormat

from .references import REFERENCES, Reference
from .references.random_numbers import test_philox_is_the_papers  # noqa: F401
from .references.register import BY_FORMAT

FAMILIES = (
    *(
        "model",
        "norm",
        "softmax",
        "attention",
        "product",
        "convolution",
        "stencil",
        "pool",
        "transform",
        "sort",
    ),
    *("sequence", "index", "loss", "train", "random", "quantise", "bits", "iterate", "wait"),
)
CASES = [c for c in corpora.load() if c.family in FAMILIES]


def _reference(name: str) -> Reference:
    (found,) = [r for r in REFERENCES if fnmatchcase(name, r.pattern)]
    return found


def _plain(buffer: Buffer, array: Any) -> Any:
    wide = np.float64 if isinstance(FORMATS[buffer.format], FloatFormat) else np.int64
    return np.array(array).astype(wide)


def _parameters(case: corpora.Case) -> list[Any]:
    """The kernel's arrays and numbers, without the extents and strides that follow each array."""
    plain = []
    skipped = 0
    for parameter, argument in zip(case.parameters, case.arguments(), strict=True):
        if isinstance(parameter, Buffer):
            plain.append(_plain(parameter, argument))
            skipped = 2 * len(parameter.shape)
        elif skipped:
            skipped -= 1
        else:
            plain.append(argument.item())
    return plain


def test_every_reference_has_a_case_and_every_case_one_reference() -> None:
    assert len(CASES) >= 160
    for case in CASES:
        _reference(case.name)
    for reference in REFERENCES:
        assert any(fnmatchcase(c.name, reference.pattern) for c in CASES), reference.pattern


@pytest.mark.parametrize("model", ["spec", "sm_90"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_answer_is_numpys(case: corpora.Case, model: str) -> None:
    reference = _reference(case.name)
    arguments = case.arguments()
    result = tileref.launch(case.kernel, case.grid, arguments, model=model)
    # The compiler writes the identity of a maximum of f64 without its sign; see tests/corpora/test_undefined.py.
    assert [event for event in result.undefined if event.kind != "identity"] == []
    expected = reference.function(*_parameters(case))
    assert len(expected) == len(case.outputs)
    for position, wanted in zip(case.outputs, expected, strict=True):
        if wanted is not None:
            buffer = case.parameters[position]
            assert not isinstance(buffer, Scalar)
            _compare(reference, buffer, _plain(buffer, arguments[position]), wanted)


def _compare(reference: Reference, buffer: Buffer, found: Any, wanted: Any) -> None:
    assert found.shape == wanted.shape
    fmt = FORMATS[buffer.format]
    if isinstance(fmt, FloatFormat):
        tolerance = BY_FORMAT[buffer.format] if reference.tolerance is None else reference.tolerance
        assert np.isfinite(found).all()
        bound = tolerance * (np.abs(wanted) + np.abs(wanted).mean())
        worst = np.abs(found - wanted) - bound
        assert (worst <= 0).all(), (
            buffer.name,
            worst.max(),
            np.abs(found - wanted).max(),
            np.abs(wanted).mean(),
        )
    else:
        half = 1 << (fmt.width - 1)
        difference = (found - wanted + half) % (2 * half) - half if fmt.width < 64 else found - wanted
        assert np.abs(difference).max() <= reference.steps, (buffer.name, difference)
