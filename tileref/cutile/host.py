"""Host code that launches cuda-tile kernels, run as it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ..result import LaunchResult
from ..targets.model import Model
from .compiling import constraints_of, require_cutile
from .errors import ArgumentTypeError
from .launching import launch
from .pretended import pretended_gpu
from .tuning import first_that_compiles


@contextmanager
def emulating(
    *, model: str | Model = "spec", capability: tuple[int, int] = (9, 0), **options: Any
) -> Iterator[list[LaunchResult]]:
    """Let ``cuda.tile.launch`` emulate, in this process, until the block ends.

    Host code that launches kernels runs as it is; its streams are not looked at. It may have imported
    ``launch`` by name: every module that has it gets the emulating one, those imported in the block too. The
    list that comes out holds the results of the launches in their order.

        with tileref.cutile.emulating(model="sm_90") as launches:
            ct.launch(None, grid, kernel, args)

    ``KernelSignature.from_kernel_args`` of ``cuda.tile.compilation`` looks at arrays in the CPU's memory.
    ``cuda.tile.tune.exhaustive_search`` measures nothing: it answers with the first configuration that
    compiles. If torch is loaded and has no GPU of its own, it has one in appearance: tensors made on, or
    moved to, "cuda" are in the CPU's memory.

    Args:
        model: who decides what the dialect leaves open; see ``tileref.models()``.
        capability: the compute capability that host code sees, by which it may choose kernels and tiles.
        options: as for ``launch``.
    """
    require_cutile()
    from cuda.tile import _cext, tune

    results: list[LaunchResult] = []

    def emulated(
        _stream: Any,
        grid: Any,
        kernel: Any,
        kernel_args: Sequence[Any],
        /,
        *,
        programmatic_dependent_launch: bool = False,
    ) -> None:
        for what, value in (("the grid", grid), ("the arguments of the kernel", kernel_args)):
            if not isinstance(value, tuple):
                raise ArgumentTypeError(
                    f"cuda.tile.launch takes {what} as a tuple",
                    rule="argument-type",
                    found=type(value).__name__,
                )
        results.append(launch(grid, kernel, kernel_args, model=model, **options))

    def tuned(*args: Any, **kwargs: Any) -> Any:
        return first_that_compiles(*args, **kwargs)

    def constraints(kernel: Any, args: Sequence[Any], _convention: Any, /) -> list[Any]:
        return constraints_of(kernel, args)

    def get_compute_capability(_device: int = 0) -> tuple[int, int]:
        return capability

    stand_ins = {
        _cext.launch: emulated,
        _cext.get_compute_capability: get_compute_capability,
        _cext.get_parameter_constraints_from_pyargs: constraints,
        tune.exhaustive_search: tuned,
    }
    with ExitStack() as stack:
        stack.enter_context(pretended_gpu(capability))
        stack.enter_context(_replaced(stand_ins))
        yield results


@contextmanager
def _replaced(stand_ins: Mapping[Any, Any]) -> Iterator[None]:
    """Every module's names for some objects name others, until the block ends."""
    _rename(stand_ins)
    try:
        yield
    finally:
        _rename({stand_in: original for original, stand_in in stand_ins.items()})


def _rename(by_object: Mapping[Any, Any]) -> None:
    wanted = {id(old): new for old, new in by_object.items()}
    for module in list(sys.modules.values()):
        names = getattr(module, "__dict__", None)
        if not isinstance(names, dict):
            continue
        for name, value in list(names.items()):
            if id(value) in wanted:
                names[name] = wanted[id(value)]
