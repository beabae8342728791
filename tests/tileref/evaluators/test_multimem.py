"""Operations across several devices are refused by name: a launch runs on one."""

from __future__ import annotations

import numpy as np
import pytest

import tileref
from tests.tileref.operations import operation
from tileir import generate, registry
from tileir.errors import UnsupportedError
from tileir.version import V13_5


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=operation(name, oracle="written"))
        for name in ("multimem_load_reduce_view_tko", "multimem_reduce_view_tko", "multimem_store_view_tko")
    ],
)
def test_refused(name: str) -> None:
    kind = registry.BY_NAME[name]
    module = generate.Form(generate.BASES[kind.opcode][0], ()).module(V13_5)
    arguments = []
    for parameter in module.functions[0].parameters:
        pointee = getattr(getattr(parameter.type, "element", None), "pointee", None)
        arguments.append(np.zeros(64, np.float32 if str(pointee) == "f32" else np.int32) if pointee else 0)
    with pytest.raises(UnsupportedError) as caught:
        tileref.launch(module, 1, arguments)
    assert caught.value.rule == "multimem-single-device"
    assert caught.value.operation == name
    assert "several devices" in str(caught.value)
