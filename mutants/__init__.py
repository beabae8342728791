"""Wrong kernels, wrong writers and wrong interpreters, and whether anyone notices."""
