"""What there is to say about a module at a glance."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .errors import TileError
from .module import Function, Module
from .version import SUPPORTED, Version


def describe(module: Module, size: int) -> dict[str, Any]:
    """A module's contents as plain data, ready for JSON; ``size`` is its file's in bytes."""
    oldest = oldest_version(module)
    counts = Counter(operation.mnemonic for operation in module.walk())
    return {
        "file": module.source,
        "size": size,
        "version": str(module.version),
        "oldest_version": None if oldest is None else str(oldest),
        "producer": module.producer,
        "entries": [_entry(f) for f in module.functions],
        "globals": [
            {
                "name": g.name,
                "type": str(g.value.type),
                "alignment": g.alignment,
                "constant": g.constant,
                "visibility": str(g.visibility),
            }
            for g in module.globals
        ],
        "operations": dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
    }


def _entry(function: Function) -> dict[str, Any]:
    return {
        "name": function.name,
        "parameters": [str(value.type) for value in function.parameters],
        "operations": sum(1 for _ in function.body.walk()),
    }


def oldest_version(module: Module) -> Version | None:
    """The oldest bytecode version that can hold ``module``; None if none can."""
    from .bytecode import write

    for version in SUPPORTED:
        try:
            write(module, version)
        except TileError:
            continue
        return version
    return None


def summary(described: dict[str, Any]) -> str:
    """What ``describe`` says, for people."""
    oldest = described["oldest_version"]
    lines = [
        f"{described['file']}: {described['size']} bytes, bytecode {described['version']}"
        + (f", can be written since {oldest}" if oldest is not None else "")
    ]
    if described["producer"] is not None:
        lines.append(f"producer: {described['producer']}")
    for entry in described["entries"]:
        parameters = ", ".join(entry["parameters"])
        lines.append(f"entry @{entry['name']}({parameters}): {entry['operations']} operations")
    for item in described["globals"]:
        words = [item["visibility"], "constant" if item["constant"] else "", "global"]
        alignment = f", alignment {item['alignment']}" if item["alignment"] else ""
        lines.append(f"{' '.join(w for w in words if w)} @{item['name']}: {item['type']}{alignment}")
    width = max((len(name) for name in described["operations"]), default=0)
    lines += [f"  {name:{width}} {count:>6}" for name, count in described["operations"].items()]
    return "\n".join(lines)
