"""What the assembler accepts for each target, and what our verifier says.

    python -m tests.campaigns.target_rules [--targets sm_80,sm_90] [--opt-level 0] [--batch 40]

Every base of every operation is assembled, many to a module; a module that is refused is halved until the
kernel at fault is alone. Prints each disagreement; the exit status is 1 if there is one that is not known.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import tileir
from tileir import generate, toolchain
from tileir.errors import AssemblerError
from tileir.generate.maker import Maker
from tileir.module import Module
from tileir.version import SUPPORTED, Version

KNOWN = {
    "load_view_tko gather_scatter_view<tile=(4x8), tensor_view<?x64xf8E8M0FNU": "tileiras dies (SIGILL)",
    "gather_scatter_view<tile=(4x8), tensor_view<?x64xf4E2M1FN": "tileiras makes IR that it then refuses",
    "load_ptr_tko tile<16xf4E2M1FN>": "tileiras cannot see which elements share a byte",
    "store_ptr_tko tile<16xf4E2M1FN>": "tileiras cannot see which elements share a byte",
}
"""Legal kernels that tileiras 13.4.92 does not assemble for any target, and why."""


def batch(forms: Sequence[generate.Form], version: Version) -> Module:
    """One module with a kernel for each form."""
    module = Module()
    for number, form in enumerate(forms):
        maker = Maker(f"k{number}", module)
        form.add(maker)
        maker.finish(version)
    return module


def refused(
    forms: Sequence[generate.Form], target: str, version: Version, level: int, tools: toolchain.Toolchain
) -> Iterator[tuple[generate.Form, str]]:
    """The forms that the assembler refuses, with its reason."""
    try:
        tileir.assemble(batch(forms, version), target, level, assembler=tools, timeout=600)
    except AssemblerError as error:
        if len(forms) == 1:
            yield forms[0], next(iter(error.output.splitlines()), str(error))[:200]
            return
        half = len(forms) // 2
        yield from refused(forms[:half], target, version, level, tools)
        yield from refused(forms[half:], target, version, level, tools)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", help="separated by commas; all that the assembler has, if left out")
    parser.add_argument("--opt-level", type=int, default=0)
    parser.add_argument("--batch", type=int, default=40)
    arguments = parser.parse_args()
    tools = toolchain.find()
    version = max(v for v in SUPPORTED if f"{v}" <= ".".join(tools.version.split(".")[:2]))
    targets = arguments.targets.split(",") if arguments.targets else tileir.targets(tools.version)
    forms = [generate.Form(b, ()) for opcode in sorted(generate.BASES) for b in generate.BASES[opcode]]
    forms = [f for f in forms if f.since <= version and not tileir.verify(f.module(version))]
    surprises = 0
    for target in targets:
        expected = {id(f) for f in forms if tileir.verify(f.module(version), target)}
        found: dict[int, tuple[generate.Form, str]] = {}
        for start in range(0, len(forms), arguments.batch):
            # What we refuse ourselves is asked about one by one, the rest together.
            chunk = forms[start : start + arguments.batch]
            for group in (
                [f for f in chunk if id(f) not in expected],
                *([f] for f in chunk if id(f) in expected),
            ):
                if group:
                    for form, why in refused(group, target, version, arguments.opt_level, tools):
                        found[id(form)] = form, why
        lenient = [found[key] for key in found.keys() - expected]
        strict = [f for f in forms if id(f) in expected and id(f) not in found]
        print(f"{target}: {len(forms)} kernels, {len(found)} refused, {len(expected)} of them foreseen")
        for form, why in lenient:
            known = next((reason for text, reason in KNOWN.items() if text in form.label), None)
            surprises += known is None
            print(f"  refused: {form.label}: {known or why}")
        for form in strict:
            surprises += 1
            print(f"  accepted: {form.label}")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
