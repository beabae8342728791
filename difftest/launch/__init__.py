"""The launch stage: run the cubins of a folder on a GPU and keep what they answered.

Runs as ``python -m difftest.launch FOLDER`` where only numpy, ml_dtypes and the CUDA bindings are installed.
"""
