"""The reference interpreter of CUDA Tile IR, in numpy, bit for bit."""
