"""Every declared operation is in a test of the interpreter whose oracle is not the interpreter."""

from __future__ import annotations

from functools import cache

import pytest

import corpora
import tileir
from corpora.probes import load as load_probes
from corpora.probes.probe import RECORDS
from tests.tileref.operations import operation_tests
from tileir.registry import BY_NAME

GPU = "sm_90"
IN_WORDS = {
    *("assert", "print_tko"),
    *("multimem_load_reduce_view_tko", "multimem_reduce_view_tko", "multimem_store_view_tko"),
}
"""Operations whose answers are words, or a refusal: a test that writes these out is all that can be asked."""


@cache
def marks() -> dict[str, list[tuple[str, pytest.Mark]]]:
    return operation_tests()


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_an_operation_is_tested(name: str) -> None:
    oracles = {mark.kwargs["oracle"] for _, mark in marks()[name]}
    enough = oracles if name in IN_WORDS else oracles - {"written"}
    assert enough, f"no test of the interpreter compares {name} with an oracle that is not our own"


def test_marks_name_operations() -> None:
    assert marks().keys() <= BY_NAME.keys()


def test_recorded_answers_are_there_and_hold_the_operation() -> None:
    # What a test names as evidence is a case or a probe, with an answer, whose kernel has the operation.
    seen = 0
    for name, tests in marks().items():
        for test, mark in tests:
            for evidence in mark.kwargs["evidence"]:
                seen += 1
                if evidence.startswith("probes:"):
                    (probe,) = load_probes(evidence.removeprefix("probes:"))
                    kernel, recorded = probe.kernel, RECORDS.answer(probe, GPU) is not None
                else:
                    (case,) = corpora.load(evidence)
                    kernel, recorded = case.kernel, bool(case.recorded(GPU))
                assert recorded, f"{test}: {evidence} has no answer of {GPU}"
                held = {op.mnemonic for op in tileir.read(kernel).walk()}
                assert name in held, f"{test}: {evidence} has no {name}"
    assert seen > 40


def test_a_test_that_evaluates_nothing_of_what_it_names_fails(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from tests.tileref.conftest import *")
    pytester.makeini("[pytest]\nmarkers =\n    operation: which operations\n")
    pytester.makepyfile(
        """
        import numpy as np
        from tests.tileref.operations import operation
        from tests.tileref.support import run

        KERNEL = "entry @k(%p: tile<ptr<i32>>, %n: tile<i32>) { " \\
            "%m = negi %n : tile<i32> " \\
            "%t = store_ptr_tko weak %p, %m : tile<ptr<i32>>, tile<i32> -> token return }"

        @operation("negi", oracle="written")
        def test_that_does():
            out = np.zeros(1, np.int32)
            run(KERNEL, 1, [out, 5])
            assert out[0] == -5

        @operation("negi", "absi", oracle="written")
        def test_that_does_not():
            run(KERNEL, 1, [np.zeros(1, np.int32), 5])
        """
    )
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*tests absi, and evaluates no such operation*"])
