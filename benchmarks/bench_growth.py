"""Time tileref per block for 10^2 to 10^6 blocks of a kernel: does it grow with the grid?

    python benchmarks/bench_growth.py [--most 1000000] [--rounds N] [--threads N] [--only WORD]

What is measured is the processor time of a whole launch (all threads, reading and binding the arguments
included, reading the bytecode and preparing the kernel not) divided by the number of blocks: nothing is
subtracted, so that small grids pay the fixed cost of a launch. ``ratio`` is that to the best of the kernel.

The mean over two seconds of launches is taken of every grid, in turn, and the best of three means counts: a
best of many short calls would flatter small grids, for which the machine has quiet moments.

Every kernel reads tiles of arrays that stay as large as they are (a block's number modulo the number of
tiles), and stores a number a block: what grows is the grid, not how much of the arrays a cache holds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import tileir
import tileref

TILES = 64
"""How many tiles the arrays hold."""


def kernel(tile: int, body: str) -> str:
    """A kernel with two tiles of ``tile`` elements, ``%a`` and ``%b``, which sums and stores ``%r``."""
    view = f"tensor_view<{TILES * tile}xf32, strides=[1]>"
    tiles = f"partition_view<tile=({tile}), {view}>"
    loads = "".join(
        f"""
  %{name}_all = make_tensor_view %{of}, shape = [{TILES * tile}], strides = [1] : {view}
  %{name}_tiles = make_partition_view %{name}_all : {tiles}
  %{name}, %{name}_t = load_view_tko weak %{name}_tiles[%from] : {tiles}, tile<i32> -> tile<{tile}xf32>, token
"""
        for name, of in (("a", "x"), ("b", "y"))
    )
    return f"""
entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %out: tile<ptr<f32>>) {{
  %block, %by, %bz = get_tile_block_id : tile<i32>
  %tiles = constant <i32: {TILES}> : tile<i32>
  %from = remi %block, %tiles unsigned : tile<i32>
{loads}
{body}
  %sum = reduce %r dim=0 identities=[0.0 : f32] : tile<{tile}xf32> -> tile<f32>
    (%s: tile<f32>, %e: tile<f32>) {{
      %t = addf %s, %e : tile<f32>
      yield %t : tile<f32>
    }}
  %to = offset %out, %block : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %u = store_ptr_tko weak %to, %sum : tile<ptr<f32>>, tile<f32> -> token
  return
}}
"""


def add(tile: int) -> str:
    """The sum of both."""
    return kernel(tile, f"  %r = addf %a, %b : tile<{tile}xf32>\n")


def softmax(tile: int) -> str:
    """The exponentials of one below its largest."""
    return kernel(
        tile,
        f"""
  %most = reduce %a dim=0 identities=[0.0 : f32] : tile<{tile}xf32> -> tile<f32>
    (%ms: tile<f32>, %me: tile<f32>) {{
      %mt = maxf %ms, %me : tile<f32>
      yield %mt : tile<f32>
    }}
  %most1 = reshape %most : tile<f32> -> tile<1xf32>
  %mostn = broadcast %most1 : tile<1xf32> -> tile<{tile}xf32>
  %low = subf %a, %mostn : tile<{tile}xf32>
  %r = exp %low : tile<{tile}xf32>
""",
    )


def loop(tile: int) -> str:
    """Sixteen turns of acc * a + b."""
    return kernel(
        tile,
        f"""
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %turns = constant <i32: 16> : tile<i32>
  %r = for %i in (%zero to %turns, step %one) : tile<i32> iter_values(%acc = %a) -> (tile<{tile}xf32>) {{
    %next = fma %acc, %a, %b : tile<{tile}xf32>
    continue %next : tile<{tile}xf32>
  }}
""",
    )


KERNELS: list[tuple[str, Callable[[int], str], int]] = [
    ("add, tiles of 64", add, 64),
    ("add, tiles of 1024", add, 1024),
    ("softmax, rows of 64", softmax, 64),
    ("softmax, rows of 1024", softmax, 1024),
    ("softmax, rows of 4096", softmax, 4096),
    ("loop of 16, tiles of 64", loop, 64),
    ("loop of 16, tiles of 1024", loop, 1024),
    ("loop of 16, tiles of 2048", loop, 2048),
    ("loop of 16, tiles of 4096", loop, 4096),
]


def launches(text: str, tile: int, blocks: int, model: str, threads: int | None) -> Callable[[], None]:
    """A function that launches the kernel on ``blocks`` blocks, and has done so once."""
    random = np.random.default_rng(1)
    x, y = (random.standard_normal(TILES * tile).astype(np.float32) for _ in range(2))
    out = np.empty(blocks, np.float32)
    loaded = tileref.load(tileir.parse(text))

    def launch() -> None:
        loaded.launch(blocks, [x, y, out], model=model, threads=threads)

    launch()
    return launch


def mean(launch: Callable[[], None], seconds: float) -> float:
    """Processor time of a launch, over as many as take ``seconds``."""
    count, start, end = 0, time.process_time(), time.perf_counter() + seconds
    while not count or time.perf_counter() < end:
        launch()
        count += 1
    return (time.process_time() - start) / count


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time tileref per block as the grid grows.")
    parser.add_argument("--most", type=int, default=10**6, help="blocks of the largest grid")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many means counts")
    parser.add_argument("--seconds", type=float, default=2, help="that a mean is taken over")
    parser.add_argument("--model", default="spec")
    parser.add_argument("--threads", type=int, help="one a processor if not given")
    parser.add_argument("--only", default="", help="kernels whose name contains this")
    chosen = parser.parse_args()
    grids = [10**k for k in range(2, 8) if 10**k <= chosen.most]
    print(f"{'microseconds a block (ratio)':28}" + "".join(f"{blocks:>16,}" for blocks in grids))
    for name, text, tile in KERNELS:
        if chosen.only not in name:
            continue
        each = [launches(text(tile), tile, n, chosen.model, chosen.threads) for n in grids]
        rounds = [[mean(launch, chosen.seconds) for launch in each] for _ in range(chosen.rounds)]
        times = [min(means) / n for means, n in zip(zip(*rounds, strict=True), grids, strict=True)]
        cells = [f"{t * 1e6:.3f} ({t / min(times):.2f})" for t in times]
        print(f"{name:28}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
