"""The reader on files that are not as they should be: a ``TileError`` that says where and why, and soon."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import tileir
from tests.tileir.support import shared_cases
from tests.tileir.test_writer import located, with_globals
from tileir import ops as o
from tileir import types as t
from tileir.bytecode.cursor import Cursor
from tileir.bytecode.output import Output
from tileir.bytecode.sections import (
    MAGIC,
    Section,
    read_header,
    read_sections,
    write_section,
    write_table,
)
from tileir.errors import BytecodeError, TileError
from tileir.generate.maker import Maker, scalar, tile
from tileir.locations import CallSite
from tileir.version import SUPPORTED, V13_1, V13_2, V13_3, V13_4, V13_5, Version

SOON = 5.0
"""Seconds of the processor: far from what such a file takes, and from what a careless reader would."""


def take_apart(data: bytes) -> dict[Section, bytes]:
    cursor = Cursor(data)
    return {s: c.take(c.remaining) for s, c in read_sections(cursor, read_header(cursor)).items()}


def put_together(sections: dict[Section, bytes], version: Version = V13_4) -> bytes:
    out = Output(MAGIC + bytes((*version, 0, 0)))
    for section, data in sections.items():
        write_section(out, section, data)
    out.append(Section.END)
    return bytes(out)


def table(items: list[bytes], width: int = 4) -> bytes:
    out = Output()
    write_table(out, items, width)
    return bytes(out)


def with_section(section: Section, data: bytes, version: Version = V13_4) -> bytes:
    """A small file with one section replaced."""
    sections = take_apart(tileir.write(located(version)))
    sections[section] = data
    return put_together(sections, version)


def refused(data: bytes) -> BytecodeError:
    with pytest.raises(BytecodeError) as caught:
        tileir.read(data)
    error = caught.value
    assert error.offset is not None
    assert f"byte {error.offset}" in str(error)
    assert f"[{error.rule}]" in str(error)
    return error


def test_every_truncation_is_refused_with_its_place() -> None:
    data = tileir.write(located())
    for length in range(len(data)):
        error = refused(data[:length])
        assert error.offset is not None
        assert error.offset <= length


def test_every_byte_blown_up_to_a_large_count_is_answered() -> None:
    data = tileir.write(located())
    number = Output()
    number.varint(1 << 31)
    for at in range(len(data)):
        start = time.process_time()
        try:
            tileir.read(data[:at] + bytes(number) + data[at + 1 :])
        except TileError as error:
            str(error)
        assert time.process_time() - start < SOON, at


@pytest.mark.parametrize("section", list(Section)[1:-1])
def test_a_count_of_2_to_31_in_each_section_is_refused(section: Section) -> None:
    number = Output()
    number.varint(1 << 31)
    sections = take_apart(tileir.write(with_globals(V13_4)))
    sections[section] = bytes(number) + sections[section][1:]
    assert refused(put_together(sections)).rule in ("count", "truncated")


def test_sections_may_come_in_any_order() -> None:
    module = located()
    sections = take_apart(tileir.write(module))
    for shift in range(len(sections)):
        order = list(sections)[shift:] + list(sections)[:shift]
        assert tileir.read(put_together({s: sections[s] for s in order})) == module
        backwards = put_together({s: sections[s] for s in reversed(order)})
        assert tileir.read(backwards) == module


@pytest.mark.parametrize("section", [Section.STRING, Section.FUNCTION])
def test_a_file_without_strings_or_functions_is_refused(section: Section) -> None:
    sections = take_apart(tileir.write(located()))
    del sections[section]
    assert refused(put_together(sections)).rule == "section-missing"


def test_a_file_without_debug_information_has_no_locations() -> None:
    sections = take_apart(tileir.write(located()))
    data = sections[Section.FUNCTION]
    del sections[Section.DEBUG]
    assert refused(put_together(sections)).rule == "debug-index"
    # The function names its debug information by number, and 0 is none: name, type, flags, number.
    assert data[3:5] != b"\0"
    at = 4
    sections[Section.FUNCTION] = data[:at] + b"\0" + data[at + 1 :]
    assert all(op.location is None for op in tileir.read(put_together(sections)).walk())


def test_bytes_after_the_end_are_refused() -> None:
    assert refused(tileir.write(located()) + b"\0").rule == "trailing-bytes"


def test_a_section_given_twice_is_refused() -> None:
    data = tileir.write(located())
    twice = Output(data[:-1])
    write_section(twice, Section.STRING, b"\0")
    assert refused(bytes(twice) + b"\0").rule == "section-twice"


@pytest.mark.parametrize("alignment", [0, 3, 2, 1 << 40])
def test_wrong_alignments_are_refused(alignment: int) -> None:
    data = tileir.write(located())
    assert data[12] == 0x80 | Section.FUNCTION
    length = Cursor(data, start=13)
    length.varint()
    number = Output()
    number.varint(alignment)
    changed = data[: length.position] + bytes(number) + data[length.position + 1 :]
    assert refused(changed).rule in ("alignment", "truncated")


def test_files_that_are_something_else_are_refused(tmp_path: Path) -> None:
    for data in (b"", b"\x7fELF" + bytes(60), b"cuda_tile.module @k {}", bytes(1000)):
        assert refused(data).rule == "bytecode-magic"
    with pytest.raises(TileError) as caught:
        tileir.read(tmp_path / "none.tilebc")
    assert caught.value.rule == "file"
    path = tmp_path / "short.tilebc"
    path.write_bytes(MAGIC)
    with pytest.raises(TileError, match=r"short\.tilebc, byte 8"):
        tileir.read(path)


@pytest.mark.parametrize("version", [(13, 0), (13, 6), (12, 4), (250, 1), (0, 0)])
def test_other_versions_are_refused_by_number(version: tuple[int, int]) -> None:
    data = bytearray(tileir.write(located()))
    data[8:10] = bytes(version)
    error = refused(bytes(data))
    assert error.rule == "bytecode-version"
    assert f"{version[0]}.{version[1]}" in str(error)


def test_a_preview_file_is_refused() -> None:
    data = bytearray(tileir.write(located()))
    data[10] = 1
    assert "tag 1" in str(refused(bytes(data)))


# Types


def with_types(*records: str) -> bytes:
    """A file whose only function takes type 2 of the given records; types 0 and 1 are i1 and i32."""
    signature = bytes((16, 1, 2, 0))
    items = [b"\0", b"\3", *(bytes.fromhex(r) for r in records), signature]
    function = bytes((1, 0, len(items) - 1, 2, 0, 3)) + bytes((92, 0, 0))
    sections = {Section.FUNCTION: function, Section.TYPE: table(items), Section.STRING: table([b"k"])}
    return put_together(sections)


def test_the_file_made_by_hand_is_sound() -> None:
    module = tileir.read(with_types("0d 01 00"))
    assert module.functions[0].parameters[0].type == scalar(t.I32)
    assert tileir.verify(module) == []


@pytest.mark.parametrize(
    ("records", "rule"),
    [
        (["0d 63 00"], "type-index"),
        (["0d 02 00"], "type-cycle"),
        (["10 01 03 00", "10 01 02 00"], "type-cycle"),
        (["10 02 01 01 00", "10 01 02 00"], None),
        (["0c 00 03", "0d 01 00"], "type-kind"),
        (["0d 01 01" + "00" * 8], "tile-extent"),
        (["0d 01 01" + "ff" * 8], "tile-extent"),
        (["0d 01 04" + ("00" * 7 + "40") * 4], "tile-size"),
        (["0d 01 ff ff ff ff 0f"], "count"),
        (["63"], "type-tag"),
        (["80 80 80 80 80 80 80 80 80 80 01"], "varint-width"),
        ([""], "truncated"),
        (["0d 01 00 00"], "trailing-bytes"),
        (["0c 02 01"], "type-bits"),
        (["0c 01 01 01"], "type-version"),
        (["0c 01 01 09"], "enum-value"),
    ],
)
def test_types_that_are_none_are_refused(records: list[str], rule: str | None) -> None:
    if rule is None:
        assert refused(with_types(*records)).rule == "type-kind"
    else:
        assert refused(with_types(*records)).rule == rule


def test_functions_of_functions_do_not_grow_without_bound() -> None:
    """Each of these types is made of two of the one before: spelled out, the last has 2^40 parts."""
    records = ["10 02 01 01 00", *(f"10 02 {i:02x} {i:02x} 00" for i in range(2, 42))]
    items = [b"\0", b"\3", *(bytes.fromhex(r) for r in records)]
    function = bytes((1, 0, len(items) - 1, 2, 0, 3)) + bytes((92, 0, 0))
    sections = {Section.FUNCTION: function, Section.TYPE: table(items), Section.STRING: table([b"k"])}
    start = time.process_time()
    assert refused(put_together(sections)).rule == "type-kind"
    assert time.process_time() - start < SOON


def test_a_huge_tile_with_one_element_is_not_spelled_out() -> None:
    maker = Maker()
    huge = tile(t.F32, 1 << 31, 1 << 31)
    maker.constant(huge)
    start = time.process_time()
    module = tileir.read(tileir.write(maker.finish()))
    assert time.process_time() - start < SOON
    constant = next(module.walk())
    assert isinstance(constant, o.core.Constant)
    assert len(constant.value.data) == 4
    assert [d.rule for d in tileir.verify(module)].count("tile-size") >= 1


# Locations


def with_locations(records: list[str], index: int = 1) -> bytes:
    """A file whose only function is at location ``index`` of the given records."""
    debug = Output()
    debug.varint(1)
    debug.align(4)
    debug += bytes(4)
    debug.varint(2)
    debug.align(8)
    debug += index.to_bytes(8, "little") + bytes(8)
    write_table(debug, [bytes.fromhex(r) for r in records], 4)
    function = bytes((1, 0, 2, 2, 1, 3)) + bytes((92, 0, 0))
    sections = {
        Section.FUNCTION: function,
        Section.DEBUG: bytes(debug),
        Section.TYPE: table([b"\0", b"\3", bytes((16, 0, 0))]),
        Section.STRING: table([b"k", b"/d"]),
    }
    return put_together(sections)


@pytest.mark.parametrize(
    ("records", "rule"),
    [
        (["06 01 00"], "debug-cycle"),
        (["06 02 00", "06 00 01"], "debug-cycle"),
        (["04 09 00 01 01"], "debug-index"),
        (["09"], "debug-tag"),
        (["01 02", "02 09 00"], "string-index"),
        (["01 02", "06 00 00"], "debug-kind"),
        (["05 02 01 00 00 02 01", "02 00 01"], "debug-kind"),
        ([""], "truncated"),
        (["04 00 00 01 01 00"], "trailing-bytes"),
    ],
)
def test_locations_that_are_none_are_refused(records: list[str], rule: str) -> None:
    assert refused(with_locations(records)).rule == rule


def test_a_location_index_out_of_range_is_refused() -> None:
    assert refused(with_locations(["02 00 01"], index=2)).rule == "debug-index"
    assert refused(with_locations(["02 00 01"], index=1 << 63)).rule == "debug-index"


def test_a_place_without_locations_is_a_place() -> None:
    module = tileir.read(with_locations(["06 00 00"]))
    assert str(module.functions[0].location) == "None"


def test_call_sites_that_double_at_each_step_are_refused() -> None:
    """A few hundred bytes that would take longer than anyone's life to compare."""
    records = ["04 00 00 01 01", *(f"06 {i:02x} {i:02x}" for i in range(1, 60))]
    start = time.process_time()
    assert refused(with_locations(records, index=len(records))).rule == "debug-depth"
    assert time.process_time() - start < SOON


def call_sites(count: int) -> bytes:
    """A place, inlined through ``count`` calls: each site is the caller of the one before it in the file."""
    number = [f"{i & 0x7F | 0x80:02x} {i >> 7:02x}" for i in range(count + 3)]
    sites = [f"06 {number[count + 1]} {number[i + 2]}" for i in range(count)]
    sites[-1] = f"06 {number[count + 1]} {number[count + 1]}"
    return with_locations([*sites, "04 00 00 01 01"])


def test_functions_that_call_themselves_are_inlined_through_many_calls() -> None:
    module = tileir.read(call_sites(240))
    depth, location = 0, module.functions[0].location
    while isinstance(location, CallSite):
        depth, location = depth + 1, location.caller
    assert depth == 240
    assert tileir.read(tileir.write(module)).functions[0].location == module.functions[0].location
    assert refused(call_sites(260)).rule == "debug-depth"


def test_scopes_nested_without_end_are_refused() -> None:
    records = [
        *(f"03 {(i + 2) & 0x7F | 0x80:02x} {(i + 2) >> 7:02x} 00 01 01" for i in range(3000)),
        "02 00 01",
    ]
    assert refused(with_locations(records)).rule in ("debug-cycle", "debug-depth", "debug-index")


# Operations


def body(*operations: str, values: int = 1) -> bytes:
    """A file whose function takes ``values`` i32 and has the given operations."""
    types = [b"\0", b"\3", b"\x0d\1\0", bytes((16, values)) + b"\2" * values + b"\0", b"\x11"]
    code = bytes.fromhex("".join(operations)) + bytes((92, 0, 0))
    function = Output(bytes((1, 0, 3, 2, 0)))
    function.varint(len(code))
    function += code
    sections = {
        Section.FUNCTION: bytes(function),
        Section.TYPE: table(types),
        Section.CONSTANT: table([b"\4\1\0\0\0"], 8),
        Section.STRING: table([b"k", b""]),
    }
    return put_together(sections)


@pytest.mark.parametrize(
    ("operation", "rule", "name"),
    [
        ("ff 7f", "opcode", None),
        ("7b 00", "operation-version", "multimem_load_reduce_view_tko"),
        ("03 02 00 00 05", "value-index", "addi"),
        ("03 02 09 00 00", "enum-value", "addi"),
        ("03 63 00 00 00", "type-index", "addi"),
        ("10 02 07", "constant-index", "constant"),
        ("10 04 00", "constant-type", "constant"),
        ("32 00 00 03", "region-count", "if"),
        ("32 00 00 02 02", "block-count", "if"),
        ("3c 01 04 ff ff ff ff 0f", "count", "join_tokens"),
        ("2c 01 02 07", "string-index", "get_global"),
        ("6d 00 81 80 80 80 80 80 80 80 80 80 01", "varint-width", "yield"),
    ],
)
def test_operations_that_are_none_are_refused(operation: str, rule: str, name: str | None) -> None:
    error = refused(body(operation))
    assert (error.rule, error.operation) == (rule, name)


def test_regions_nested_without_end_are_refused() -> None:
    nested = "32 00 00 02 01 00 01" * 5000
    start = time.process_time()
    assert refused(body(nested)).rule == "region-depth"
    assert time.process_time() - start < SOON


def test_a_string_that_many_operations_share_is_read_once() -> None:
    """Ten thousand asserts with one message of 100 kB are not a gigabyte."""
    maker = Maker()
    condition = maker.value(scalar(t.I1))
    for _ in range(10_000):
        maker.op(o.debugging.Assert, condition=condition, message="x" * 100_000)
    data = tileir.write(maker.finish())
    messages = {id(op.message) for op in tileir.read(data).walk() if isinstance(op, o.debugging.Assert)}
    assert len(messages) == 1


def test_the_shared_cases_are_read_and_are_legal() -> None:
    cases = shared_cases()
    if not cases:
        pytest.skip("the recorded cases are not there")
    for case in cases:
        module = tileir.read(case / "kernel.tilebc")
        assert tileir.verify(module, "sm_90") == [], case.name
        assert module.version == V13_4


@pytest.mark.parametrize("version", SUPPORTED, ids=str)
def test_an_empty_module_is_read(version: Version) -> None:
    module = tileir.Module(version=version)
    assert tileir.read(tileir.write(module)) == module
    assert tileir.read(memoryview(tileir.write(module))) == module  # type: ignore[arg-type]


def test_versions_differ_only_where_they_do() -> None:
    """The frame of 13.5 is another one; before it, a plain kernel has the same bytes but for its version."""
    data = {v: bytearray(tileir.write(with_globals(v))) for v in SUPPORTED}
    for v in SUPPORTED:
        data[v][9] = 0
    assert data[V13_1] == data[V13_2]
    assert data[V13_2] != data[V13_3] != data[V13_4] != data[V13_5]
