"""Whether the GPU agrees: build, launch and judge, each a stage that reads and writes a folder.

Importing this package imports nothing else: ``difftest.launch`` must run where only numpy, ml_dtypes and
the CUDA bindings are installed.
"""
