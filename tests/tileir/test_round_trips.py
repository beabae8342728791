"""Modules made at random, written and read: what comes back is what went in."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

import tileir
from tests.tileir.strategies import modules
from tileir.errors import WriteError
from tileir.module import Module
from tileir.version import SUPPORTED

SLICE = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def check_bytes(module: Module) -> None:
    """What is read is what was written, in every version that has a spelling for it, and is legal."""
    assert tileir.verify(module) == []
    data = tileir.write(module)
    again = tileir.read(data)
    assert again == module
    assert again.version == module.version
    assert tileir.write(again) == data
    for version in SUPPORTED:
        if version >= module.version:
            assert tileir.read(tileir.write(module, version)) == module
            continue
        try:
            older = tileir.write(module, version)
        except WriteError as error:
            needed = error.expected  # what is too new is named, with the version it needs
            assert str(needed).startswith("at least 13.")
        else:
            assert tileir.read(older) == module


@SLICE
@given(modules())
def test_modules_are_read_back_as_they_were(module: Module) -> None:
    check_bytes(module)
