"""Compiling ``corpora.sources`` to bytecode and writing the manifest: needs cuda-tile, and no GPU."""
