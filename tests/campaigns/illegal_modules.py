"""Illegal modules: what our verifier refuses, and what NVIDIA's disassembler refuses.

    python -m tests.campaigns.illegal_modules [--limit 5000] [--bases 2]

Every module is a legal kernel with one part of one operation changed, or a form of an operation. Prints how
the two agree, and each kind of disagreement with an example; the exit status is 1 if they are over 2 %.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator

import tileir
from tileir import generate, registry, toolchain
from tileir.errors import AssemblerError, WriteError
from tileir.module import Module


def modules(bases: int) -> Iterator[tuple[str, Module]]:
    """Modules that may be illegal, with what they are."""
    for form in generate.all_forms():
        yield form.label, form.module()
    for opcode in sorted(registry.BY_OPCODE):
        kind = registry.BY_OPCODE[opcode]
        for change in generate.breaks_of(kind, bases):
            yield f"{kind.mnemonic} {change.base.label} | {change.label}", change.module()


def refusal(module: Module, tools: toolchain.Toolchain) -> str | None:
    """What the disassembler has against a module; None if nothing."""
    try:
        tileir.disassemble(module, assembler=tools)
    except AssemblerError as error:
        return next((line for line in error.output.splitlines() if "error:" in line), error.rule)
    return None


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, help="how many modules, spread over all")
    parser.add_argument("--bases", type=int, default=2, help="how many bases of an operation are changed")
    arguments = parser.parse_args()
    tools = toolchain.find()
    everything = list(modules(arguments.bases))
    step = max(1, len(everything) // arguments.limit) if arguments.limit else 1
    counts: Counter[tuple[bool, bool]] = Counter()
    unwritable = 0
    differing: dict[tuple[str, str], list[str]] = defaultdict(list)
    newest = max(v for v in tileir.version.SUPPORTED if f"{v}" <= ".".join(tools.version.split(".")[:2]))
    for label, module in everything[::step]:
        if module.version > newest:
            continue
        diagnostics = tileir.verify(module)
        try:
            tileir.write(module)
        except WriteError:
            unwritable += 1
            continue
        theirs = refusal(module, tools)
        counts[bool(diagnostics), theirs is not None] += 1
        if bool(diagnostics) != (theirs is not None):
            reason = str(diagnostics[0].rule) if diagnostics else str(theirs)[:160]
            differing[label.split()[0], reason].append(label)
    total = sum(counts.values())
    different = counts[True, False] + counts[False, True]
    print(
        f"{total} modules asked about with tileirdisasm {tools.version} ({unwritable} more have no spelling)"
    )
    print(f"  both refuse {counts[True, True]}, both accept {counts[False, False]}")
    print(f"  only we refuse {counts[True, False]}, only they refuse {counts[False, True]}")
    print(f"  disagreements: {100 * different / max(total, 1):.2f} %")
    for (operation, reason), labels in sorted(differing.items()):
        print(f"  {len(labels):5} {operation}: {reason}, as in {labels[0]}")
    return 1 if different > 0.02 * total else 0


if __name__ == "__main__":
    sys.exit(main())
