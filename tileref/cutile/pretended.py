"""A GPU in appearance: what host code asks torch for before it launches a kernel.

Code that is written for a GPU makes its tensors on "cuda", asks for the current stream and for the number of
multiprocessors. Where torch has no GPU, those questions get an answer, and the tensors are in the CPU's
memory. Only what host code of kernels needs is answered; all else of ``torch.cuda`` fails as it did before.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

MULTIPROCESSORS = 132
"""Of an H200, whose arithmetic the model sm_90 is."""


class Stream:
    """A stream on which everything is done at once."""

    cuda_stream = 0
    device_index = 0

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        pass

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def query(self) -> bool:
        """Whether all is done: it is."""
        return True

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait_stream(self, _stream: Any) -> None:
        """Nothing to wait for."""

    def wait_event(self, _event: Any) -> None:
        """Nothing to wait for."""

    def record_event(self, event: Any = None) -> Any:
        """An event that has come."""
        return Event() if event is None else event


class Event:
    """An event that has come; the time between two of them is 0."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        pass

    def record(self, _stream: Any = None) -> None:
        """Nothing to note."""

    def wait(self, _stream: Any = None) -> None:
        """Nothing to wait for."""

    def query(self) -> bool:
        """Whether it has come: it has."""
        return True

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def elapsed_time(self, _end: Any) -> float:
        """Milliseconds up to another event."""
        return 0.0


def _available() -> bool:
    return True


def _answers(capability: tuple[int, int]) -> dict[str, Any]:
    """What ``torch.cuda`` answers, by name."""
    properties = SimpleNamespace(
        name="emulated by tileref",
        major=capability[0],
        minor=capability[1],
        multi_processor_count=MULTIPROCESSORS,
        warp_size=32,
        total_memory=1 << 34,
        shared_memory_per_block_optin=227 << 10,
        max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=65536,
        L2_cache_size=50 << 20,
    )
    stream = Stream()

    def always(answer: Any) -> Callable[..., Any]:
        return lambda *_args, **_kwargs: answer

    return {
        "Event": Event,
        "Stream": Stream,
        "current_device": always(0),
        "current_stream": always(stream),
        "default_stream": always(stream),
        "device": contextlib.nullcontext,
        "device_count": always(1),
        "empty_cache": always(None),
        "get_device_capability": always(capability),
        "get_device_name": always(properties.name),
        "get_device_properties": always(properties),
        "is_available": _available,
        "set_device": always(None),
        "stream": contextlib.nullcontext,
        "synchronize": always(None),
    }


@contextlib.contextmanager
def pretended_gpu(capability: tuple[int, int]) -> Iterator[None]:
    """Let torch have a GPU of this compute capability in appearance, unless it is not loaded or has one."""
    torch: Any = sys.modules.get("torch")
    if torch is None or (torch.cuda.is_available is not _available and torch.cuda.is_available()):
        yield
        return
    answers = _answers(capability)
    before = {name: getattr(torch.cuda, name) for name in answers}
    try:
        for name, answer in answers.items():
            setattr(torch.cuda, name, answer)
        with _on_the_cpu(torch):
            yield
    finally:
        for name, original in before.items():
            setattr(torch.cuda, name, original)


def _on_the_cpu(torch: Any) -> Any:
    """A mode of torch in which tensors that are made on "cuda" are on the CPU, and say that they are not."""
    cpu = torch.device("cpu")
    is_cuda = torch.Tensor.is_cuda

    def here(value: Any) -> Any:
        if isinstance(value, torch.device):
            return cpu if value.type == "cuda" else value
        if isinstance(value, str) and (value == "cuda" or value.startswith("cuda:")):
            return cpu
        return value

    def call(
        _mode: Any, func: Any, _types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__self__", None) is is_cuda:
            return True
        if func is torch.Tensor.cuda:
            return args[0]
        named = {name: here(value) for name, value in (kwargs or {}).items()}
        if "pin_memory" in named:
            named["pin_memory"] = False
        return func(*map(here, args), **named)

    base = import_module("torch.overrides").TorchFunctionMode
    return type("OnTheCpu", (base,), {"__torch_function__": call})()
