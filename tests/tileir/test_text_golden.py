"""Texts that the disassembler printed (13.4.92; 13.5.37 for multimem), kept here."""

from __future__ import annotations

from pathlib import Path

import pytest

import tileir
from tileir.version import V13_4, Version

from .support import needs_tileiras, tools

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.mlir"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_read_and_printed_unchanged(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    module = tileir.parse(text, file=path.name)
    locations = path.stem == "locations"
    assert tileir.render(module, locations=locations) == text
    assert tileir.parse(tileir.render(module, locations=True, wrapper=True)) == module
    assert tileir.read(tileir.write(module)) == module


@needs_tileiras
@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_still_what_the_disassembler_prints(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    module = tileir.parse(text)
    found = tools()
    assert found is not None
    if module.version > max(V13_4, Version.parse(".".join(found.version.split(".")[:2]))):
        pytest.skip("this assembler is older than the module")
    assert tileir.disassemble(module, debug_info=path.stem == "locations") == text


def test_the_prefix_of_the_dialect_and_the_wrapper_say_nothing() -> None:
    short = """
    entry @k(%p: tile<ptr<f32>>, %n: tile<i32>) {
      %a = constant <f32: 1.0> : tile<4xf32>
      %t = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
      %v = make_partition_view %t : partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>
      %k = store_view_tko weak %a, %v[%n] : tile<4xf32>,
          partition_view<tile=(4), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
      return
    }
    """
    long = short.replace("entry", "cuda_tile.entry")
    for name in ("constant", "make_tensor_view", "make_partition_view", "store_view_tko", "return"):
        long = long.replace(f" {name}", f" cuda_tile.{name}")
    for name in ("tile<", "tensor_view<", "partition_view<", "ptr<"):
        for before in (" ", "(", "<", "=(4), "):
            long = long.replace(before + name, before + "!cuda_tile." + name)
    long = long.replace("-> token", "-> !cuda_tile.token // the order\n")
    assert "!cuda_tile.tile<!cuda_tile.ptr<f32>>" in long
    wrapped = f'cuda_tile.module @m attributes {{producer = "p"}} {{{long}}}'
    module = tileir.parse(wrapped)
    assert (module.name, module.producer) == ("m", "p")
    module.producer = None
    assert module == tileir.parse(short) == tileir.parse(f"module {{ {long} }}")


def test_terminators_that_say_nothing_may_be_left_out() -> None:
    text = """
    entry @k(%c: tile<i1>, %n: tile<i32>) {
      if %c { }
      for %i in (%n to %n, step %n) : tile<i32> { if %c { continue } }
      loop { if %c { break } else { } }
    }
    """
    body = tileir.parse(text).functions[0].body
    assert [op.mnemonic for op in body.operations] == ["if", "for", "loop", "return"]
    assert [op.mnemonic for op in body.walk()] == [
        *("if", "yield", "for", "if", "continue", "continue"),
        *("loop", "if", "break", "yield", "continue", "return"),
    ]


def test_types_and_attributes_by_name() -> None:
    text = """
    !row = !cuda_tile.tile<4xf32>
    #claim = #cuda_tile.div_by<8>
    entry @k(%n: tile<i32>) {
      %a = constant <f32: 1.0> : !row
      %b = assume #claim, %n : tile<i32>
      return
    }
    """
    assert tileir.render(tileir.parse(text)) == (
        "entry @k(%arg0: tile<i32>) {\n"
        "  %cst_1_f32 = constant <f32: 1.000000e+00> : tile<4xf32>\n"
        "  %assume = assume div_by<8>, %arg0 : tile<i32>\n"
        "  return\n"
        "}\n"
    )


def test_flags_in_any_order() -> None:
    body = """
    entry @k() {
      %a = constant <f32: 1.0> : tile<f32>
      %b = maxf %a, %a propagate_nan flush_to_zero : tile<f32>
    }
    """
    assert "maxf %cst_1_f32, %cst_1_f32 flush_to_zero propagate_nan : tile<f32>" in tileir.render(
        tileir.parse(body)
    )


def test_a_function_that_is_no_entry_has_no_spelling() -> None:
    module = tileir.parse("entry @k() { }")
    module.functions[0].is_entry = False
    with pytest.raises(tileir.TileError) as caught:
        tileir.render(module)
    assert caught.value.rule == "function-kind"
