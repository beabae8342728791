"""A draft's kernel to bytecode, by cuda-tile."""

from __future__ import annotations

import io
from typing import Any

import cuda.tile as ct
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    ScalarConstraint,
    export_kernel,
)

from .draft import Array, Draft, Number

_DTYPES = {
    "f64": ct.float64,
    "f32": ct.float32,
    "f16": ct.float16,
    "bf16": ct.bfloat16,
    "f8E4M3FN": ct.float8_e4m3fn,
    "f8E5M2": ct.float8_e5m2,
    "f8E8M0FNU": ct.float8_e8m0fnu,
    "i1": ct.bool_,
    "i8": ct.int8,
    "i16": ct.int16,
    "i32": ct.int32,
    "i64": ct.int64,
}
_UNSIGNED = {"i8": ct.uint8, "i16": ct.uint16, "i32": ct.uint32, "i64": ct.uint64}


def compile_draft(draft: Draft) -> bytes:
    """The bytecode of the draft's kernel, whose entry is called ``kernel``."""
    signature = KernelSignature(
        [_constraint(p) for p in draft.parameters],
        calling_convention=CallingConvention.cutile_python_v2(),
        symbol="kernel",
    )
    stream = io.BytesIO()
    export_kernel(
        draft.kernel,
        [signature],
        stream,
        output_format="tileir_bytecode",
        bytecode_version=draft.bytecode,
        **draft.options,
    )
    return stream.getvalue()


def _constraint(parameter: Any) -> Any:
    match parameter:
        case Array():
            rank = len(parameter.shape)
            by = 16 if parameter.aligned else 1
            return ArrayConstraint(
                dtype=(_UNSIGNED if parameter.unsigned else _DTYPES)[parameter.format],
                ndim=rank,
                index_dtype=ct.int32,
                stride_lower_bound_incl=0,
                alias_groups=(),
                may_alias_internally=False,
                stride_constant=(None,) * (rank - 1) + (1,),
                stride_divisible_by=(by,) * (rank - 1) + (1,),
                shape_divisible_by=by,
                base_addr_divisible_by=by,
            )
        case Number():
            return ScalarConstraint(_DTYPES[parameter.format])
        case list():
            return tuple(_constraint(p) for p in parameter)
    return ConstantConstraint(parameter)
