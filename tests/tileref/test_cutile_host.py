"""Host code that launches cuda-tile kernels, as it is."""

from __future__ import annotations

import subprocess
import sys
import types
from typing import Any

import numpy as np
import pytest

import tileref.cutile

ct: Any = pytest.importorskip("cuda.tile")
from tests.tileref import cutile_kernels as kernels  # noqa: E402

X = np.arange(256, dtype=np.float32)


def test_through_the_module() -> None:
    z = np.zeros_like(X)
    before = ct.launch
    with tileref.cutile.emulating(model="sm_90") as launches:
        ct.launch(None, (2,), kernels.add, (X, X, z, 128))
    assert ct.launch is before
    assert (z == X + X).all()
    assert [r.model for r in launches] == ["sm_90"]


def test_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules that were imported before, and those imported inside, get the real launch back."""
    real = ct.launch
    early, late = types.ModuleType("early_host"), types.ModuleType("late_host")
    code = "from cuda.tile import launch as start\nfrom cuda.tile.tune import exhaustive_search"
    exec(code, early.__dict__)
    monkeypatch.setitem(sys.modules, "early_host", early)
    for _ in range(2):
        with tileref.cutile.emulating() as launches:
            exec(code, late.__dict__)
            monkeypatch.setitem(sys.modules, "late_host", late)
            for host in (early, late):
                assert host.start is not real
                z = np.zeros_like(X)
                host.start(None, (2,), kernels.add, (X, X, z, 128), programmatic_dependent_launch=True)
                assert (z == X + X).all()
        assert len(launches) == 2
        assert early.start is late.start is real
        assert early.exhaustive_search is ct.tune.exhaustive_search


def test_hints_change_no_answer() -> None:
    for kernel in (kernels.add, kernels.add.replace_hints(num_ctas=2, occupancy=4)):
        z = np.zeros_like(X)
        tileref.cutile.launch((2,), kernel, (X, X, z, 128))
        assert (z == X + X).all()


class TestTuning:
    """Nothing is measured."""

    def search(self, space: list[int], **options: Any) -> Any:
        import cuda.tile.tune

        y = np.zeros_like(X)
        with tileref.cutile.emulating() as launches:
            result = cuda.tile.tune.exhaustive_search(
                space,
                None,
                lambda tile: (256 // tile,),
                kernels.too_large,
                lambda tile: (X, y, tile),
                lambda tile: {"occupancy": 2},
                quiet=True,
                **options,
            )
        assert launches == []
        assert not y.any()
        return result

    def test_the_first_that_compiles(self) -> None:
        result = self.search([256, 128, 32, 64])
        assert result.best.config == 32
        assert [config for config, *_ in result.failures] == [256, 128]
        assert "too large" in result.failures[0][2]
        assert str(result)

    def test_none_compiles(self) -> None:
        with pytest.raises(ValueError, match="too large"):
            self.search([256, 128])

    def test_nothing_to_search(self) -> None:
        with pytest.raises(ValueError, match="empty"):
            self.search([])


HOST = """
import numpy as np, torch, cuda.tile as ct, tileref.cutile
from tests.tileref.cutile_kernels import add

def host():
    x = torch.arange(64, device="cuda", dtype=torch.float32)
    assert x.is_cuda and x.cuda() is x and x.to("cuda:0").is_cuda
    z = torch.empty_like(x, device=torch.device("cuda"))
    major, minor = torch.cuda.get_device_capability()
    blocks = torch.cuda.get_device_properties("cuda").multi_processor_count
    with torch.cuda.stream(torch.cuda.Stream()), torch.cuda.device(0):
        ct.launch(torch.cuda.current_stream(), (64 // 16,), add, (x, x, z, 16))
    torch.cuda.synchronize()
    return major, minor, blocks, torch.equal(z, x + x)

with tileref.cutile.emulating(capability=(10, 0)) as launches:
    assert host() == (10, 0, 132, True), host()
assert len(launches) == 1
try:
    torch.zeros(1, device="cuda")
except (AssertionError, RuntimeError):
    pass
else:
    raise SystemExit("there was a GPU after all")
try:
    torch.cuda.current_stream()
except (AssertionError, RuntimeError):
    raise SystemExit(0)
raise SystemExit("the stand-ins are still there")
"""


def test_torch_has_a_gpu_in_appearance() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this torch has a GPU")
    done = subprocess.run([sys.executable, "-c", HOST], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "name", ["bool", "uint8", "int8", "int16", "int32", "int64", "float8_e4m3fn", "float8_e5m2"]
)
def test_tensors_of_every_type(name: str) -> None:
    torch = pytest.importorskip("torch")
    x = (torch.arange(128).reshape(8, 16) % 5).to(getattr(torch, name))
    y = torch.zeros(8, 16, dtype=x.dtype)
    tileref.cutile.launch((2, 2), kernels.copy, (x, y, 4, 8))
    assert torch.equal(x.view(torch.uint8), y.view(torch.uint8))


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_arrays_without_dimensions(library: str) -> None:
    host = pytest.importorskip(library)
    x, y = host.full((), 1.5), host.zeros(())
    tileref.cutile.launch(1, kernels.double_scalar, (x, y))
    assert float(y) == 3.0


def test_host_code_that_asks_whether_there_is_a_gpu() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with tileref.cutile.emulating():
        assert torch.cuda.is_available()
        with tileref.cutile.emulating(capability=(8, 0)):
            assert torch.cuda.get_device_capability() == (8, 0)
        assert torch.cuda.get_device_capability() == (9, 0)
    assert not torch.cuda.is_available()
