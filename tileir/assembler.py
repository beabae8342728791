"""Modules to cubins, by NVIDIA's assembler ``tileiras``."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import toolchain
from .bytecode import write
from .errors import ArgumentError
from .module import Module
from .toolchain import Toolchain

DEFAULT_OPT_LEVEL = 3
"""The optimization level that tileiras takes when it is given none."""

TIMEOUT = 120.0

_TARGETS: dict[tuple[int, int], tuple[str, ...]] = {
    (13, 1): ("sm_100", "sm_103", "sm_110", "sm_120", "sm_121"),
    (13, 2): (
        *("sm_80", "sm_86", "sm_87", "sm_88", "sm_89"),
        *("sm_100", "sm_103", "sm_110", "sm_120", "sm_121"),
    ),
    (13, 3): (
        *("sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90"),
        *("sm_100", "sm_103", "sm_110", "sm_120", "sm_121"),
    ),
    (13, 4): (
        *("sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90"),
        *("sm_100", "sm_103", "sm_107", "sm_110", "sm_120", "sm_121"),
    ),
}
_TARGETS[13, 5] = _TARGETS[13, 4]

_DEFECTIVE = {"13.4.92": ("sm_90", "sm_100", "sm_103", "sm_107", "sm_110")}


@dataclass(frozen=True, slots=True)
class Cubin:
    """What the assembler made.

    Attributes:
        data: the cubin, an ELF file.
        gpu: the target, such as ``sm_90``.
        assembler: the assembler's version, such as ``13.4.92``.
        opt_level: the optimization level it worked at.
        arguments: what it was called with, without the two files.
        remarks: what it wrote to its error stream: warnings, and remarks if they were asked for.
    """

    data: bytes
    gpu: str
    assembler: str
    opt_level: int
    arguments: tuple[str, ...]
    remarks: str = ""


def targets(version: str) -> tuple[str, ...]:
    """The targets that tileiras ``version`` (such as ``13.4.92``) accepts, oldest first.

    Read off ``tileiras --help`` of 13.1.80, 13.2.86, 13.3.36, 13.4.92 and 13.5.37. A newer version counts
    as the newest of these.

    Raises:
        ArgumentError: this is not a version, or older than 13.1.
    """
    return _TARGETS[max(known for known in _TARGETS if known <= _release(version))]


def _release(version: str) -> tuple[int, int]:
    match = re.match(r"(\d+)\.(\d+)", version)
    release = (int(match[1]), int(match[2])) if match else (0, 0)
    if release < min(_TARGETS):
        raise ArgumentError("not a version of tileiras", rule="assembler-version", found=version)
    return release


def assembler_defect(version: str, gpu: str) -> str | None:
    """Why ``tileiras_args`` adds arguments for this version and target; None when it does not.

    One English sentence naming the assembler, the target and the defect.
    """
    if gpu not in _DEFECTIVE.get(version, ()):
        return None
    return (
        f"tileiras {version} is reported to make wrong code for {gpu} at its default optimization level, "
        f"and --opt-level 0 avoids it."
    )


def tileiras_args(version: str, gpu: str) -> list[str]:
    """The arguments to put before ``-o <cubin> <bytecode>``: the target, and what avoids a known defect."""
    avoid = [] if assembler_defect(version, gpu) is None else ["--opt-level", "0"]
    return ["--gpu-name", gpu, *avoid]


def assemble(
    module: Module | bytes,
    gpu: str,
    opt_level: int | None = None,
    *,
    timeout: float | None = TIMEOUT,
    assembler: Toolchain | None = None,
    options: Sequence[str] = (),
) -> Cubin:
    """Assemble a module, or bytecode, for a target.

    Args:
        module: a module (written in its own version), or bytecode as it is.
        gpu: the target, such as ``sm_90``.
        opt_level: 0 to 3; None is the assembler's default, or what avoids a defect of this assembler on
            this target (see ``assembler_defect``).
        timeout: seconds after which the assembler, and what it started, are ended; None for no limit.
        assembler: from ``tileir.toolchain.find``; looked for when not given.
        options: further arguments, such as ``("--remarks", "all")``.

    Raises:
        ArgumentError: this assembler has no such target or level.
        AssemblerError: it refused the module, crashed, timed out or is not there; ``rule`` says which.
        TileError: the module cannot be written in its version.
    """
    tools = assembler or toolchain.find()
    version = tools.version
    if gpu not in targets(version):
        raise ArgumentError(
            f"tileiras {version} has no such target",
            rule="assembler-target",
            found=gpu,
            expected=" or ".join(targets(version)),
        )
    if opt_level is None:
        arguments = tileiras_args(version, gpu)
    elif opt_level in range(4):
        arguments = ["--gpu-name", gpu, "--opt-level", str(opt_level)]
    else:
        raise ArgumentError(
            "no such optimization level", rule="opt-level", found=opt_level, expected="0 to 3"
        )
    used = int(arguments[3]) if len(arguments) > 2 else DEFAULT_OPT_LEVEL
    arguments += options

    data, source = _bytecode(module)
    with tempfile.TemporaryDirectory(prefix="tileir-") as folder:
        kernel, cubin = Path(folder, "kernel.tilebc"), Path(folder, "kernel.cubin")
        kernel.write_bytes(data)
        # The assembler's own temporary files belong in the folder that is removed, also when it is killed.
        environment = tools.environment() | {"TMPDIR": folder}
        command = [str(tools.tileiras), *arguments, "-o", str(cubin), str(kernel)]
        finished = toolchain.run(command, environment, timeout=timeout)
        toolchain.explain(finished, f"tileiras {version}", "assembler", file=source, timeout=timeout)
        return Cubin(cubin.read_bytes(), gpu, version, used, tuple(arguments), finished.stderr.strip())


def disassemble(
    module: Module | bytes,
    *,
    timeout: float | None = TIMEOUT,
    assembler: Toolchain | None = None,
    debug_info: bool = False,
) -> str:
    """The text that NVIDIA's ``tileirdisasm`` prints for a module, or for bytecode.

    Raises:
        AssemblerError: it refused the module, crashed, timed out or is not there; ``rule`` says which.
        TileError: the module cannot be written in its version.
    """
    tools = assembler or toolchain.find()
    data, source = _bytecode(module)
    with tempfile.TemporaryDirectory(prefix="tileir-") as folder:
        kernel, text = Path(folder, "kernel.tilebc"), Path(folder, "kernel.mlir")
        kernel.write_bytes(data)
        command = [str(tools.tileirdisasm), *(["--print-debug-info"] if debug_info else []), str(kernel)]
        with text.open("wb") as out:
            finished = toolchain.run(command, tools.environment(), timeout=timeout, stdout=out)
        toolchain.explain(finished, "tileirdisasm", "disassembler", file=source, timeout=timeout)
        return text.read_text(encoding="utf-8", errors="surrogateescape")


def _bytecode(module: Module | bytes) -> tuple[bytes, str | None]:
    if isinstance(module, Module):
        return write(module), module.source
    return bytes(module), None
