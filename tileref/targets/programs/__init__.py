"""Programs that the assembler makes of functions the hardware has no instruction for.

Each module holds those of one kind in one format. They are the instructions that are executed, one after the
other, each rounded as it is there; what a name or a comment adds is what they are for. They were read off
disassembled kernels and compared with the GPU's answers in every bit (``docs/models.md``).
"""
