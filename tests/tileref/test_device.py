"""Operations against what a GPU answered: for each a recorded case or probe that the model claims, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import corpora
import tileref
from corpora.probes import load as load_probes
from corpora.probes.check import check
from tests.tileref.operations import operation

GPU = "sm_90"
EVIDENCE: dict[str, tuple[str, ...]] = {
    "atomic/extremes_i32": ("atomic_rmw_tko", "exti", "join_tokens", "offset"),
    "binary/maximum_f16": ("maxf",),
    "binary/mod_f16": ("remf",),
    "bitcast/f64_i64": ("bitcast",),
    "branch/three_ways_f32": ("negf",),
    "cast/i16_to_all": ("trunci",),
    "gather/elements_f32": ("load_ptr_tko",),
    "integer/arithmetic_i8": ("maxi", "mini", "subi"),
    "integer/bitwise_i8": ("shli", "shri"),
    "integer/negation_i8": ("absi", "negi"),
    "loop/collatz_i32": (
        "addi",
        "andi",
        "assume",
        "break",
        "cmpi",
        "continue",
        "divi",
        "if",
        "loop",
        "muli",
        "remi",
        "select",
        "xori",
    ),
    "loop/dot_f32": ("fma",),
    "loop/first_above_f32": ("cmpf", "get_index_space_shape"),
    "loop/newton_f32": ("divf", "for"),
    "loop/persistent_f32": ("get_num_tile_blocks",),
    "mma/tf32_f32_16x16x16": ("ftof",),
    "model/layer_norm_f32": ("mulf", "rsqrt", "subf"),
    "model/rms_norm_f32": ("sqrt",),
    "move/join_and_slice_f32": ("cat", "extract", "insert"),
    "move/permute_f32": ("permute",),
    "reduce/extremes_f16": ("iota", "minf", "ori"),
    "reduce/own_fold_f32": ("absf",),
    "scatter/elements_f32": ("store_ptr_tko",),
    "unary/ceil_f16": ("ceil",),
    "unary/cos_f16": ("cos",),
    "unary/cosh_f16": ("cosh",),
    "unary/exp2_f16": ("exp2",),
    "unary/exp_f16": ("exp",),
    "unary/floor_f16": ("floor",),
    "unary/log2_f16": ("log2",),
    "unary/log_f16": ("log",),
    "unary/sin_f16": ("sin",),
    "unary/sinh_f16": ("sinh",),
    "unary/tan_f16": ("tan",),
    "unary/tanh_f16": ("tanh",),
    "view/padding_zero_f32": ("addf", "broadcast"),
    "probes:fpowi/f32_i1": ("fpowi",),
    "probes:ftoi/f8E4M3FN_i8_signed": ("ftoi",),
    "probes:itof/i8_f64_signed": ("itof",),
    "probes:mma_fast_acc/f8E4M3FN_f32_16x16x16": ("mmaf",),
    "probes:mmai/signed_signed_16x16x16_random": ("mmai",),
    "probes:reduce/addf_f32_2x2_d0_pairs": (
        "constant",
        "get_tile_block_id",
        "load_view_tko",
        "make_partition_view",
        "make_tensor_view",
        "make_token",
        "reduce",
        "reshape",
        "return",
        "store_view_tko",
        "yield",
    ),
    "probes:scan/addf_f32_2_d0_random": ("scan",),
}
"""Cases of the corpus, and probes, with the operations that they are the evidence of here."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=operation(*operations, oracle="device", evidence=[name]))
        for name, operations in EVIDENCE.items()
    ],
)
def test_as_the_gpu_answered(name: str) -> None:
    if name.startswith("probes:"):
        (probe,) = load_probes(name.removeprefix("probes:"))
        verdict = check(probe, GPU, GPU)
        assert verdict.outcome == "agrees", verdict.difference
        return
    (case,) = corpora.load(name)
    recorded = case.recorded(GPU)
    arguments: list[Any] = case.arguments()
    result = tileref.launch(case.kernel, case.grid, arguments, model=GPU)
    assert recorded
    assert not result.unexplained
    for position in case.outputs:
        undefined = result.undefined_elements.get(position, np.zeros(arguments[position].shape, np.bool_))
        size = arguments[position].dtype.itemsize
        found = arguments[position].view(f"u{size}")
        # The highest level; others are in records of their own if they answered otherwise.
        answer = recorded[0].outputs[position].view(f"u{size}").reshape(found.shape)
        assert np.array_equal(found[~undefined], answer[~undefined])
        assert not undefined.all()
