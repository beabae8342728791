"""The exit codes of the ``difftest`` commands."""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    """What an exit code of ``difftest`` means. A usage error of the command line itself is also 2."""

    AGREE = 0
    """Everything that was compared agrees."""
    DIFFER = 1
    """A difference was found, or the assembler or the GPU failed on a kernel."""
    USAGE = 2
    """An argument, a case or a folder is wrong."""
    ENVIRONMENT = 3
    """Something of the machine is missing: the assembler, the driver, the GPU."""
    NOTHING_COMPARED = 4
    """Everything was assembled and interpreted, but there was no answer of a GPU to compare with."""
