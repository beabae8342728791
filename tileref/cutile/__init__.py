"""cuda-tile kernels on the CPU: compiled for the arguments at hand without a GPU, and emulated.

    import cuda.tile as ct
    import numpy as np
    import tileref.cutile

    @ct.kernel
    def add(x, y, z, TILE: ct.Constant[int]):
        i = ct.bid(0)
        ct.store(z, (i,), ct.load(x, (i,), (TILE,)) + ct.load(y, (i,), (TILE,)))

    x, y = np.ones(1024, np.float32), np.ones(1024, np.float32)
    z = np.empty_like(x)
    tileref.cutile.launch((4,), add, (x, y, z, 256), model="sm_90")

``launch`` stands for ``cuda.tile.launch`` without its stream. Inside ``emulating``, host code that calls
``cuda.tile.launch`` runs as it is. Both need cuda-tile (``pip install 'tileproof[cutile]'``).
"""

from .compiling import Compiled, compile_kernel
from .host import emulating
from .launching import compare, estimate, launch

__all__ = ["Compiled", "compare", "compile_kernel", "emulating", "estimate", "launch"]
