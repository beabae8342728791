"""Compiling the kernels of ``corpora.sources`` to bytecode and writing the manifest: needs cuda-tile, no GPU."""
