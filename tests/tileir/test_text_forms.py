"""Every operation and every value of every attribute, printed and read back; some of them disassembled."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileir
from tileir import registry
from tileir.generate import Form, Maker, all_forms
from tileir.version import V13_4, V13_5

from .support import needs_tileiras, tools

PER_OPERATION = 12

LEGAL = [
    form
    for form in itertools.islice(all_forms(), 0, None, 23)
    if form.since <= V13_4 and not tileir.verify(form.module(V13_4))
]


@cache
def forms() -> dict[str, list[Form]]:
    """Of every operation the forms that differ most: one each of every choice, up to a number."""
    found: defaultdict[str, list[Form]] = defaultdict(list)
    seen: set[tuple[str, str, str]] = set()
    for form in all_forms():
        new = {(form.kind.mnemonic, name, str(value)) for name, value in form.choices} - seen
        if new or not form.choices:
            seen |= new
            found[form.kind.mnemonic].append(form)
    return found


def test_there_is_a_form_of_every_operation() -> None:
    # The terminators are in the forms of what they end.
    terminators = {"break", "continue", "return", "yield"}
    assert set(forms()) | terminators == registry.BY_NAME.keys()


@pytest.mark.parametrize("mnemonic", sorted(registry.BY_NAME))
def test_printed_and_read_back(mnemonic: str) -> None:
    for form in forms().get(mnemonic, [])[: PER_OPERATION * 4]:
        module = form.module(V13_5)
        text = tileir.render(module)
        again = tileir.parse(text)
        assert again == module, form.label
        assert tileir.render(again) == text, form.label


@given(st.lists(st.sampled_from(LEGAL), min_size=1, max_size=12))
@settings(max_examples=40, deadline=None)
def test_many_operations_in_one_kernel(chosen: list[Form]) -> None:
    # Names repeat, and regions count on from where the kernel's own values end.
    maker = Maker()
    for form in chosen:
        form.add(maker)
    module = maker.finish(V13_4)
    text = tileir.render(module)
    assert tileir.parse(text) == module
    if tools() is not None:
        assert tileir.disassemble(module) == text


@needs_tileiras
@pytest.mark.parametrize("mnemonic", sorted(n for n, k in registry.BY_NAME.items() if k.since <= V13_4))
def test_printed_as_the_disassembler_does(mnemonic: str) -> None:
    chosen = [f for f in forms().get(mnemonic, []) if f.since <= V13_4]
    compared = 0
    for form in random.Random(mnemonic).sample(chosen, min(len(chosen), PER_OPERATION)):
        module = form.module(V13_4)
        if tileir.verify(module):
            # The disassembler prints what is legal and nothing else.
            continue
        assert tileir.render(module) == tileir.disassemble(module), form.label
        compared += 1
    assert compared or all(tileir.verify(f.module(V13_4)) for f in chosen)
