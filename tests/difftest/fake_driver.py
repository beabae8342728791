"""A stand-in for ``cuda.bindings.driver``: memory is host memory, and a "cubin" is JSON that says what to do.

``{"do": "copy"}`` copies the first buffer to all others; ``add`` adds one to the second. The rest are
accidents: ``fault``, ``crash``, ``hang``, ``overrun``, ``underrun``, ``chance`` (answers with a counter that
is another one each launch), ``neighbour`` (answers with a byte before the buffer), ``refuse`` (no loading). ``global`` answers with how
often the loaded module has been launched.
"""

import ctypes
import enum
import json
import os
import signal
import time


class CUresult(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_IMAGE = 200
    CUDA_ERROR_NOT_FOUND = 500
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


class CUdevice_attribute(enum.IntEnum):
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76


OK = (CUresult.CUDA_SUCCESS,)
_memory: dict[int, ctypes.Array] = {}
_poisoned = False
_count = 0


def cuInit(flags):
    return OK


def cuDeviceGet(ordinal):
    return (*OK, ordinal)


def cuDeviceGetName(length, device):
    return (*OK, b"Fake GPU\0\0  ")


def cuDeviceGetAttribute(attribute, device):
    return (*OK, 9 if attribute == 75 else 0)


def cuDriverGetVersion():
    return (*OK, 13000)


def cuDevicePrimaryCtxRetain(device):
    return (*OK, 1)


def cuCtxSetCurrent(context):
    return OK


def cuModuleLoadData(image):
    program = json.loads(image)
    if program["do"] == "refuse":
        return (CUresult.CUDA_ERROR_INVALID_IMAGE, None)
    return (*OK, program)


def cuModuleGetFunction(module, name):
    return (*OK, module) if name == b"kernel" else (CUresult.CUDA_ERROR_NOT_FOUND, None)


def cuModuleUnload(module):
    return OK


def cuMemAlloc(size):
    buffer = (ctypes.c_ubyte * size)()
    address = ctypes.addressof(buffer)
    _memory[address] = buffer
    return (*OK, address)


def cuMemFree(address):
    del _memory[address]
    return OK


def cuMemcpyHtoD(target, source, size):
    ctypes.memmove(target, source, size)
    return OK


def cuMemcpyDtoH(target, source, size):
    ctypes.memmove(target, source, size)
    return OK


def cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra):
    global _poisoned, _count
    assert (bx, by, bz) == (1, 1, 1)
    values, _ = arguments
    source, *targets = [v for v in values if v - 4096 in _memory]
    target = targets[0]
    size = len(_memory[source - 4096]) - 8192
    _count += 1
    what = function["do"]
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "hang":
        time.sleep(600)
    if what == "fault":
        _poisoned = True
    for each in targets:
        ctypes.memmove(each, source, min(size, len(_memory[each - 4096]) - 8192))
    if what == "add":
        for i in range(size):
            byte = ctypes.c_ubyte.from_address(target + i)
            byte.value = (byte.value + 1) % 256
    if what == "overrun":
        ctypes.memset(target + size, 0, 1)
    if what == "underrun":
        ctypes.memset(target - 1, 0, 1)
    if what == "chance":
        ctypes.memset(target, _count, 1)
    if what == "global":
        function["launched"] = function.get("launched", 0) + 1
        ctypes.memset(target, function["launched"], 1)
    if what == "neighbour":
        ctypes.memmove(target, source - 1, 1)
    return OK


def cuCtxSynchronize():
    return (CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,) if _poisoned else OK
