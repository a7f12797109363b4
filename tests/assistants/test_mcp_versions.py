r"""The server on mcp 1.30 and on 2.x, each with clients of both, in environments of their own.

The environments are made from the hashed locks in `tests/envs` and kept in the tree (`.venv-mcp`), so that the second
run needs no network. Where the packages cannot be had, the test is skipped and says why; a test that fails, fails. A
lock is written by (VERSION as in its name)

    uv pip compile pyproject.toml - --python-version 3.11 --generate-hashes --no-header --no-annotate \
      --no-emit-index-url -o tests/envs/mcp-VERSION.lock <<< "mcp==VERSION.*"
"""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memory_magic
from memory_magic import settings

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
LOCKS = sorted((HERE.parent / "envs").glob("mcp-*.lock"))
VENVS = HERE.parent.parent / ".venv-mcp"
PROBE = HERE / "mcp_probe.py"

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


def test_both_versions_are_locked() -> None:
    """Version 1.30 and one of 2 have a lock, each with a hash for every package and no address."""
    versions = {lock.stem.removeprefix("mcp-") for lock in LOCKS}
    assert "1.30" in versions
    assert {version.partition(".")[0] for version in versions} == {"1", "2"}
    for lock in LOCKS:
        text = lock.read_text()
        assert "://" not in text
        assert text.count("==") <= text.count("--hash=sha256:")
        assert f"\nmcp=={lock.stem.removeprefix('mcp-')}." in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "client"), list(product(LOCKS, LOCKS)), ids=lambda lock: lock.stem if isinstance(lock, Path) else ""
)
def test_each_client_with_each_server(
    server: Path, client: Path, root: Path, tmp_path: Path, git_repo: Callable[..., Path]
) -> None:
    """Instructions, tools, hints, every action, roots, resources and wrong calls: the same between all versions."""
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "memory_magic").symlink_to(Path(memory_magic.__file__).parent)
    settings.set_value(root, "enabled", value=True, strict=False)
    repo = git_repo("alpha")
    command = [str(_environment(client)), str(PROBE), str(_environment(server)), str(root), str(repo), "roots"]
    variables = {**os.environ, "PYTHONPATH": str(alone)}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, check=False, timeout=240)
    assert done.returncode == 0, done.stderr[:3000]
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert seen["version"].startswith(client.stem.removeprefix("mcp-"))
    assert [tool["name"] for tool in seen["tools"]] == ["memory_search", "memory_get", "remember"]
    assert [tool["annotations"]["destructiveHint"] for tool in seen["tools"]] == [False, False, True]
    assert "memory_search" in seen["instructions"]
    assert "Saved in the workspace's memory" in seen["saved"]["text"]
    assert "Deploys run on Tuesdays" in seen["found"]["text"]
    assert "Retired from global memory" in seen["retired"]["text"]
    assert all(seen[name]["error"] for name in ("unknown", "wrong", "long", "foreign"))
    assert seen["wrong"]["text"] == "query must be a text"
    assert seen["resources"] == ["memory://root"]
    assert len(seen["templates"]) == 3
    assert seen["read"].startswith("Nothing consolidated yet")
