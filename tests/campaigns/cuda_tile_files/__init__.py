"""The test files of CUDA Tile IR's own repository, read and judged by this package."""
