"""What a case must answer: the interpreter's outcome, kept in the folder so that it is computed once."""

from __future__ import annotations

import hashlib
import traceback
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tileir
from tileir.errors import TileError
from tileref import launch
from tileref.arguments import find_entry
from tileref.numerics.formats import FORMATS
from tileref.targets import model as model_named

from ..errors import Unmeasured
from ..plan import PlannedCase
from ..store import FolderError, Store, identify
from ..tiers import Tier, predict

INTERPRETATIONS = "interpretations"


@dataclass(frozen=True, slots=True)
class Interpretation:
    """The model's answer to a case.

    Attributes:
        outputs: for each buffer's position the array it must hold afterwards.
        undefined: for some of them, lanes without a defined value.
        tiers: for each buffer's position what is predicted of it.
        operations: the operations that compute, with their result's format.
        notes: undefined behaviour, failed assertions.
        error: why there is no answer; None if there is one.
        seconds: what it took.
    """

    outputs: dict[int, NDArray[Any]]
    undefined: dict[int, NDArray[np.bool_]]
    tiers: dict[int, Tier]
    operations: tuple[str, ...]
    notes: tuple[str, ...]
    error: str | None
    seconds: float


def interpret(store: Store, case: PlannedCase, model: str, gpu: str) -> Interpretation:
    """The model's answer, from the folder if the same code has computed it before.

    The bits of what the dialect leaves open are claimed only if ``model`` is that of ``gpu``.

    Raises:
        FolderError: the folder is damaged.
    """
    identity = identify(case.identity, model, gpu, code_digest(), np.__version__)
    if not store.has(INTERPRETATIONS, identity):
        store.write(INTERPRETATIONS, identity, _run(store, case, model, gpu))
    record = store.read(INTERPRETATIONS, identity)
    try:
        return _parse(store, case, record)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        path = str(store.path / INTERPRETATIONS / f"{identity}.json")
        raise FolderError(f"a record is damaged: {error!r}", rule="folder-record", file=path) from error


def arguments_of(store: Store, case: PlannedCase) -> list[Any]:
    """Fresh arguments for a launch.

    Raises:
        FolderError: the folder is damaged, or has a format that nobody knows.
    """
    arguments: list[Any] = []
    for a in case.arguments:
        fmt = FORMATS.get(a.format)
        if fmt is None:
            raise FolderError("no such format", rule="folder-format", file=str(store.path), found=a.format)
        if a.blob is None:
            arguments.append(np.frombuffer(a.bits.to_bytes(8, "little")[: fmt.dtype.itemsize], fmt.dtype)[0])
        else:
            arguments.append(array_of(store, a.blob, a.format, a.shape).copy())
    return arguments


def array_of(store: Store, blob: str, format_name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """The array that a blob holds.

    Raises:
        FolderError: the blob is missing, damaged or of another size.
    """
    data = store.get(blob)
    try:
        return np.frombuffer(data, FORMATS[format_name].dtype).reshape(shape)
    except ValueError as error:
        raise FolderError(
            "an array is of another size than its buffer",
            rule="folder-array",
            file=str(store.path / "blobs" / blob),
            found=f"{len(data)} bytes",
            expected=f"{format_name} {shape}",
        ) from error


def _run(store: Store, case: PlannedCase, model: str, gpu: str) -> dict[str, Any]:
    record: dict[str, Any] = {
        "case": case.identity,
        "model": model,
        "outputs": {},
        "undefined": {},
        "tiers": {},
        "operations": [],
        "notes": [],
        "error": None,
        "seconds": 0.0,
    }
    try:
        module = tileir.read(store.get(case.kernel))
        record["operations"] = _operations(module)
        arguments = arguments_of(store, case)
        named = model_named(model).of(find_entry(module, case.entry))
        claims = named if model == gpu else Unmeasured(named)
        tiers = predict(module, case.entry, case.grid, arguments, claims)
        record["tiers"] = {str(i): asdict(t) for i, t in tiers.items()}
        result = launch(module, case.grid, arguments, model=model, entry=case.entry)
    except FolderError:
        raise
    except TileError as error:
        record["error"] = str(error)
        return record
    except Exception as error:
        # A bug of the interpreter must cost one case, not the run; its record says where it was.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        record["error"] = f"the interpreter is broken: {type(error).__name__}: {error} ({place})"
        return record
    for position, argument in enumerate(case.arguments):
        if argument.is_buffer:
            record["outputs"][str(position)] = store.put(arguments[position].tobytes())
    for position, mask in result.undefined_elements.items():
        record["undefined"][str(position)] = store.put(np.packbits(mask.reshape(-1)).tobytes())
    notes = [f"undefined: {u}" for u in result.undefined]
    notes += [f"assertion: {a}" for a in result.assertions[:3]]
    record["notes"] = notes
    record["seconds"] = result.seconds
    return record


def _parse(store: Store, case: PlannedCase, record: dict[str, Any]) -> Interpretation:
    outputs, undefined = {}, {}
    for key, blob in record["outputs"].items():
        argument = case.arguments[int(key)]
        outputs[int(key)] = array_of(store, blob, argument.format, argument.shape)
    for key, blob in record["undefined"].items():
        argument = case.arguments[int(key)]
        size = int(np.prod(argument.shape, dtype=np.int64))
        packed = np.frombuffer(store.get(blob), np.uint8)
        undefined[int(key)] = np.unpackbits(packed, count=size).astype(np.bool_).reshape(argument.shape)
    tiers = {int(k): Tier(**{**t, "because": tuple(t["because"])}) for k, t in record["tiers"].items()}
    return Interpretation(
        outputs,
        undefined,
        tiers,
        tuple(record["operations"]),
        tuple(record["notes"]),
        record["error"],
        float(record["seconds"]),
    )


_SILENT = frozenset(
    {"constant", "assume", "make_token", "join_tokens", "yield", "continue", "break", "return", "iota", "for"}
    | {"if", "loop", "get_tile_block_id", "get_num_tile_blocks", "get_index_space_shape", "get_tensor_shape"}
    | {"make_tensor_view", "make_partition_view", "make_strided_view", "offset", "ptr_to_ptr"}
    | {"load_view_tko", "store_view_tko", "load_ptr_tko", "store_ptr_tko"}
)


def _operations(module: tileir.Module) -> list[str]:
    """The operations that compute, each once, as ``addf f32``."""
    from tileir.types import NumberType, TileType

    found: dict[str, None] = {}
    for operation in module.walk():
        if operation.mnemonic in _SILENT:
            continue
        names = []
        for value in (*operation.uses, *operation.results[:1]):
            if isinstance(value.type, TileType) and isinstance(value.type.element, NumberType):
                names.append(value.type.element.name)
        formats = list(dict.fromkeys(names))
        if operation.mnemonic == "select":
            formats = formats[1:] or formats
        shown = (
            "→".join(formats)
            if operation.mnemonic in ("ftof", "ftoi", "itof", "exti")
            else " ".join(formats[:1])
        )
        found[f"{operation.mnemonic} {shown}".strip()] = None
    return list(found)


@cache
def code_digest() -> str:
    """A hash of the code that an interpretation depends on: what it was computed by is part of its name."""
    digest = hashlib.sha256()
    here = Path(__file__).parents[2]
    files = [p for package in ("tileir", "tileref") for p in sorted((here / package).rglob("*"))]
    files += [
        *sorted((here / "difftest" / "errors").glob("*.py")),
        here / "difftest" / "tiers.py",
        Path(__file__),
    ]
    for path in files:
        if path.is_file() and path.suffix != ".pyc":
            digest.update(path.relative_to(here).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
