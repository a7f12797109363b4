"""Stores that the dashboard's tests look at, and a server and a browser to look with."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from memory_dashboard.server import Dashboard
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOSTILE = '<img src=x onerror="window.__pwned=1"><script>window.__pwned=1</script> \u202egnp.exe </div>\'"&amp;'
TEXTS = (
    "Prefer pytest fixtures over setUp; never unittest.TestCase here",
    "图表默认使用深色主题，坐标轴标签用中文",
    'डेटा लोड करते समय हमेशा कॉलम "तारीख" को datetime में बदलें',
    "أسماء الأعمدة تبقى بالإنجليزية حتى في التقارير العربية",
    "Never push to main; open a pull request and wait for one review",
    f"a hostile note {HOSTILE}",
    "x" * 10_000,
)


@dataclass(frozen=True)
class Filled:
    """A store with notes in two scopes, and the ids that tests ask for."""

    root: Path
    cwd: Path
    revised: str
    hostile: str
    pinned: str


def fill(root: Path, cwd: Path) -> Filled:
    """Write notes of every kind as a person, two assistants and an attacker would."""
    subprocess.run(["git", "init", "--quiet", str(cwd)], check=True)
    subprocess.run(
        ["git", "-C", str(cwd), "remote", "add", "origin", "https://example.org/acme/penguins.git"], check=True
    )
    with Store(root, cwd) as store:
        store.remember_many([f"Numbered thing {n}" for n in range(30)], by="command line")
        for text in TEXTS:
            store.remember(text, scope="workspace", by="Claude Code session 32a9b6a1, turn 18", evidence="a test")
        store.remember("by somebody hostile", by=HOSTILE, evidence=f"evidence {HOSTILE}")
        pinned = store.remember("Answer in short paragraphs", by="notebook setup.ipynb cell 1", pin=True).id
        old = store.remember("Deploys run on Fridays", scope="workspace", by="notebook old.ipynb").id
        revised = store.revise(old, "Deploys run on Tuesdays", evidence="said in the stand-up", by="ana").id
        store.retire("Numbered thing 3", evidence="no longer true", by="ana")
        hostile = next(note.id for note in store.list("all") if note.text.startswith("a hostile note"))
    with (root / "global" / "MEMORY.md").open("a", encoding="utf-8") as file:
        file.write(f"\n## {HOSTILE}\n\n- typed by hand below a hostile heading\n")
    return Filled(root, cwd, revised, hostile, pinned)


@pytest.fixture(scope="session")
def hostile_text() -> str:
    """Give the text that must never become markup."""
    return HOSTILE


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """Give a filled store below a folder with a hostile name; tests only read it."""
    base = tmp_path_factory.mktemp("dashboard")
    cwd = base / "penguins"
    cwd.mkdir()
    return fill(base / "root <img src=x onerror=window.__pwned=1>", cwd)


@pytest.fixture(scope="session")
def dashboard(filled: Filled) -> Iterator[Dashboard]:
    """Give a running server on the filled store."""
    running = Dashboard(filled.root, cwd=filled.cwd)
    yield running
    running.stop()
