"""The one family of errors: what was read, where, which rule it breaks, what was found and expected."""

from __future__ import annotations


class TileError(Exception):
    """Something outside this program is wrong: a file, a kernel, an argument, a tool.

    Attributes:
        rule: short stable name of the rule that was broken, such as ``bytecode-magic``.
        file: path of the file at fault, if there is one.
        offset: byte offset into that file, for bytecode.
        line, column: position in that file, for text (both from 1).
        operation: the dialect's name of the operation at fault.
        location: source location of that operation, as ``file:line:column``.
        found, expected: the two sides of the disagreement, ready to print.
    """

    def __init__(
        self,
        message: str,
        *,
        rule: str,
        file: str | None = None,
        offset: int | None = None,
        line: int | None = None,
        column: int | None = None,
        operation: str | None = None,
        location: str | None = None,
        found: object = None,
        expected: object = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.rule = rule
        self.file = file
        self.offset = offset
        self.line = line
        self.column = column
        self.operation = operation
        self.location = location
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        where = []
        if self.file is not None:
            place = self.file
            if self.line is not None:
                place += f":{self.line}"
                if self.column is not None:
                    place += f":{self.column}"
            where.append(place)
        if self.offset is not None:
            where.append(f"byte {self.offset}")
        if self.operation is not None:
            where.append(self.operation)
        if self.location is not None:
            where.append(f"at {self.location}")
        text = self.message
        if self.found is not None or self.expected is not None:
            sides = []
            if self.found is not None:
                sides.append(f"found {self.found}")
            if self.expected is not None:
                sides.append(f"expected {self.expected}")
            text += f" ({', '.join(sides)})"
        prefix = ", ".join(where)
        return f"{prefix}: {text} [{self.rule}]" if prefix else f"{text} [{self.rule}]"


class BytecodeError(TileError):
    """A file is not well-formed Tile IR bytecode."""


class WriteError(TileError):
    """A module has no spelling in the bytecode version asked for, or is not well-formed."""


class TextError(TileError):
    """A text is not well-formed Tile IR."""


class UnsupportedError(TileError):
    """Well-formed and known, but something this program does not do yet; the message says what."""


class ArgumentError(TileError):
    """An argument of a launch or a command is of the wrong type, count or size."""


class AssemblerError(TileError):
    """The assembler or the disassembler refused a module, crashed, timed out or is not there.

    ``rule`` tells these apart: ``assembler-refused``, ``assembler-crashed``, ``assembler-timeout``,
    ``assembler-missing`` (and the same with ``disassembler``).

    Attributes:
        returncode: its exit status; None if it did not end by itself.
        signal: the name of the signal that ended it, such as ``SIGSEGV``.
        output: what it wrote to its error stream, as it was.
    """

    def __init__(
        self,
        message: str,
        *,
        rule: str,
        returncode: int | None = None,
        signal: str | None = None,
        output: str = "",
        file: str | None = None,
        found: object = None,
        expected: object = None,
    ) -> None:
        super().__init__(message, rule=rule, file=file, found=found, expected=expected)
        self.returncode = returncode
        self.signal = signal
        self.output = output
