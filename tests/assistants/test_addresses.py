from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memory_magic.assistants.addresses import FILE, NOTE, NOTHING, Found, resolve, split
from memory_magic.errors import FileStateError, MemoryMagicError, NoSuchNoteError, ScopeError, UsageError
from memory_magic.prompt.place import place_at
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def repo(git_repo: Callable[..., Path]) -> Path:
    """Give a repository with a workspace of its own."""
    return git_repo("alpha")


def ask(address: str, root: Path, folder: Path) -> Found:
    """Resolve an address as it is seen from a folder."""
    with Store(root, folder) as store:
        return resolve(address, place_at(root, folder), store)


def workspace(root: Path, folder: Path) -> Path:
    """Return the folder of the workspace, made."""
    with Store(root, folder) as store:
        scope = store.workspace
        store.remember("first", scope="workspace")
    assert scope is not None
    return scope.path


def put(path: Path, text: str) -> None:
    """Write a file with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_notes_are_found_by_id_in_the_scope_that_is_named(root: Path, repo: Path) -> None:
    """An id leads to its note below root and its own scope, and below no other."""
    with Store(root, repo) as store:
        written = store.remember("Deploys run on Tuesdays", scope="workspace")
    for host in ("root", "workspace", "ROOT"):
        found = ask(f"memory://{host}/notes/{written.id[:10]}", root, repo)
        assert (found.kind, found.text) == (NOTE, "Deploys run on Tuesdays")
    with pytest.raises(NoSuchNoteError):
        ask(f"memory://global/notes/{written.id}", root, repo)


def test_another_repository_is_not_known(root: Path, repo: Path, git_repo: Callable[..., Path]) -> None:
    """Notes, outputs and summaries of one repository do not exist for another."""
    there = workspace(root, repo)
    put(there / "stage_one" / "2026-11-30-abc.md", "alpha output")
    put(there / "consolidated" / "memory_summary.md", "alpha summary")
    beta = git_repo("beta")
    with Store(root, repo) as store:
        note = store.list("workspace")[0]
    for address in (f"memory://root/notes/{note.id}", "memory://root/stage_one/2026-11-30-abc"):
        with pytest.raises(NoSuchNoteError) as told:
            ask(address, root, beta)
        assert "2026-11-30-abc" not in told.value.hint
    assert ask("memory://root", root, beta).kind == NOTHING


def test_nothing_is_consolidated_yet(root: Path, repo: Path) -> None:
    """Before consolidation its addresses answer with one sentence, and are no errors."""
    for address in (
        "memory://root",
        "memory://root/",
        "memory://root/MEMORY.md",
        "memory://workspace/skills/x/SKILL.md",
    ):
        found = ask(address, root, repo)
        assert found.kind == NOTHING
        assert found.text.startswith("Nothing consolidated yet")


def test_summaries_are_joined_workspace_first(root: Path, repo: Path) -> None:
    """memory://root gives both summaries, a scope's address only its own."""
    put(workspace(root, repo) / "consolidated" / "memory_summary.md", "of the workspace")
    put(root / "global" / "consolidated" / "memory_summary.md", "of everything")
    assert ask("memory://root", root, repo).text == "of the workspace\n\nof everything"
    assert ask("memory://global", root, repo).text == "of everything"
    assert ask("memory://workspace", root, repo).text == "of the workspace"


def test_a_skill_of_one_name_is_the_workspaces(root: Path, repo: Path) -> None:
    """A consolidated file of the workspace goes before the global one; what is missing is answered with what exists."""
    put(workspace(root, repo) / "consolidated" / "skills" / "release" / "SKILL.md", "ours")
    put(root / "global" / "consolidated" / "skills" / "release" / "SKILL.md", "theirs")
    put(root / "global" / "consolidated" / "MEMORY.md", "long record")
    assert ask("memory://root/skills/release/SKILL.md", root, repo).text == "ours"
    assert ask("memory://global/skills/release/SKILL.md", root, repo).text == "theirs"
    assert ask("memory://root/MEMORY.md", root, repo).text == "long record"
    with pytest.raises(NoSuchNoteError) as told:
        ask("memory://root/skills/nope/SKILL.md", root, repo)
    assert "skills/release/SKILL.md" in told.value.hint


def test_stage_one_by_its_stem(root: Path, repo: Path) -> None:
    """An output is found with and without .md, without secrets, private spans and hidden characters."""
    secret = "ghp_" + "a1B2" * 9
    put(workspace(root, repo) / "stage_one" / "2026-11-30-abc.md", f"key {secret} <private>mine</private> end\u202e")
    for stem in ("2026-11-30-abc", "2026-11-30-abc.md"):
        found = ask(f"memory://root/stage_one/{stem}", root, repo)
        assert found.kind == FILE
        assert secret not in found.text
        assert "mine" not in found.text
        assert "\u202e" not in found.text
    with pytest.raises(NoSuchNoteError) as told:
        ask("memory://root/stage_one/other", root, repo)
    assert "2026-11-30-abc" in told.value.hint


@pytest.mark.parametrize(
    "address",
    [
        "memory://root/../JOURNAL.md",
        "memory://root/%2e%2e/JOURNAL.md",
        "memory://root/..%2fJOURNAL.md",
        "memory://root/stage_one/..%2f..%2fJOURNAL",
        "memory://root/stage_one/%252e%252e",
        "memory://root//MEMORY.md",
        "memory://root/.hidden",
        "memory://root/C:%5Cx",
        "memory://root/%00",
        "memory://root/%ff",
        "memory://root/MEMORY.md?x=1",
        "memory://root/MEMORY.md#x",
        "memory://elsewhere/MEMORY.md",
        "memory://",
        "memory://root/notes",
        "memory://root/notes/not an id",
        "memory://root/" + "a/" * 9 + "b",
        "memory://root/" + "a" * 3_000,
        "file:///etc/passwd",
    ],
)
def test_whatever_else_is_an_error(address: str, root: Path, repo: Path) -> None:
    """No spelling of a path leads out of the scope's folder, and each error is one of ours."""
    workspace(root, repo)
    with pytest.raises(MemoryMagicError):
        ask(address, root, repo)


def test_decoded_once(root: Path, repo: Path) -> None:
    """A percent sign that was encoded stays one: the name is decoded once and no more."""
    assert split("memory://root/a%2520b") == ("root", ("a%20b",))
    put(root / "global" / "consolidated" / "a%20b.md", "found")
    assert ask("memory://root/a%2520b.md", root, repo).text == "found"


def test_a_link_that_leads_out_is_refused(root: Path, repo: Path, tmp_path: Path) -> None:
    """A link to a file outside of the scope's folder is not followed, in whatever place of the path it stands."""
    outside = tmp_path / "outside"
    put(outside / "secret.md", "not for you")
    scope = workspace(root, repo)
    (scope / "consolidated").mkdir()
    (scope / "consolidated" / "MEMORY.md").symlink_to(outside / "secret.md")
    (scope / "stage_one").symlink_to(outside)
    for address in ("memory://root/MEMORY.md", "memory://root/stage_one/secret"):
        with pytest.raises(FileStateError) as told:
            ask(address, root, repo)
        assert str(outside) not in str(told.value)


def test_no_text_and_a_pipe_are_said(root: Path, repo: Path) -> None:
    """A file that is no UTF-8 text, or no file, is an error that says so and does not wait."""
    import os

    folder = root / "global" / "consolidated"
    put(folder / "MEMORY.md", "")
    (folder / "MEMORY.md").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(folder / "pipe.md")
    for name in ("MEMORY.md", "pipe.md"):
        with pytest.raises(FileStateError):
            ask(f"memory://root/{name}", root, repo)


def test_a_long_file_is_cut_and_says_how_much(root: Path, repo: Path) -> None:
    """Of a file over 65,536 bytes the beginning is given, and the count of the rest."""
    put(root / "global" / "consolidated" / "MEMORY.md", "word " * 40_000)
    found = ask("memory://root/MEMORY.md", root, repo)
    assert len(found.text.encode()) <= 65_536
    assert len(found.text.encode()) + found.beyond == 200_000


def test_no_workspace_is_said(root: Path, home: Path) -> None:
    """Outside of a repository memory://workspace is an error, and memory://root is global memory."""
    with pytest.raises(ScopeError):
        ask("memory://workspace", root, home)
    put(root / "global" / "consolidated" / "memory_summary.md", "of everything")
    assert ask("memory://root", root, home).text == "of everything"
    with pytest.raises(UsageError):
        ask("no address", root, home)
