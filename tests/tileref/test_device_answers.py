"""The interpreter against what an sm_90 GPU answered."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.support import SHARED, arguments, bits, manifest, needs_shared

pytestmark = needs_shared

NOT_CLAIMED = {"bin_atan2_float64"} | {name for name in manifest() if name.startswith("mma_float64")}
"""Equal here, but not everywhere: the model does not claim the bits."""


@pytest.mark.parametrize("name", sorted(manifest()))
def test_bits(name: str) -> None:
    case = manifest()[name]
    args, answers = arguments(case)
    kernel = SHARED / name / "kernel.tilebc"
    result = tileref.launch(kernel, case["grid"], args, model="sm_90")

    assert bool(result.unexplained) == (name in NOT_CLAIMED)
    for position, answer in answers.items():
        got = args[position]
        defined = ~result.undefined_elements.get(position, np.zeros(got.shape, np.bool_))
        # Out-of-range casts to integers are the only lanes without a defined answer in these cases.
        assert defined.all() or "int" in name.split("_")[-1]
        assert defined.mean() > 0.5
        np.testing.assert_array_equal(bits(got)[defined], bits(answer)[defined])


@pytest.mark.parametrize("name", ["bin_add_float32", "sum_float32_1024", "mma_float16_float32_64x64x64"])
def test_nothing_but_the_outputs_is_written(name: str) -> None:
    case = manifest()[name]
    args, answers = arguments(case)
    before = {i: a.copy() for i, a in enumerate(args) if isinstance(a, np.ndarray)}
    tileref.launch(SHARED / name / "kernel.tilebc", case["grid"], args, model="sm_90")
    for i, array in before.items():
        assert (bits(array) == bits(args[i])).all() == (i not in answers)


def test_a_model_that_orders_otherwise_is_told_from_the_device() -> None:
    case = manifest()["sum_float32_1024"]
    args, answers = arguments(case)
    module = tileir.read(SHARED / "sum_float32_1024" / "kernel.tilebc")
    tileref.launch(module, case["grid"], args, model="spec")
    (position, answer), *_ = answers.items()
    assert (bits(args[position]) != bits(answer)).any()
