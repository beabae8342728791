"""Finding NVIDIA's assembler and disassembler, and running a program under a time limit.

This is the only place that looks at the environment for them.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import BinaryIO

from .errors import AssemblerError

PIP = "pip install nvidia-cuda-tileiras==13.4.92 nvidia-cuda-nvcc==13.4.92 nvidia-nvvm==13.4.92"
OUTPUT_LIMIT = 1 << 20
"""Bytes of a program's standard or error output that are kept."""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Where the programs are.

    ``cuda_home`` is the folder in whose ``bin`` the assembler finds ``ptxas``; None if that is beside the
    assembler itself, where it looks first.
    """

    tileiras: Path
    cuda_home: Path | None

    @property
    def version(self) -> str:
        """What ``tileiras --version`` prints after V, such as ``13.4.92``."""
        return _version(str(self.tileiras))

    @property
    def tileirdisasm(self) -> Path:
        """The disassembler beside the assembler; it is there since 13.4.

        Raises:
            AssemblerError: it is not.
        """
        path = self.tileiras.with_name("tileirdisasm")
        if not path.is_file():
            raise AssemblerError(
                f"there is no tileirdisasm beside {self.tileiras}; it comes since 13.4 ({PIP})",
                rule="disassembler-missing",
            )
        return path

    def environment(self) -> dict[str, str]:
        """The environment to run the programs in: what they need of ours, and the way to ``ptxas``."""
        kept = ("PATH", "LD_LIBRARY_PATH", "HOME", "LANG", "SYSTEMROOT")
        environment = {name: os.environ[name] for name in kept if name in os.environ}
        if self.cuda_home is not None:
            environment["CUDA_HOME"] = str(self.cuda_home)
        return environment


def find(path: str | os.PathLike[str] | None = None) -> Toolchain:
    """The assembler at ``path``, or else the one of ``TILEIRAS``, of ``PATH``, or of the Python wheel.

    Raises:
        AssemblerError: there is none, or no ``ptxas`` that it could call; the message has the pip command.
    """
    given = path if path is not None else os.environ.get("TILEIRAS")
    if given:
        found = shutil.which(os.fspath(given))
        if found is None:
            name = "the assembler given" if path is not None else "the environment variable TILEIRAS"
            raise AssemblerError(
                f"{name} names no program that can be run", rule="assembler-missing", found=os.fspath(given)
            )
    else:
        found = shutil.which("tileiras") or _in_wheels("tileiras")
    if found is None:
        raise AssemblerError(
            f"tileiras is neither in TILEIRAS, nor on PATH, nor among the Python packages: {PIP}",
            rule="assembler-missing",
        )
    # Links are followed because the assembler looks for ptxas beside its own real file.
    tileiras = Path(found).resolve()
    return Toolchain(tileiras, _cuda_home(tileiras))


def _cuda_home(tileiras: Path) -> Path | None:
    if tileiras.with_name("ptxas").exists():
        return None
    home = os.environ.get("CUDA_HOME")
    if home and (Path(home) / "bin" / "ptxas").exists():
        return Path(home)
    ptxas = _in_wheels("ptxas")
    if ptxas is None:
        raise AssemblerError(
            f"{tileiras} finds no ptxas to call beside it, in CUDA_HOME or among the Python packages: {PIP}",
            rule="assembler-missing",
        )
    return Path(ptxas).parent.parent


def _in_wheels(program: str) -> str | None:
    """The program in the ``bin`` folder that NVIDIA's wheels share, ``nvidia/cu<major>/bin``."""
    for entry in sys.path:
        for found in sorted(Path(entry or ".").glob(f"nvidia/cu*/bin/{program}"), reverse=True):
            if os.access(found, os.X_OK):
                return str(found)
    return None


@cache
def _version(tileiras: str) -> str:
    done = run([tileiras, "--version"], {}, timeout=30)
    match = re.search(r"\bV(\d+\.\d+\.\d+)", done.stdout)
    if match is None:
        raise AssemblerError(
            f"{tileiras} does not say its version", rule="assembler-missing", output=done.stdout + done.stderr
        )
    return match[1]


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. ``returncode`` is negative for a signal, None if its time was up."""

    returncode: int | None
    stdout: str
    stderr: str

    @property
    def signal(self) -> str | None:
        """The name of the signal that ended it, if one did."""
        if self.returncode is None or self.returncode >= 0:
            return None
        try:
            return signal.Signals(-self.returncode).name
        except ValueError:
            return f"signal {-self.returncode}"


def run(
    arguments: Sequence[str],
    environment: dict[str, str],
    *,
    timeout: float | None,
    stdout: BinaryIO | None = None,
) -> Finished:
    """Run a program without a shell; when ``timeout`` seconds are over, end it and all it started.

    Output goes through files: a pipe that a surviving grandchild holds open cannot make us wait. ``stdout``
    is a file that takes the whole of the standard output, of which at most ``OUTPUT_LIMIT`` bytes are kept
    otherwise.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=out if stdout is None else stdout,
            stderr=err,
            env=environment,
            start_new_session=True,
        )
        try:
            returncode: int | None = process.wait(timeout)
        except subprocess.TimeoutExpired:
            returncode = None
        finally:
            # Also when this thread is interrupted: nobody is left behind.
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(OUTPUT_LIMIT).decode("utf-8", "replace"))
    return Finished(returncode, *texts)


def explain(finished: Finished, program: str, role: str, *, file: str | None, timeout: float | None) -> None:
    """Raise the ``AssemblerError`` that says how ``program`` failed; return if it did not.

    Raises:
        AssemblerError: with rule ``<role>-refused``, ``<role>-crashed`` or ``<role>-timeout``.
    """
    output = finished.stderr.strip()
    if finished.returncode == 0:
        return
    if finished.returncode is None:
        message, kind = f"{program} was stopped after {timeout:g} s", "timeout"
    elif finished.signal is not None:
        message, kind = f"{program} crashed with {finished.signal}", "crashed"
    else:
        said = output or "it said nothing"
        message, kind = f"{program} refused the module (exit status {finished.returncode}): {said}", "refused"
    raise AssemblerError(
        message,
        rule=f"{role}-{kind}",
        returncode=finished.returncode,
        signal=finished.signal,
        output=output,
        file=file,
    )
