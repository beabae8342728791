"""Random kernels: the interpreter against an evaluator that works lane by lane, and against itself.

``python -m tests.campaigns.random_programs`` goes on from here.
"""

from __future__ import annotations

import pytest

import tileir
from tests.tileref.scalar.compare import OutsideScope, differences, disagreements, launch
from tests.tileref.scalar.programs import Programs


@pytest.mark.parametrize("seed", range(24))
def test_lanes_are_what_the_definitions_say(seed: int) -> None:
    program = Programs(seed).program
    assert not tileir.verify(program.module)
    data, undefined, _ = launch(program)
    try:
        assert not differences(program, data, undefined)
    except OutsideScope as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("seed", range(100, 106))
def test_nothing_depends_on_how_a_program_is_run(seed: int) -> None:
    assert not disagreements(Programs(seed).program)
