"""``cuda.tile.tune`` where there is nothing to measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .compiling import compile_kernel
from .launching import grid_of


def first_that_compiles(
    search_space: Sequence[Any],
    stream: Any,
    grid_fn: Callable[[Any], Any],
    kernel: Any,
    args_fn: Callable[[Any], tuple[Any, ...]],
    hints_fn: Callable[[Any], dict[str, Any]] | None = None,
    *,
    quiet: bool = False,
    single_run_timeout_sec: float | None = None,
    flush_l2: bool = True,
) -> Any:
    """What ``cuda.tile.tune.exhaustive_search`` answers if every configuration takes equally long.

    The first configuration whose kernel compiles is the best one, with no samples and no time; those before
    it are failures, as they would be on a GPU. The ones after it are not looked at.

    Raises:
        ValueError: the search space is empty, or no configuration compiles.
    """
    from cuda.tile import kernel as kernel_type
    from cuda.tile.tune import Measurement, TuningResult

    failures: list[tuple[Any, type[BaseException], str]] = []
    for config in search_space:
        # What these raise ends the search on a GPU, too.
        grid = grid_fn(config)
        chosen = kernel if isinstance(kernel, kernel_type) else kernel(config)
        hinted = chosen.replace_hints(**({} if hints_fn is None else hints_fn(config)))
        try:
            compile_kernel(hinted, args_fn(config))
            grid_of(grid)
        except Exception as error:  # As the original does: a configuration that fails is passed over.
            failures.append((config, type(error), str(error)))
            continue
        best = Measurement(config=config, mean_us=0.0, num_samples=0, error_margin_us=0.0)
        return TuningResult(best=best, successes=(best,), failures=tuple(failures))
    if not failures:
        raise ValueError("the search space is empty")
    config, kind, message = failures[-1]
    raise ValueError(
        f"no configuration of the search space compiles; the last, {config}: {kind.__name__}: {message}"
    )
