"""Reductions of tiles that an operation made: converted, multiplied, or carried by a loop.

In which order a thread folds its own elements depends on what made them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ..probe import Probe, answer, given, probe
from ..recipes import Floats
from ..text import Shape, View, dims, fold, kernel, tile

TILES = 8
ELEMENT = "f32"
FIRST_SEED, SECOND_SEED = 5, 6
SHAPES: tuple[tuple[Shape, int], ...] = (
    *(((4, 128), 1), ((16, 64), 1), ((32, 32), 1), ((1, 512), 1), ((8, 128), 1), ((2, 256), 1)),
    *(((4, 256), 1), ((64, 64), 1), ((32, 128), 1), ((512, 4), 0), ((1024, 2), 0), ((1024,), 0)),
)
ANY_FORMAT = ("itself", "product", "square")
"""What is made of tiles that are converted from another format, or come in f32."""
CARRIED = ("for", "loop", "if", "for_absf", "for_product", "product_for", "inside", "loads")


def reduce_made() -> Iterator[Probe]:
    """Reductions of converted tiles, of products, and of what control flow carries."""
    for (shape, dim), source, made in product(SHAPES, ("bf16", "f16"), ANY_FORMAT):
        yield _probe(shape, dim, source, made)
    for (shape, dim), made in product(SHAPES, (*ANY_FORMAT[1:], *CARRIED)):
        yield _probe(shape, dim, ELEMENT, made)


def _probe(shape: Shape, dim: int, source: str, made: str) -> Probe:
    left = shape[:dim] + shape[dim + 1 :]
    zeros = ["%z"] * len(shape)
    a, b = (View(name, source, (TILES, *shape), (1, *shape)) for name in "ab")
    c = View("c", ELEMENT, (TILES, *left), (1, *left))
    lines = [*a.made(), *b.made(), *c.made()]
    for view, name in ((a, "x"), (b, "y")):
        lines.append(view.load(["%bx", *zeros], f"{name}0"))
        lines += _as_f32(view, shape, f"{name}0", name)
    lines += _made(made, shape, dim, a)
    lines += [
        f"%r1 = reshape %r : {tile(left, ELEMENT)} -> {c.loaded}",
        c.store(["%bx", *(["%z"] * len(left))], "r1"),
    ]
    name = f"reduce_made/{source}_{made}_{dims(shape)}_d{dim}"
    buffers = [
        given("a", source, a.shape, Floats("wide", FIRST_SEED)),
        given("b", source, b.shape, Floats("wide", SECOND_SEED)),
        answer("c", ELEMENT, c.shape),
    ]
    return probe(name, kernel([("a", source), ("b", source), ("c", ELEMENT)], lines), TILES, buffers)


def _as_f32(view: View, shape: Shape, loaded: str, result: str) -> list[str]:
    """The lines that take off the leading extent of a loaded tile, and convert it."""
    if view.format == ELEMENT:
        return [f"%{result} = reshape %{loaded} : {view.loaded} -> {tile(shape, ELEMENT)}"]
    narrow = tile(shape, view.format)
    return [
        f"%{result}n = reshape %{loaded} : {view.loaded} -> {narrow}",
        f"%{result} = ftof %{result}n : {narrow} -> {tile(shape, ELEMENT)}",
    ]


def _made(made: str, shape: Shape, dim: int, a: View) -> list[str]:
    """The lines that make a tile of %x and %y and reduce it to %r."""
    type_ = tile(shape, ELEMENT)
    reduced = fold("r", "v", shape, ELEMENT, dim)
    products = {"product": "mulf %x, %y", "square": "mulf %x, %x"}
    if made == "itself":
        return fold("r", "x", shape, ELEMENT, dim)
    if made in products:
        return [f"%v = {products[made]} : {type_}", *reduced]
    counted = [
        "%one = constant <i32: 1> : tile<i32>",
        "%n = constant <i32: 3> : tile<i32>",
        f"%zero = constant <{ELEMENT}: 0.000000e+00> : {type_}",
    ]
    if made == "if":
        return [
            *counted,
            "%true = cmpi less_than %z, %n, signed : tile<i32> -> tile<i1>",
            f"%v = if %true -> ({type_}) {{",
            f"  %s = addf %x, %y : {type_}",
            f"  yield %s : {type_}",
            "} else {",
            f"  yield %y : {type_}",
            "}",
            *reduced,
        ]
    if made == "loop":
        return [
            *counted,
            f"%v, %m = loop iter_values(%acc = %zero, %k = %z) : {type_}, tile<i32> -> {type_}, tile<i32> {{",
            f"  %s = addf %x, %acc : {type_}",
            "  %k1 = addi %k, %one : tile<i32>",
            "  %done = cmpi greater_than_or_equal %k1, %n, signed : tile<i32> -> tile<i1>",
            "  if %done {",
            f"    break %s, %k1 : {type_}, tile<i32>",
            "  }",
            f"  continue %s, %k1 : {type_}, tile<i32>",
            "}",
            *reduced,
        ]
    if made == "inside":
        left = tile(shape[:dim] + shape[dim + 1 :], ELEMENT)
        return [
            *counted,
            f"%nothing = constant <{ELEMENT}: 0.000000e+00> : {left}",
            "%f, %r = for %i in (%z to %n, step %one) : tile<i32>"
            f" iter_values(%acc = %x, %sum = %nothing) -> ({type_}, {left}) {{",
            *fold("now", "acc", shape, ELEMENT, dim),
            f"  %sum1 = addf %now, %sum : {left}",
            f"  %acc1 = addf %acc, %y : {type_}",
            f"  continue %acc1, %sum1 : {type_}, {left}",
            "}",
        ]
    body = [f"  %s = addf %x, %acc : {type_}"]
    if made == "loads":
        body = [a.load(["%i", *(["%z"] * len(shape))], "w0"), *_as_f32(a, shape, "w0", "w")]
        body.append(f"  %s = addf %acc, %w : {type_}")
    after = {
        "for_absf": "absf %f",
        "for_product": "mulf %f, %y",
        "product_for": "mulf %y, %f",
    }
    carried = "f" if made in after else "v"
    return [
        *counted,
        f"%{carried} = for %i in (%z to %n, step %one) : tile<i32> iter_values(%acc = %zero) -> ({type_}) {{",
        *body,
        f"  continue %s : {type_}",
        "}",
        *([f"%v = {after[made]} : {type_}"] if made in after else []),
        *reduced,
    ]
