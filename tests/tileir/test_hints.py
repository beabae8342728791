"""Hints that a compiler passes over: each boundary of each, on the operations that have it."""

from __future__ import annotations

import pytest

import tileir
from tileir.verify import unheeded_hints

ENTRY = "entry @k(%p: tile<ptr<f32>>) optimization_hints = <{hints}> {{ return }}"
LOAD = """entry @k(%p: tile<ptr<f32>>) {{
  %x, %t = load_ptr_tko weak %p optimization_hints = <{hints}> : tile<ptr<f32>> -> tile<f32>, token
  return
}}"""
VIEW = """entry @k(%p: tile<ptr<f32>>, %i: tile<i32>) {{
  %v = make_tensor_view %p, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
  %w = make_partition_view %v : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
  %x, %t = load_view_tko weak %w[%i] optimization_hints = <{hints}>
    : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
  return
}}"""


@pytest.mark.parametrize(
    ("text", "hints", "says"),
    [
        (ENTRY, "sm_90 = {num_cta_in_cga = 16, num_worker_warps_per_cta = 32, occupancy = 32}", []),
        (ENTRY, "default = {num_cta_in_cga = 1, num_worker_warps_per_cta = 1, occupancy = 1}", []),
        (ENTRY, "sm_89 = {num_cta_in_cga = 1}", []),
        (ENTRY, "sm_89 = {num_cta_in_cga = 2}", ["1"]),
        (ENTRY, "sm_90a = {}", ["unknown architecture, sm_90a"]),
        (ENTRY, "sm_90 = {num_cta_in_cga = 32}", ["a power of two up to 16"]),
        (ENTRY, "sm_90 = {num_cta_in_cga = 0}", ["a power of two up to 16"]),
        (ENTRY, "sm_90 = {num_cta_in_cga = 6}", ["a power of two up to 16"]),
        (ENTRY, "sm_90 = {num_worker_warps_per_cta = 64}", ["a power of two up to 32"]),
        (ENTRY, 'sm_90 = {num_worker_warps_per_cta = "a"}', ["an integer"]),
        (ENTRY, "sm_90 = {occupancy = 0}", ["from 1 to 32"]),
        (ENTRY, "sm_90 = {latency = 3, occupancy = -1}", ["no hint latency here", "from 1 to 32"]),
        (LOAD, "sm_100 = {latency = 10}", []),
        (LOAD, "sm_100 = {latency = 11}, sm_120 = {latency = 0}", ["from 1 to 10"] * 2),
        (LOAD, "sm_100 = {allow_tma = true}", ["no hint allow_tma here"]),
        (VIEW, "sm_100 = {allow_tma = false, latency = 1}", []),
        (VIEW, "sm_100 = {allow_tma = 1}", ["true or false"]),
    ],
)
def test_hints_that_are_not_heeded(text: str, hints: str, says: list[str]) -> None:
    module = tileir.parse(text.format(hints=hints))
    assert tileir.verify(module) == []
    found = unheeded_hints(module)
    assert len(found) == len(says)
    for diagnostic, expected in zip(found, says, strict=True):
        assert diagnostic.rule == "hint-unheeded"
        assert diagnostic.function == "k"
        assert expected in diagnostic.message
        assert diagnostic.operation == {ENTRY: "entry", LOAD: "load_ptr_tko", VIEW: "load_view_tko"}[text]
