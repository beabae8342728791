"""The few calls of the CUDA driver that a launch needs, each checked."""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DRIVER_MODULE = "cuda.bindings.driver"
_UNSIGNED = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32, 8: ctypes.c_uint64}


class DriverError(Exception):
    """A call of the driver failed; ``call`` says which, ``code`` is the name of its error."""

    def __init__(self, call: str, code: str) -> None:
        super().__init__(f"{call}: {code}")
        self.call = call
        self.code = code


class Device:
    """One GPU with its primary context current in this thread.

    Args:
        module: the name of a module with the interface of ``cuda.bindings.driver``.
        ordinal: which GPU.

    Raises:
        DriverError: a call fails; also when there is no such GPU.
        ImportError: the module is not installed.
    """

    def __init__(self, module: str = DRIVER_MODULE, ordinal: int = 0) -> None:
        self.cuda = importlib.import_module(module)
        self.call("cuInit", 0)
        device = self.call("cuDeviceGet", ordinal)
        attribute = self.cuda.CUdevice_attribute
        self.major = int(
            self.call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)
        )
        self.minor = int(
            self.call("cuDeviceGetAttribute", attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
        )
        name = self.call("cuDeviceGetName", 256, device)
        # What follows the name in its buffer is not part of it.
        self.name = (name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)).split("\0")[0]
        version = int(self.call("cuDriverGetVersion"))
        self.driver = _kernel_driver() or f"CUDA {version // 1000}.{version % 1000 // 10}"
        self.context = self.call("cuDevicePrimaryCtxRetain", device)
        self.call("cuCtxSetCurrent", self.context)

    @property
    def gpu(self) -> str:
        """The target that this GPU is, such as ``sm_90``."""
        return f"sm_{self.major}{self.minor}"

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function of the driver; what it gives beside its status.

        Raises:
            DriverError: the status is not success.
        """
        answer = getattr(self.cuda, name)(*arguments)
        status, *values = answer if isinstance(answer, tuple) else (answer,)
        if int(status) != 0:
            raise DriverError(name, getattr(status, "name", str(int(status))))
        return values[0] if values else None

    def load(self, cubin: bytes, entry: str) -> tuple[Any, Any]:
        """A module, and the kernel called ``entry`` in it."""
        module = self.call("cuModuleLoadData", cubin)
        return module, self.call("cuModuleGetFunction", module, entry.encode())

    def unload(self, module: Any) -> None:
        """Unload a module."""
        self.call("cuModuleUnload", module)

    def allocate(self, size: int) -> Any:
        """Device memory of ``size`` bytes."""
        return self.call("cuMemAlloc", size)

    def free(self, address: Any) -> None:
        """Free device memory."""
        self.call("cuMemFree", address)

    def copy_in(self, address: Any, data: bytearray) -> None:
        """Copy host bytes to device memory."""
        source = (ctypes.c_char * len(data)).from_buffer(data)
        self.call("cuMemcpyHtoD", address, ctypes.addressof(source), len(data))

    def copy_out(self, address: Any, size: int) -> bytearray:
        """Copy device memory to host bytes."""
        data = bytearray(size)
        target = (ctypes.c_char * size).from_buffer(data)
        self.call("cuMemcpyDtoH", ctypes.addressof(target), address, size)
        return data

    def launch(self, function: Any, grid: Sequence[int], arguments: Sequence[tuple[int, int]]) -> None:
        """Launch over ``grid`` with one thread a block, as tile kernels want it, and wait until it is done.

        Args:
            function: from ``load``.
            grid: one to three extents.
            arguments: for each parameter its bits and its width in bytes; an address has width 8.
        """
        x, y, z = (*grid, 1, 1)[:3]
        values = tuple(bits for bits, _ in arguments)
        kinds = tuple(_UNSIGNED[width] for _, width in arguments)
        self.call("cuLaunchKernel", function, x, y, z, 1, 1, 1, 0, 0, (values, kinds), 0)
        self.call("cuCtxSynchronize")


def _kernel_driver() -> str | None:
    """The version of the driver in the kernel, such as 580.159.04; None where it does not say."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    match = re.search(r"Kernel Module.*?\s(\d+\.\d+(?:\.\d+)?)\s", text)
    return match[1] if match else None
