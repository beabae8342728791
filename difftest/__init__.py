"""Whether the GPU agrees: build kernels, launch them, judge the answers."""
