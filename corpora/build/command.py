"""Writing ``corpora/kernels`` and ``corpora/manifest.json`` from the sources."""

from __future__ import annotations

import hashlib
import json
import linecache
import re
import struct
import sys
import types
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tileir
from tileir.errors import TileError

from .draft import Array, Draft, Number

ROOT = Path(__file__).parents[2]
HERE = ROOT / "corpora"
SOURCES = (
    *("unary", "binary", "integer", "casts", "reductions", "matrices", "movement", "control", "models"),
    *("norms", "softmaxes", "attentions", "products", "schedules", "convolutions", "transforms", "sorts"),
    *("sequences", "indices", "losses", "training", "random_numbers", "quantising", "bits", "iterations"),
    "waits",
)
"""Modules of ``corpora.sources``, in the order of the manifest."""


def main(arguments: list[str]) -> int:
    """Compile all, or the cases that match a pattern in ``arguments``; 1 if a kernel does not compile.

    With ``--check`` nothing is written: 1 if anything committed is not what the sources give.
    """
    check = "--check" in arguments
    patterns = [a for a in arguments if not a.startswith("-")]
    if find_spec("cuda.tile") is None:
        print("corpora.build needs cuda-tile: pip install 'tileproof[cutile]'", file=sys.stderr)
        return 3
    entries: list[dict[str, Any]] = []
    kept = {e["name"]: e for e in _committed()}
    failed = stale = 0
    written: set[Path] = set()
    for module in SOURCES:
        for draft in load_source(module).drafts():
            if patterns and not any(fnmatchcase(draft.name, p) for p in patterns):
                if draft.name in kept:
                    entries.append(kept[draft.name])
                continue
            try:
                entry, data = build(draft)
            except Exception as error:
                # A compiler may fail in any way; the other kernels are still worth having.
                failed += 1
                print(f"{draft.name}: {type(error).__name__}: {str(error).strip()}", file=sys.stderr)
                continue
            entries.append(entry)
            path = HERE / entry["kernel"]
            written.add(path)
            if not path.exists() or path.read_bytes() != data:
                stale += 1
                if not check:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
    text = render(entries)
    manifest = HERE / "manifest.json"
    if check:
        same = manifest.exists() and manifest.read_text(encoding="utf-8") == text
        print(f"{len(entries)} cases, {stale} stale, {failed} failed, manifest {'same' if same else 'stale'}")
        return int(bool(stale or failed or not same))
    if not patterns:
        for path in HERE.glob("kernels/**/*.tilebc"):
            if path not in written:
                path.unlink()
    manifest.write_text(text, encoding="utf-8")
    print(f"{len(entries)} cases, {stale} kernels written, {failed} failed")
    return int(failed > 0)


def _committed() -> list[dict[str, Any]]:
    path = HERE / "manifest.json"
    if not path.exists():
        return []
    cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return cases


def render(entries: list[dict[str, Any]]) -> str:
    """The manifest: one line for each parameter, so that a difference reads well."""
    parts = []
    for entry in entries:
        head = {k: v for k, v in entry.items() if k != "parameters"}
        lines = ",\n".join(f"   {json.dumps(p)}" for p in entry["parameters"])
        parts.append(f'  {json.dumps(head)[:-1]}, "parameters": [\n{lines}\n  ]}}')
    return '{\n "cases": [\n' + ",\n".join(parts) + "\n ]\n}\n"


def load_source(name: str) -> types.ModuleType:
    """The module ``corpora.sources.<name>``, under a file name relative to the repository.

    The compiler writes the file's name into the bytecode, where the path of somebody's machine has no place.
    """
    relative = f"corpora/sources/{name}.py"
    text = (ROOT / relative).read_text(encoding="utf-8")
    module = types.ModuleType(f"corpora.sources.{name}")
    module.__file__ = relative
    module.__package__ = "corpora.sources"
    # An entry without a time is never checked against the disk, so the relative name works anywhere.
    linecache.cache[relative] = (len(text), None, text.splitlines(keepends=True), relative)
    sys.modules[module.__name__] = module
    exec(compile(text, relative, "exec"), module.__dict__)
    return module


def build(draft: Draft) -> tuple[dict[str, Any], bytes]:
    """The manifest's entry of a draft, and its kernel.

    Raises:
        TileError: the bytecode names a file of this machine, or its entry does not take the parameters.
    """
    from .compile import compile_draft

    data = compile_draft(draft)
    module = tileir.read(data)
    for operation in module.walk():
        if str(operation.location).startswith("/"):
            raise TileError("a location names this machine", rule="corpus-location", found=operation.location)
    parameters = [p for q in draft.parameters for p in flatten(q)]
    _number(parameters)
    (entry,) = module.entries
    found = [str(v.type) for v in entry.parameters]
    expected = [f"tile<ptr<{p['format']}>>" if "name" in p else f"tile<{p['format']}>" for p in parameters]
    if found != expected:
        raise TileError("the entry takes others", rule="corpus-entry", found=found, expected=expected)
    description = {
        "name": draft.name,
        "kernel": f"kernels/{draft.name}.tilebc",
        "sha256": hashlib.sha256(data).hexdigest(),
        "entry": entry.name,
        "grid": list(draft.grid),
        "parameters": parameters,
    }
    return description, data


def _number(parameters: list[dict[str, Any]]) -> None:
    """Name the buffers by what they are: in0, in1, ..., out0, ..."""
    counts = {"in": 0, "out": 0}
    for parameter in parameters:
        if "name" in parameter:
            kind = "out" if parameter.get("output") else "in"
            parameter["name"] = f"{kind}{counts[kind]}"
            counts[kind] += 1


def flatten(parameter: Any) -> list[dict[str, Any]]:
    """The entry's parameters that stand for one of the kernel function: an array is its address, extents and
    strides; a constant is none.
    """
    match parameter:
        case Array():
            entry: dict[str, Any] = {
                "name": "",
                "format": parameter.format,
                "shape": list(parameter.shape),
                "recipe": dict(parameter.recipe),
            }
            if parameter.output:
                entry["output"] = True
            strides = [1]
            for extent in parameter.shape[:0:-1]:
                strides.insert(0, strides[0] * extent)
            return [entry, *({"format": "i32", "bits": f"{n:x}"} for n in (*parameter.shape, *strides))]
        case Number():
            return [{"format": parameter.format, "bits": _pattern(parameter)}]
        case list():
            return [entry for p in parameter for entry in flatten(p)]
    return []


def _pattern(number: Number) -> str:
    codes = {"f64": "<d", "f32": "<f", "f16": "<e", "i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q"}
    if not re.fullmatch(r"[if]\d+", number.format):
        raise TileError("no such scalar parameter", rule="corpus-scalar", found=number.format)
    data = struct.pack(codes[number.format], number.value)
    return f"{int.from_bytes(data, 'little'):x}"
