"""Texts from anywhere: nothing but ``TileError``, in time that grows with their length."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileir

GOLDEN = [
    p.read_text(encoding="utf-8", errors="surrogateescape")
    for p in sorted((Path(__file__).parent / "golden").glob("*.mlir"))
]
PIECES = [
    "{",
    "}",
    "<",
    ">",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    "=",
    "->",
    "%",
    "#",
    "!",
    "@",
    '"',
    "\\",
    "-",
    "0x",
]
PIECES += [
    "99999999999999999999",
    "1.0e999999",
    "tile<",
    "if %c {",
    "loc(",
    "#loc",
    "dense<",
    "//",
    "\0",
    "é",
]


def parse_or_refuse(text: str) -> None:
    try:
        module = tileir.parse(text)
    except tileir.TileError:
        return
    try:
        tileir.render(module, locations=True)
    except tileir.TileError:
        return


@pytest.mark.parametrize("seed", range(8))
def test_mutated_texts(seed: int) -> None:
    random_ = random.Random(seed)
    for _ in range(60):
        text = random_.choice(GOLDEN)[:4000]
        for _ in range(random_.randint(1, 4)):
            at = random_.randrange(len(text))
            cut = random_.randrange(at, min(len(text), at + 30))
            match random_.randrange(4):
                case 0:
                    text = text[:at] + text[cut:]
                case 1:
                    text = text[:at] + random_.choice(PIECES) + text[at:]
                case 2:
                    text = text[:at] + text[at:cut] * random_.randint(2, 20) + text[cut:]
                case _:
                    other = random_.choice(GOLDEN)
                    start = random_.randrange(len(other))
                    text = text[:at] + other[start : start + random_.randrange(200)] + text[at:]
        parse_or_refuse(text)


@given(st.text(max_size=100))
@settings(max_examples=60)
def test_any_text(text: str) -> None:
    parse_or_refuse(text)


@given(st.lists(st.sampled_from([*PIECES, "entry @k(", "%a", "tile<4xf32>", "constant", " ", "\n", "1"])))
@settings(max_examples=200)
def test_any_tokens(pieces: list[str]) -> None:
    parse_or_refuse("".join(pieces))


@pytest.mark.parametrize(
    "text",
    [
        "tile<" * 50_000,
        "entry @k(%a: " + "tile<" * 50_000,
        "#a = " + "[" * 100_000,
        "#a = " + "{a = " * 50_000,
        "entry @k(%c: tile<i1>) {" + "if %c {" * 50_000,
        "#a = dense<" + "[" * 50_000,
        "#a = dense<" + '"' * 50_001,
        "entry @k() { %a = constant <i8: " + "[" * 50_000,
        "entry @k() { return loc(" + "callsite(" * 50_000,
        "//" * 100_000,
        "#a = #b\n" * 50_000,
        "".join(f"#a{i} = #a{i + 1}\n" for i in range(20_000)),
        "".join(f"!a{i} = !a{i + 1}\n" for i in range(20_000)),
        'entry @"' + "\\" * 100_001,
        "#a = 0x" + "f" * 200_000,
        "#a = 1.0e" + "9" * 1000,
    ],
    ids=lambda text: text[:24],
)
def test_long_and_deep_texts_end_soon(text: str) -> None:
    start = time.process_time()
    parse_or_refuse(text)
    assert time.process_time() - start < 2.0


def test_claims_about_claims_do_not_explode() -> None:
    # Each name would be longer than the one before: refused rather than gigabytes.
    chain = "".join(f"  %a{i + 1} = assume div_by<1>, %a{i} : tile<i32>\n" for i in range(1_000))
    module = tileir.parse("entry @k(%a0: tile<i32>) {\n" + chain + "}\n")
    with pytest.raises(tileir.TileError) as caught:
        tileir.render(module)
    assert caught.value.rule == "name-length"
