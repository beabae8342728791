"""The work that ``bench_interpreter.py`` times, in cuda-tile, Triton and plain numpy."""
