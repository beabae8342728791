"""The process that touches the GPU: one request a line on standard input, one answer a line on the output.

It is a process of its own so that what a kernel does to it costs one case. It keeps nothing between
requests, and ends when its input ends or when the driver has failed: an error of the driver poisons a
process, and nothing after it could be believed.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from ..plan import Argument, PlannedCase, read_case
from ..store import Store
from .driver import Device, DriverError

GUARD = 4096
"""Bytes before and after each buffer that a kernel must leave alone; a multiple of any alignment it needs."""
GUARD_FILLS = (0xA5, 0x5A, 0xFF)
"""What the guards hold, launch by launch: a kernel that reads them answers differently each time."""


def main(arguments: list[str]) -> int:
    """``worker FOLDER DRIVER_MODULE ORDINAL``."""
    folder, module, ordinal = arguments
    _die_with_parent()
    # What the driver or a kernel prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(document: dict[str, Any]) -> None:
        answers.write(json.dumps(document) + "\n")
        answers.flush()

    try:
        device = Device(module, int(ordinal))
    except ImportError as error:
        answer({"ready": False, "message": f"{error} (pip install cuda-python)"})
        return 3
    except (DriverError, OSError, RuntimeError, AttributeError) as error:
        answer({"ready": False, "message": f"{type(error).__name__}: {error}"})
        return 3
    answer(
        {
            "ready": True,
            "gpu": device.gpu,
            "device": device.name,
            "driver": device.driver,
            "compute_capability": f"{device.major}.{device.minor}",
        }
    )
    store = Store(Path(folder))
    for line in sys.stdin:
        request = json.loads(line)
        try:
            document = run(
                device, store, read_case(store, request["case"]), request["cubin"], request["times"]
            )
        except DriverError as error:
            result = "load" if error.call.startswith("cuModule") else "fault"
            answer({"result": result, "message": str(error)})
            return 0
        answer(document)
    return 0


def run(device: Device, store: Store, case: PlannedCase, cubin: str, times: int) -> dict[str, Any]:
    """Launch a case ``times`` times, each from fresh memory, and keep what it answered.

    Raises:
        DriverError: a call of the driver failed.
    """
    start = time.perf_counter()
    image = store.get(cubin)
    contents = [store.get(a.blob) if a.blob is not None else b"" for a in case.arguments]
    first: list[bytes] = []
    done = 0
    result, message = "ok", ""
    for attempt in range(times):
        # Loaded anew each time: what a kernel leaves in its globals lives as long as the module.
        module, function = device.load(image, case.entry)
        found, broken = launch_once(device, function, case, contents, GUARD_FILLS[attempt % len(GUARD_FILLS)])
        device.unload(module)
        done += 1
        if broken:
            result, message = "guard", f"the kernel wrote outside parameter {broken[0]}"
            first = found
            break
        if attempt == 0:
            first = found
            continue
        other = [i for i, (a, b) in enumerate(zip(first, found, strict=True)) if a != b]
        if other:
            result = "nondeterministic"
            message = f"launch {attempt + 1} changed parameter {other[0]} otherwise than launch 1"
            break
    outputs = {
        str(i): store.put(data)
        for i, (argument, data) in enumerate(zip(case.arguments, first, strict=True))
        if argument.is_buffer and (argument.output or data != contents[i])
    }
    return {
        "result": result,
        "message": message,
        "outputs": outputs,
        "launches": done,
        "seconds": time.perf_counter() - start,
    }


def launch_once(
    device: Device, function: Any, case: PlannedCase, contents: list[bytes], fill: int
) -> tuple[list[bytes], list[int]]:
    """One launch: what each buffer held afterwards (``b""`` for a number), and whose guards were written."""
    guard = bytes([fill]) * GUARD
    addresses: dict[int, Any] = {}
    values: list[tuple[int, int]] = []
    try:
        for position, argument in enumerate(case.arguments):
            if not argument.is_buffer:
                values.append((argument.bits, _width(argument)))
                continue
            data = bytearray(guard + contents[position] + guard)
            addresses[position] = device.allocate(len(data))
            device.copy_in(addresses[position], data)
            values.append((int(addresses[position]) + GUARD, 8))
        device.launch(function, case.grid, values)
        found: list[bytes] = [b""] * len(case.arguments)
        broken = []
        for position, address in addresses.items():
            size = len(contents[position])
            data = device.copy_out(address, size + 2 * GUARD)
            if data[:GUARD] != guard or data[GUARD + size :] != guard:
                broken.append(position)
            found[position] = bytes(data[GUARD : GUARD + size])
    finally:
        for address in addresses.values():
            # After a fault nothing can be freed, and the fault is what matters.
            with contextlib.suppress(DriverError):
                device.free(address)
    return found, broken


def _width(argument: Argument) -> int:
    """Bytes that a number takes as a parameter."""
    digits = "".join(c for c in argument.format.partition("E")[0] if c.isdigit())
    return max(8, int(digits)) // 8


def _die_with_parent() -> None:
    """Be killed when the process that started this one dies, however it dies (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
