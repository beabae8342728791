"""On what the interpreter and the GPU are compared: kernels, inputs, and answers recorded from GPUs.

``load`` gives the cases of this package, ``foreign`` those of another folder. Kernels come as bytecode, so
running a case needs neither the compiler that made it nor a GPU.
"""

from .case import Buffer, Case, Scalar
from .foreign import foreign
from .manifest import load
from .records import Record

__all__ = ["Buffer", "Case", "Record", "Scalar", "foreign", "load"]
