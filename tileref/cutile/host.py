"""Host code that launches cuda-tile kernels, run as it is."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from ..result import LaunchResult
from ..targets.model import Model
from .compiling import require_cutile
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
        results.append(launch(grid, kernel, kernel_args, model=model, **options))

    def tuned(*args: Any, **kwargs: Any) -> Any:
        return first_that_compiles(*args, **kwargs)

    with ExitStack() as stack:
        stack.enter_context(pretended_gpu(capability))
        stack.enter_context(_replaced({_cext.launch: emulated, tune.exhaustive_search: tuned}))
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
