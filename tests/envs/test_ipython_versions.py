r"""The magics on the IPython of Colab (7.34), on the last 8.x, and on the newest, each in an environment of its own.

The environments are made from the hashed locks beside this file and kept in the tree (`.venv-ipython`), so that the
second run needs no network. Where the packages cannot be had, the test is skipped and says which and why; a test that
fails, fails. A lock is written by (VERSION as in its name)

    uv pip compile pyproject.toml - --python-version 3.11 --generate-hashes --no-header --no-annotate \
      --no-emit-index-url -o tests/envs/ipython-VERSION.lock <<< "ipython==VERSION.*"$'\n'"ipykernel>=6.29"
"""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memory_magic

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
LOCKS = sorted(HERE.glob("ipython-*.lock"))
VENVS = HERE.parent.parent / ".venv-ipython"
PROBE = HERE / "ipython_probe.py"

# read before any test changes the environment: pip and uv find their settings there
_ENVIRONMENT = {**os.environ, "HOME": pwd.getpwuid(os.getuid()).pw_dir}


def _environment(lock: Path) -> Path:
    """Return the Python of the environment that fits *lock*; skip the test where it cannot be made."""
    mark = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:12]
    place = VENVS / f"{lock.stem}-{mark}"
    python = place / "bin" / "python"
    if (place / "complete").exists():
        return python
    for old in VENVS.glob(f"{lock.stem}-*"):
        shutil.rmtree(old)
    uv = shutil.which("uv")
    make = [uv, "venv", "--quiet", "--no-project", "--python"] if uv else []
    install = (
        [uv, "pip", "install", "--quiet", "--python", str(python)] if uv else [str(python), "-m", "pip", "install"]
    )
    steps = [
        [*make, sys.executable, str(place)] if uv else [sys.executable, "-m", "venv", str(place)],
        [*install, "--require-hashes", "-r", str(lock)],
    ]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, env=_ENVIRONMENT, check=False)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            pytest.skip(f"{lock.name}: its packages cannot be installed here ({reason})")
    (place / "complete").touch()
    return python


@pytest.fixture
def probe(root: Path, tmp_path: Path, git_repo: Callable[..., Path]) -> Callable[[Path], dict[str, Any]]:
    """Run the probe in an environment that has this memory_magic and no other package of ours."""
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "memory_magic").symlink_to(Path(memory_magic.__file__).parent)

    def run(lock: Path) -> dict[str, Any]:
        python = _environment(lock)
        variables = {**os.environ, "PYTHONPATH": str(alone)}
        command = [str(python), str(PROBE), str(git_repo("alpha"))]
        done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False, timeout=240)
        assert done.returncode == 0, done.stderr[-3000:]
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return told

    return run


def test_three_versions_are_locked() -> None:
    """Colab's version, an 8.x and a 9.x have a lock, each with a hash for every package and no address."""
    versions = {lock.stem.removeprefix("ipython-") for lock in LOCKS}
    assert "7.34" in versions
    assert {version.partition(".")[0] for version in versions} == {"7", "8", "9"}
    for lock in LOCKS:
        text = lock.read_text()
        assert "://" not in text
        assert text.count("==") <= text.count("--hash=sha256:")
        assert f"ipython=={lock.stem.removeprefix('ipython-')}." in text


@pytest.mark.slow
@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_magics_work_on_this_ipython(lock: Path, probe: Callable[[Path], dict[str, Any]]) -> None:
    """Words as typed, question marks, results, quick capture, completion, provenance and refusal: on every IPython."""
    told = probe(lock)
    assert told["version"].startswith(lock.stem.removeprefix("ipython-"))
    shell = told["shell"]
    assert "memory-magic is off" in shell["load"]["out"]
    assert set(shell["modules"]) <= {"IPython", "memory_magic"}
    _check_cells(shell)
    _check_completion(shell)
    _check_kernel(told["kernel"])


def _check_cells(shell: dict[str, Any]) -> None:
    """Compare notes, replies and errors with what was typed; cells that are no capture printed nothing."""
    count = shell["count"]
    assert shell["notes"] == [
        ["first line\n  second {x}", "ipython (execution 4)"],
        ["a quick one", f"ipython (execution {count})"],
        ["Is it Tuesday?", "ipython (execution 3)"],
        ['don\'t use "tabs" $HOME {x}', "ipython (execution 2)"],
    ]
    assert "Remembered in global: Is it Tuesday?" in shell["question"]["out"]
    assert "1 note for tabs?" in shell["search"]["out"]
    assert [hit["text"] for hit in shell["found"]] == ["Is it Tuesday?"]
    assert "<table" in shell["html"]
    assert "not sent: memory is off" in shell["view"]["out"]
    assert shell["wrong"] == {"ok": True, "out": "", "err": "there is no command rember. Did you mean remember?\n"}
    assert "%memory revise" in shell["help"]["out"]
    assert "Remembered in global: a quick one" in shell["captured"]["out"]
    assert all(cell == {"ok": True, "out": "", "err": ""} for cell in shell["left_alone"])
    assert shell["gone"] is True


def _check_completion(shell: dict[str, Any]) -> None:
    """Tab offers ours after our magics, and IPython's own elsewhere."""
    offered = shell["complete"]
    assert "search" in offered["command"]
    assert "workspace" in offered["scope"]
    assert shell["id"][:10] in offered["id"]
    assert "print" in offered["python"]


def _check_kernel(kernel: dict[str, Any]) -> None:
    """In a kernel results are rich, notes name notebook and cell, and a question without input names -y."""
    assert not [one for answers in kernel.values() for one in answers if one["type"] in {"error", "silence"}]
    (reply,) = [one["data"] for one in kernel["remember"] if one["type"] == "display_data"]
    assert "Remembered in global: from a kernel" in reply["text/plain"]
    assert "text/html" in reply
    (listed,) = [one["data"] for one in kernel["list"] if one["type"] == "execute_result"]
    assert "notebook analysis.ipynb cell 4f2a (execution 2)" in listed["text/html"]
    assert "-y" in "".join(one["text"] for one in kernel["refused"] if one["type"] == "stream")
