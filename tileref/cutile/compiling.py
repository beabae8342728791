"""A cuda-tile kernel to a module of the dialect, for given arguments, once."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from weakref import WeakKeyDictionary

import tileir
from tileir.errors import TileError
from tileir.module import Module

from ..loading import Loaded
from .assumptions import Assumed
from .errors import ArgumentTypeError
from .parameters import (
    Argument,
    ArrayArgument,
    ConstantArgument,
    ListArgument,
    ScalarArgument,
    TupleArgument,
    argument,
)

BYTECODE = "13.4"
"""The bytecode version that kernels are compiled to."""


@dataclass(frozen=True)
class Compiled:
    """A kernel, compiled.

    Attributes:
        bytecode: what cuda-tile's compiler wrote.
        module: the same, read.
        loaded: the same, loaded: once for a kernel and what it is compiled for, as ``cuda.tile.launch`` does.
    """

    bytecode: bytes
    module: Module
    loaded: Loaded


_COMPILED: WeakKeyDictionary[Any, dict[tuple[Any, ...], Compiled]] = WeakKeyDictionary()
"""What a kernel was compiled to, by the bytecode version and what it may assume of its arguments."""
_READ: dict[bytes, Module] = {}
"""Modules by the hash of their bytecode: kernels made anew with the same content are read once."""


def compile_kernel(kernel: Any, args: Sequence[Any], *, bytecode: str = BYTECODE) -> Compiled:
    """Compile a ``@ct.kernel`` for arguments like ``args``; needs cuda-tile, no GPU.

    A kernel is compiled once for arguments of the same types, ranks, alignments and constants, like in
    ``cuda.tile.launch``: what its function refers to must not change in between.

    Raises:
        TileError: cuda-tile is not installed, or an argument is of a type that no kernel takes. What
            cuda-tile's compiler has to say about the kernel it says in its own exceptions.
    """
    return compiled_for(kernel, arguments_of(kernel, args), bytecode)


def arguments_of(kernel: Any, args: Sequence[Any]) -> list[Argument]:
    """The arguments of a kernel, each under the name of its parameter."""
    require_cutile()
    import cuda.tile as ct

    if not isinstance(kernel, ct.kernel):
        raise ArgumentTypeError(
            "only a function decorated with cuda.tile.kernel can be launched",
            rule="kernel-type",
            found=type(kernel).__name__,
        )
    function = kernel._annotated_function
    names = list(function.pysig.parameters)
    if len(names) != len(args):
        raise ArgumentTypeError(
            f"the kernel {function.pyfunc.__name__} takes another number of arguments",
            rule="argument-count",
            found=len(args),
            expected=f"{len(names)}: ({', '.join(names)})",
        )
    return [argument(*each) for each in zip(names, args, function.parameter_annotations, strict=True)]


def compiled_for(kernel: Any, arguments: Sequence[Argument], bytecode: str) -> Compiled:
    """The kernel compiled for these arguments, from the cache if it was before."""
    known = _COMPILED.setdefault(kernel, {})
    key = (bytecode, *(a.assumed for a in arguments))
    found = known.get(key)
    if found is None:
        data = _compile(kernel, arguments, bytecode)
        content = hashlib.sha256(data).digest()
        if content not in _READ:
            _READ[content] = tileir.read(data)
        found = Compiled(data, _READ[content], Loaded(_READ[content]))
        known[key] = found
    return found


def require_cutile() -> None:
    """Raise ``TileError`` with the command that installs cuda-tile, unless it is there."""
    try:
        there = find_spec("cuda.tile") is not None
    except ModuleNotFoundError:
        there = False
    if not there:
        raise TileError(
            "cuda-tile is not installed: pip install 'tileproof[cutile]' (or pip install cuda-tile==1.7.0)",
            rule="cutile-missing",
        )


def _compile(kernel: Any, arguments: Sequence[Argument], bytecode: str) -> bytes:
    from cuda.tile.compilation import CallingConvention, KernelSignature, export_kernel

    signature = KernelSignature(
        [_constraint(a) for a in arguments],
        calling_convention=CallingConvention.cutile_python_v2(),
        symbol=kernel._annotated_function.pyfunc.__name__,
    )
    stream = io.BytesIO()
    export_kernel(kernel, [signature], stream, output_format="tileir_bytecode", bytecode_version=bytecode)
    return stream.getvalue()


def constraints_of(kernel: Any, args: Sequence[Any]) -> list[Any]:
    """What cuda-tile's compiler is told about the arguments of a kernel."""
    return [_constraint(a) for a in arguments_of(kernel, args)]


def _constraint(of: Argument) -> Any:
    """What cuda-tile's compiler is told about an argument."""
    import cuda.tile as ct
    from cuda.tile.compilation import ConstantConstraint, ListConstraint, ScalarConstraint

    match of:
        case ArrayArgument():
            return _array_constraint(of.name, of.constraint)
        case ListArgument():
            element = _array_constraint(of.name, of.constraint)
            return ListConstraint(element, alias_groups=(), elements_may_alias=True)
        case ScalarArgument():
            return ScalarConstraint(getattr(ct, of.dtype))
        case TupleArgument():
            return tuple(_constraint(item) for item in of.items)
        case ConstantArgument():
            return ConstantConstraint(_native(of))


def _array_constraint(name: str, assumed: Assumed) -> Any:
    import cuda.tile as ct
    from cuda.tile.compilation import ArrayConstraint

    dtype = getattr(ct, "bool_" if assumed.dtype == "bool" else assumed.dtype, None)
    if not isinstance(dtype, ct.DType):
        raise ArgumentTypeError(
            f"{name} is an array of a type that no kernel takes", rule="argument-type", found=assumed.dtype
        )
    return ArrayConstraint(
        **{**vars(assumed), "dtype": dtype, "index_dtype": getattr(ct, assumed.index_dtype)},
        stride_lower_bound_incl=0,
        alias_groups=(),
    )


def _native(of: ConstantArgument) -> Any:
    """A constant in cuda-tile's own terms: another library's name of a type becomes cuda-tile's.

    Which kinds of constants there are depends on cuda-tile's version: 1.7.0 takes numbers alone.
    """
    from cuda.tile._cext import ConstantKind, classify_constant, foreign_dtype_object_to_native

    kind = classify_constant(of.value, True)
    if kind is None:
        raise ArgumentTypeError(
            f"{of.name} is a constant of a type that this version of cuda-tile does not take",
            rule="argument-type",
            found=type(of.value).__name__,
            expected="bool, int or float",
        )
    if kind is ConstantKind.ForeignDType:
        return foreign_dtype_object_to_native(of.value)
    return of.value
