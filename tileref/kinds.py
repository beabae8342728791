"""Every kind of undefined behaviour that a launch reports, in one list."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The stable name of a rule that a kernel broke; ``rule`` says it in a sentence."""

    rule: str

    def __new__(cls, name: str, rule: str) -> Kind:
        """A member: its name for reports, and the rule."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.rule = rule
        return member

    OUT_OF_RANGE_LOAD = (
        "out-of-range-load",
        "A load reads elements of the buffer that its pointer belongs to, and none before or behind it.",
    )
    OUT_OF_RANGE_STORE = "out-of-range-store", "A store writes elements of the buffer its pointer belongs to."
    OUT_OF_RANGE_ATOMIC = (
        "out-of-range-atomic",
        "An atomic operation works on elements of the buffer its pointer belongs to.",
    )
    WILD_POINTER = "wild-pointer", "An address that is accessed belongs to some buffer."
    MISALIGNED_POINTER = (
        "misaligned-pointer",
        "An address that is accessed is a multiple of the element's size in bytes.",
    )
    INBOUNDS = "inbounds", "A tile stays inside its tensor along every dimension that `inbounds` promises."
    UNWRITTEN_MEMORY = "unwritten-memory", "Memory of an `alloca` is written before it is read."
    COLLIDING_LANES = (
        "colliding-lanes",
        "The lanes of one weak store that go to the same element store the same value.",
    )
    UNORDERED_ACCESS = (
        "unordered-access",
        "Of two accesses of a block to one element, at least one a write and at least one weak, the later "
        "waits for the earlier by its token; neither program order nor data dependences order them.",
    )
    RACE = (
        "race",
        "Of two accesses of different blocks to one element, at least one a write and at least one weak, "
        "one happens before the other; writes of one value may race.",
    )
    UNDEFINED_VALUE = (
        "undefined-value",
        "Pointers, masks, indices, bounds, conditions, and what is printed or atomically combined, exist.",
    )
    FALSE_ASSUMPTION = "false-assumption", "What `assume` claims is true."
    LOOP_STEP = "loop-step", "The step of a `for` is positive."
    IDENTITY = (
        "identity",
        "The identity of a reduction or scan changes no partial result that its body combines it with.",
    )
    INTEGER_DIVISION = (
        "integer-division",
        "A quotient or remainder that reaches memory has a divisor that is not zero and does not overflow.",
    )
    OVERFLOW = (
        "overflow",
        "An integer that reaches memory keeps what `overflow<...>` promised of it.",
    )
    SHIFT_COUNT = (
        "shift-count",
        "A shift whose result reaches memory is by less than the width, and loses no bits against a promise.",
    )
    FLOAT_TO_INTEGER = (
        "float-to-integer",
        "A float whose conversion to an integer reaches memory is finite and within the integer's range.",
    )
    SLICE = "slice", "A slice of `extract` or `insert` whose tile reaches memory is one that the tile has."


def table() -> str:
    """The kinds as a table in Markdown, as ``docs/undefined.md`` has it."""
    rows = ["| kind | the rule that was broken |", "| --- | --- |"]
    rows += [f"| `{kind.value}` | {kind.rule} |" for kind in Kind]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(table(), end="")
