"""CUDA Tile IR: its operations, and their spellings as bytecode and as text."""
