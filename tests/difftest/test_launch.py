"""The launch stage without a GPU: a fake driver stands in, and accidents are part of its programs."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from difftest.launch.__main__ import main
from difftest.launch.pack import pack, unpack
from difftest.launch.stage import EnvironmentMissing, Options, launch_folder
from difftest.plan import LAUNCHES
from difftest.store import FolderError

from .folders import DATA, launches, make_folder

ROOT = Path(__file__).parents[2]
DRIVER = "tests.difftest.fake_driver"
OPTIONS = Options(timeout=20.0, driver=DRIVER)


@pytest.fixture(autouse=True)
def _fake_driver_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_outputs_come_back(tmp_path: Path) -> None:
    store = make_folder(tmp_path, ["copy", "add"])
    assert launch_folder(tmp_path, OPTIONS) == {"ok": 2}
    found = launches(store)
    assert store.get(found["case0"].outputs["1"]) == DATA
    assert store.get(found["case1"].outputs["1"]) == bytes((b + 1) % 256 for b in DATA)
    # An input that was left alone is not kept a second time.
    assert set(found["case0"].outputs) == {"1"}
    assert found["case0"].device == "Fake GPU"
    assert found["case0"].gpu == "sm_90"
    assert found["case0"].launches == 3


def test_an_accident_costs_one_case(tmp_path: Path) -> None:
    accidents = ["fault", "crash", "refuse", "overrun", "underrun", "chance", "neighbour"]
    programs = [p for a in accidents for p in (a, "copy")]
    store = make_folder(tmp_path, programs)
    launch_folder(tmp_path, OPTIONS)
    found = launches(store)
    assert len(found) == len(programs)
    results = {a: found[f"case{2 * i}"].result for i, a in enumerate(accidents)}
    assert results == {
        "fault": "fault",
        "crash": "crashed",
        "refuse": "load",
        "overrun": "guard",
        "underrun": "guard",
        "chance": "nondeterministic",
        "neighbour": "nondeterministic",
    }
    assert all(found[f"case{2 * i + 1}"].result == "ok" for i in range(len(accidents)))
    assert "ILLEGAL_ADDRESS" in found["case0"].message
    assert "SIGSEGV" in found["case2"].message


def test_every_launch_is_the_first_of_a_module(tmp_path: Path) -> None:
    store = make_folder(tmp_path, ["global"])
    launch_folder(tmp_path, OPTIONS)
    found = launches(store)
    assert (found["case0"].result, found["case0"].launches) == ("ok", 3)


def test_a_hang_costs_its_time(tmp_path: Path) -> None:
    store = make_folder(tmp_path, ["hang", "copy"])
    launch_folder(tmp_path, Options(timeout=1.0, driver=DRIVER))
    found = launches(store)
    assert found["case0"].result == "timeout"
    assert found["case1"].result == "ok"


def test_nothing_is_launched_twice(tmp_path: Path) -> None:
    store = make_folder(tmp_path, ["copy", "fault", "add"])
    seen: list[str] = []
    launch_folder(tmp_path, OPTIONS, lambda done, total, name, launched: seen.append(name))
    assert len(seen) == 3
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / LAUNCHES).iterdir()}
    seen.clear()
    assert launch_folder(tmp_path, OPTIONS, lambda *a: seen.append(a[2])) == {"ok": 2, "fault": 1}
    assert not seen
    assert before == {p: p.stat().st_mtime_ns for p in (tmp_path / LAUNCHES).iterdir()}
    launch_folder(tmp_path, Options(driver=DRIVER, retry=True), lambda *a: seen.append(a[2]))
    assert seen == ["case1 (O3)"]
    # A lost record is made again, the others are left as they are.
    next((tmp_path / LAUNCHES).iterdir()).unlink()
    launch_folder(tmp_path, OPTIONS)
    assert len(launches(store)) == 3


def test_a_gpu_of_another_target(tmp_path: Path) -> None:
    make_folder(tmp_path, ["copy"], gpu="sm_86")
    with pytest.raises(EnvironmentMissing, match="sm_90"):
        launch_folder(tmp_path, OPTIONS)


def test_no_driver(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_folder(tmp_path, ["copy"])
    assert main([str(tmp_path), "--driver", "no_such_module"]) == 3
    assert "no_such_module" in capsys.readouterr().err


def test_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--driver", DRIVER]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert "Traceback" not in error


def test_answers_travel_in_archives(tmp_path: Path) -> None:
    there, here, out = tmp_path / "there", tmp_path / "here", tmp_path / "out"
    make_folder(there, ["copy", "add", "fault"])
    store = make_folder(here, ["copy", "add", "fault"])
    assert main([str(there), "--driver", DRIVER, "--out", str(out)]) == 1
    assert len(list(out.iterdir())) == 1
    assert unpack(out, here) == 3
    found = launches(store)
    assert store.get(found["case0"].outputs["1"]) == DATA
    assert found["case2"].result == "fault"


def test_a_foreign_archive_is_refused(tmp_path: Path) -> None:
    make_folder(tmp_path / "f", ["copy"])
    (tmp_path / "out").mkdir()
    path = tmp_path / "out" / "launches-0.zip"
    for name in ("../../evil.json", "launches/../../evil.json", "blobs/" + "0" * 64, "launches/x.json"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, b"{}")
        with pytest.raises(FolderError):
            unpack(tmp_path / "out", tmp_path / "f")
    path.write_bytes(b"no archive")
    with pytest.raises(FolderError, match="archive"):
        unpack(tmp_path / "out", tmp_path / "f")
    assert not list(tmp_path.rglob("evil.json"))


def test_a_damaged_launch_is_told(tmp_path: Path) -> None:
    make_folder(tmp_path, ["copy"])
    launch_folder(tmp_path, OPTIONS)
    path = next((tmp_path / LAUNCHES).iterdir())
    path.write_text(path.read_text()[:40])
    with pytest.raises(FolderError, match="damaged"):
        pack(tmp_path, tmp_path / "out")


def test_the_launcher_needs_little() -> None:
    """Only numpy, ml_dtypes, the CUDA bindings and the standard library may be imported on a GPU machine."""
    program = """
import sys
class Wall:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"click", "rich", "pandas", "gmpy2", "jinja2", "tileref", "corpora"}:
            raise ImportError("needs " + name)
sys.meta_path.insert(0, Wall())
import difftest.launch.__main__, difftest.launch.worker
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
