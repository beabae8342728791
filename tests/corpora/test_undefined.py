"""Nothing in the corpus is undefined but what its inputs make so on purpose: no check raises a false alarm."""

from __future__ import annotations

import corpora
import tileref

ON_PURPOSE = {
    # Conversions of every float there is, and quotients of every pair, the ones without an answer among them.
    "float-to-integer": [
        *(f"cast/{f}_to_{i}" for f in ("f64", "f32", "f16") for i in ("integers", "unsigned")),
        *(f"cast/{f}_to_integers" for f in ("bf16", "f8E4M3FN", "f8E5M2")),
    ],
    "integer-division": [f"integer/division_i{width}" for width in (8, 16, 32, 64)],
    # cuda-tile 1.7.0 writes the identity of a maximum of f64 without its sign.
    "identity": [
        "reduce/extremes_f64",
        "softmax/log_sum_exp_f64",
        "loss/margin_ranking_f64",
        "iterate/cube_roots_f64",
    ],
}


def test_only_what_is_meant_to_be_is_undefined() -> None:
    expected = {(name, kind) for kind, names in ON_PURPOSE.items() for name in names}
    found = set()
    for case in corpora.load():
        result = tileref.launch(case.kernel, case.grid, case.arguments(), entry=case.entry)
        assert not result.unchecked, case.name
        found |= {(case.name, event.kind) for event in result.undefined}
    assert found == expected
