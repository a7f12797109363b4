"""What doctor finds: each sentence names the file and the way to mend it, and looking changes nothing."""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_magic.errors import ScopeError, StoreAccessError
from memory_magic.store import doctor_drift, doctor_files, files
from memory_magic.store.index import DamagedIndexError, Index
from memory_magic.store.lock import StoreLock
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memory_magic.store.records import Finding

Patch = pytest.MonkeyPatch
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def memory(store: Store) -> Path:
    """Return the global memory file."""
    return store.root / "global" / "MEMORY.md"


def found(store: Store, kind: str) -> list[Finding]:
    """Return the findings of one kind, each with its four parts."""
    findings = store.findings()
    assert all(one.kind and one.text and one.where and one.mend for one in findings)
    return [one for one in findings if one.kind == kind]


@pytest.fixture
def store(root: Path) -> Store:
    """Return a store with one note."""
    one = Store(root)
    one.remember("one")
    return one


def test_a_healthy_store_has_no_findings(store: Store) -> None:
    """Nothing to say means nothing said, and nothing left behind by looking."""
    names = sorted(path.name for path in store.root.rglob("*"))
    assert store.findings() == []
    assert sorted(path.name for path in store.root.rglob("*")) == names


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<<<<<<< HEAD\n- ours\n=======\n- theirs\n>>>>>>> x\n", ["conflict markers", "line 1, 3, 5"]),
        (b"- a\n- caf\xe9\n", ["no UTF-8 at line 2"]),
        (b"- a\0b\n", ["NUL bytes"]),
        (b"- a\n\n```\nopen\n", ["an open code fence from line 3"]),
        (b"- a\n\n<!-- open\n", ["an open HTML comment from line 3"]),
        (b"- a <private> rest\nmore\n", ["nothing can be added", "open <private> span"]),
    ],
)
def test_what_stands_in_the_way_of_a_write_is_listed_once(store: Store, data: bytes, words: list[str]) -> None:
    """One finding for each fault of a memory file, with its place; the file stays as it is."""
    memory(store).write_bytes(data)
    (finding,) = found(store, "file")
    assert all(word in finding.text for word in words)
    assert finding.where == str(memory(store))
    assert memory(store).read_bytes() == data


def test_several_faults_of_one_file_are_several_findings(store: Store) -> None:
    """None hides another."""
    memory(store).write_bytes(b"- caf\xe9\n\n```\nopen\n")
    assert len(found(store, "file")) == 2


def test_a_file_that_cannot_be_read_is_a_finding(store: Store) -> None:
    """A directory in its place, a link to itself: named, not raised."""
    memory(store).unlink()
    memory(store).symlink_to("MEMORY.md")
    assert "symbolic links" in found(store, "file")[0].text


def test_damage_of_the_journal_is_told_with_its_lines(store: Store) -> None:
    """Each fault of verify is a finding, and none says that notes are lost."""
    journal = store.root / "JOURNAL.md"
    journal.write_text(journal.read_text(encoding="utf-8").replace("after: one", "after: won"), encoding="utf-8")
    assert [finding.text for finding in found(store, "journal")] == ["record 1: was changed after it was written"]
    journal.unlink()
    assert "its end is missing" in found(store, "journal")[0].text
    journal.mkdir(mode=0o700)
    assert [finding.where for finding in found(store, "journal")] == [str(journal)]


def test_sizes_that_are_felt_are_mentioned(store: Store, monkeypatch: Patch) -> None:
    """A large memory file and a large journal get advice."""
    monkeypatch.setattr(doctor_files, "LARGE_BYTES", 5)
    monkeypatch.setattr(doctor_files, "LARGE_JOURNAL_BYTES", 5)
    assert [finding.where for finding in found(store, "size")] == [str(store.root / "JOURNAL.md"), str(memory(store))]


@pytest.mark.parametrize(
    ("name", "is_copy"),
    [
        ("MEMORY (conflicted copy 2026-11-30).md", True),
        ("MEMORY(1).md", True),
        ("memory 2.md", True),
        ("MEMORY.sync-conflict-20261130-183500-ABCDEFG.md", True),
        ("MEMORY - Ana's copy.md", True),
        ("JOURNAL 2.md", True),
        ("MEMORY.md~", True),
        (".MEMORY.md.swp", True),
        (".#MEMORY.md", True),
        ("#MEMORY.md#", True),
        ("MEMORY.md.orig", True),
        ("notes.md", False),
        ("MEMORY.md.bak", False),
        (".MEMORY.md.12.0123456789abcdef.old", False),
    ],
)
def test_copies_of_a_memory_file_are_named_and_nothing_else(store: Store, name: str, *, is_copy: bool) -> None:
    """What sync tools and editors leave is listed, in the scopes and in the root."""
    for directory in (store.root, store.root / "global"):
        files.create(str(directory / name), b"- foreign\n")
    assert len(found(store, "copy")) == 2 * is_copy
    assert [note.text for note in store.list()] == ["one"]


def test_a_hostile_name_is_shown_clean(store: Store) -> None:
    """Control characters of a file's name do not reach the terminal."""
    files.create(str(store.root / "\x1b[2JMEMORY.md~"), b"")
    assert "\x1b" not in found(store, "copy")[0].where


def test_rights_of_files_and_folders_are_checked(store: Store) -> None:
    """What others may read is named with the mode that it should have; links are left out."""
    memory(store).chmod(0o640)
    (store.root / "global").chmod(0o755)
    (store.root / "global" / "link").symlink_to(memory(store))
    assert [(finding.where, finding.mend) for finding in found(store, "rights")] == [
        (str(store.root / "global"), f"chmod 0700 {store.root / 'global'}"),
        (str(memory(store)), f"chmod 0600 {memory(store)}"),
    ]


def test_many_wide_files_are_one_finding(store: Store) -> None:
    """A restored backup is mended by one command, not by a hundred."""
    for n in range(12):
        files.create(str(store.root / "global" / f".MEMORY.md.{n}.0123456789abcdef.old"), b"")
    for path in (store.root / "global").iterdir():
        path.chmod(0o644)
    (finding,) = found(store, "rights")
    assert finding.mend == f"chmod -R go-rwx {store.root}"
    assert "13 files" in finding.text


def test_files_that_vanish_while_they_are_looked_at_are_no_error(store: Store, monkeypatch: Patch) -> None:
    """Another process cleans up at the same time."""
    monkeypatch.setattr(Path, "rglob", lambda self, _: [self / "gone"])
    assert found(store, "rights") == []


def test_a_disk_without_exchange_is_named(store: Store, monkeypatch: Patch) -> None:
    """On NFS or FAT an editor's save may be lost; a root that cannot be written says nothing about the disk."""
    monkeypatch.setattr(files, "_exchange_call", lambda: None)
    assert [finding.where for finding in found(store, "disk")] == [str(store.root)]

    def refuse(_: Path) -> bool:
        raise StoreAccessError("Read-only file system")

    monkeypatch.setattr(files, "has_exchange", refuse)
    assert found(store, "disk") == []


def test_every_scope_on_disk_is_looked_at(root: Path, git_repo: Callable[..., Path]) -> None:
    """Doctor is for the person: it also reads workspaces that are not seen from here."""
    other = Store(root, cwd=git_repo("other"))
    other.remember("x", scope="workspace")
    assert other.workspace is not None
    other.workspace.memory_file.write_text("- a\n\n```\nopen\n", encoding="utf-8")
    assert [finding.where for finding in found(Store(root), "file")] == [str(other.workspace.memory_file)]


def test_the_last_verdict_is_kept_where_it_can_be(store: Store) -> None:
    """Kept with time and number; where somebody writes, the one before stays, and the answer is given all the same."""
    assert store.verify().ok
    first = store.status().verified
    assert first is not None
    assert (first["n"], first["ok"]) == (1, True)
    assert str(first["time"]).endswith("Z")
    store.remember("two")
    with StoreLock(store.root).hold():
        assert store.verify().n == 2
    assert store.status().verified == first
    journal = store.root / "JOURNAL.md"
    journal.write_text(journal.read_text(encoding="utf-8").replace("after: one", "after: won"), encoding="utf-8")
    assert not store.verify().ok
    assert (store.status().verified or {})["ok"] is False


def test_an_index_that_cannot_be_read_is_told_as_not_fresh(store: Store, monkeypatch: Patch) -> None:
    """Status answers without it, and verify goes on without its anchor."""
    real = Index.meta

    def damaged(self: Index, key: str) -> object:
        if self.read_only:
            raise DamagedIndexError("not a database")
        return real(self, key)

    monkeypatch.setattr(Index, "meta", damaged)
    status = store.status()
    assert (status.index_notes, status.index_fresh, status.verified) == (0, False, None)
    assert store.verify().n == 1


def test_a_workspace_is_made_and_journalled(root: Path, tmp_path: Path) -> None:
    """Init names the folder, writes the scope's file and one record; the note that follows goes there."""
    project = tmp_path / "project"
    project.mkdir()
    store = Store(root, cwd=project, by="ana")
    assert store.scope_notice
    scope = store.init("My project")
    assert store.scope_notice == ""
    assert (store.workspace, scope.label) == (scope, "My project")
    assert (scope.path / "scope.toml").is_file()
    (record,) = store.journal()
    assert (record.action, record.scope, record.fields["after"], record.fields["by"]) == (
        "init",
        scope.id,
        "My project",
        "ana",
    )
    assert store.remember("x", scope="workspace").scope == scope.id
    assert store.verify().ok


def test_another_folder_can_be_made_a_workspace_from_here(root: Path, tmp_path: Path) -> None:
    """The folder named gets the workspace; the present directory sees it only if it lies inside."""
    (tmp_path / "project").mkdir()
    store = Store(root)
    scope = store.init("Other", tmp_path / "project")
    assert not scope.is_global
    assert store.workspace is None
    assert Store(root, cwd=tmp_path / "project").workspace == scope
    assert [one.id for one in store.scopes_named("all")] == ["global", scope.id]
    assert store.scopes_named(scope.id)[0].label == "Other"


def test_a_read_only_store_is_looked_at_as_well(store: Store) -> None:
    """Findings need no right to write."""
    memory(store).chmod(0o644)
    assert [one.kind for one in Store(store.root, read_only=True).findings()] == ["rights"]


def test_a_workspace_that_leads_out_of_the_store_is_named_and_left_alone(store: Store, tmp_path: Path) -> None:
    """Neither read nor written, and the others are not held up by it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "MEMORY.md").write_text("- foreign\n", encoding="utf-8")
    (store.root / "workspace").mkdir(mode=0o700)
    link = store.root / "workspace" / ("0" * 64)
    link.symlink_to(outside)
    assert [finding.where for finding in found(store, "link")] == [str(link)]
    assert [note.text for note in store.list("all")] == ["one"]
    with pytest.raises(ScopeError, match="no such workspace"):
        store.list(f"workspace/{'0' * 64}")
    assert [path.name for path in outside.iterdir()] == ["MEMORY.md"]


def test_a_scope_that_is_not_here_is_said_with_the_reason(store: Store, tmp_path: Path) -> None:
    """No workspace in this directory: reading and writing say why, and how to make one."""
    works: list[Callable[[], object]] = [
        lambda: store.list("workspace"),
        lambda: store.remember("x", scope="workspace"),
    ]
    for work in works:
        with pytest.raises(ScopeError, match=r"no workspace here.*no git repository.*init"):
            work()
    assert not store.is_off_here
    (tmp_path / "work" / ".memory-magic.toml").write_text('memory = "off"\n', encoding="utf-8")
    assert Store(store.root).is_off_here


# -- journal against files --------------------------------------------------------------------------------------------


def journal_without(store: Store, word: str) -> None:
    """Take the last record that holds *word* out of the journal."""
    path = store.root / "JOURNAL.md"
    records = path.read_text(encoding="utf-8").split("\n- **")
    at = max(n for n, record in enumerate(records) if word in record)
    path.write_text("\n- **".join(records[:at] + records[at + 1 :]), encoding="utf-8")


def test_drift_between_journal_and_files_is_told_and_mended(store: Store) -> None:
    """What the journal does not know, what it has too much, what is pinned otherwise: counted, and reindex mends it."""
    store.remember("two")
    store.remember("three", pin=True)
    assert found(store, "drift") == []
    text = memory(store).read_text(encoding="utf-8")
    memory(store).write_text(
        text.replace("- one\n", "").replace("## Pinned", "## Before") + "- by hand\n", encoding="utf-8"
    )
    (finding,) = found(store, "drift")
    assert finding.where == str(memory(store))
    for words in ("1 note in the file that the journal does not know (line ", "1 note of the journal", "pinned in one"):
        assert words in finding.text
    assert "%memory reindex" in finding.mend
    assert "by hand" not in finding.text
    store.reindex()
    assert store.findings() == []


def test_a_journal_that_was_cut_differs_from_the_files(store: Store) -> None:
    """A record that somebody took out of the middle leaves a note without origin: told, and mended by reindex."""
    store.remember("two")
    store.remember("three")
    journal_without(store, "after: two")
    assert found(store, "journal")
    assert "1 note in the file that the journal does not know" in found(store, "drift")[0].text
    store.reindex()
    assert found(store, "drift") == []
    assert found(store, "journal")


def test_a_scope_whose_folder_is_gone_is_told(root: Path, git_repo: Callable[..., Path]) -> None:
    """The journal still has its notes."""
    other = Store(root, cwd=git_repo("other"))
    other.remember("x", scope="workspace")
    assert other.workspace is not None
    shutil.rmtree(other.workspace.path)
    (finding,) = found(Store(root), "drift")
    assert finding.where == str(other.workspace.path)
    assert "1 note of a scope whose folder is gone" in finding.text


def test_drift_is_looked_for_under_the_lock_or_twice(store: Store, monkeypatch: Patch) -> None:
    """Where somebody writes, only what two looks agree on is told; a change that is under way is none."""
    memory(store).write_text("- one\n- by hand\n", encoding="utf-8")
    monkeypatch.setattr(doctor_drift, "LOCK_SECONDS", 0.01)
    monkeypatch.setattr(doctor_drift, "_BETWEEN", 0.01)
    with StoreLock(store.root).hold():
        assert len(found(store, "drift")) == 1
        real, looks = doctor_drift._look, []

        def settling(*args: Any) -> Iterator[Finding]:
            looks.append(1)
            return iter([]) if len(looks) > 1 else real(*args)

        monkeypatch.setattr(doctor_drift, "_look", settling)
        assert found(store, "drift") == []
    assert len(found(Store(store.root, read_only=True), "drift")) == 0


def test_a_change_that_was_interrupted_is_told_apart_from_drift(store: Store) -> None:
    """A temp file of a killed writer: the next writer settles it, so nothing is compared before."""
    memory(store).write_text("- one\n- by hand\n", encoding="utf-8")
    files.create(str(store.root / "global" / ".MEMORY.md.9.0123456789abcdef.new"), b"- x\n")
    assert [finding.mend for finding in found(store, "unfinished")] == ["%memory reindex"]
    assert found(store, "drift") == []


def test_a_secret_typed_by_hand_makes_no_drift(store: Store) -> None:
    """The journal has it redacted, the file as it was typed: ids agree, so nothing differs."""
    memory(store).write_text(f"- one\n- the token is {SECRET}\n", encoding="utf-8")
    store.reindex()
    assert found(store, "drift") == []


# -- secrets, lengths -------------------------------------------------------------------------------------------------


def test_secrets_typed_by_hand_are_told_by_line_and_kind(store: Store) -> None:
    """File, line and kind in each of the files that a person writes; the value nowhere; the command takes the note."""
    memory(store).write_text(
        f"- one\n- first line\n  then {SECRET}\n\n# {SECRET}\n- <private>{SECRET}</private> mine\n", encoding="utf-8"
    )
    files.create(str(store.root / "memory.md"), f"hello\nkey: {SECRET}\n".encode())
    (store.root / "prompts").mkdir(mode=0o700)
    files.create(str(store.root / "prompts" / "x.md"), f"\n\n{SECRET}".encode())
    secrets = found(store, "secret")
    assert [finding.where for finding in secrets] == [
        f"{memory(store)}:3",
        f"{memory(store)}:5",
        f"{store.root / 'memory.md'}:2",
        f"{store.root / 'prompts' / 'x.md'}:3",
    ]
    note = next(note for note in store.list() if note.text.startswith("first"))
    assert secrets[0].mend.startswith(f"%memory purge {note.id[:10]}, and change it")
    assert all(finding.mend.startswith("take it out in an editor") for finding in secrets[1:])
    assert all("kind: " in finding.text for finding in secrets)
    assert SECRET not in str(secrets)


def test_a_secret_split_by_invisible_characters_has_no_line_but_is_told(store: Store) -> None:
    """Nobody sees it in an editor: the file and the kind are named."""
    memory(store).write_text(f"- one\n- {SECRET[:10]}\u200b{SECRET[10:]}\n", encoding="utf-8")
    (finding,) = found(store, "secret")
    assert finding.where == f"{memory(store)}:1"


def test_a_note_longer_than_a_note_may_be_is_told(store: Store) -> None:
    """A page pasted by hand is read, and named with its line."""
    memory(store).write_text("- one\n- " + "word " * 14_000 + "\n", encoding="utf-8")
    (finding,) = found(store, "size")
    assert finding.where == f"{memory(store)}:2"
    assert "65,536" in finding.text


def test_other_typed_files_that_cannot_be_read_are_told(store: Store) -> None:
    """A folder in the place of the personal memory file is a finding; a huge one is left to its owner."""
    (store.root / "memory.md").mkdir(mode=0o700)
    assert [finding.where for finding in found(store, "file")] == [str(store.root / "memory.md")]
    (store.root / "memory.md").rmdir()
    files.create(str(store.root / "memory.md"), b"")
    os.truncate(store.root / "memory.md", 30_000_000)
    assert store.findings() == []


# -- folders ----------------------------------------------------------------------------------------------------------


def test_files_of_no_place_are_told(store: Store) -> None:
    """Whatever is no part of a store is named once; a heap of them in one folder is one finding."""
    files.create(str(store.root / "notes.txt"), b"x")
    (store.root / "global" / "heap").mkdir(mode=0o700)
    for n in range(12):
        files.create(str(store.root / "global" / "heap" / str(n)), b"x")
    one, many = found(store, "foreign")
    assert one.where == str(store.root / "notes.txt")
    assert "%memory import" in one.mend
    assert many.where == str(store.root / "global" / "heap")
    assert "12 files" in many.text


def test_a_copy_is_taken_over_by_a_command(store: Store) -> None:
    """The command names the file, quoted for a shell; for a copy of the journal there is none."""
    path = store.root / "global" / "MEMORY (conflicted copy).md"
    files.create(str(path), b"- x\n")
    files.create(str(store.root / "JOURNAL 2.md"), b"")
    journal, notes = sorted(found(store, "copy"), key=lambda one: "JOURNAL" not in one.where)
    assert notes.mend.startswith(f"%memory import '{path}' ")
    assert "import" not in journal.mend


def test_a_damaged_scope_file_is_told(root: Path, git_repo: Callable[..., Path]) -> None:
    """Label and aliases cannot be read: named, with what to do."""
    other = Store(root, cwd=git_repo("other"))
    other.remember("x", scope="workspace")
    assert other.workspace is not None
    (other.workspace.path / "scope.toml").write_text("label = \n", encoding="utf-8")
    assert [finding.where for finding in found(other, "file")] == [str(other.workspace.path / "scope.toml")]


@pytest.mark.parametrize("here", [True, False])
def test_two_folders_of_one_repository_are_told(root: Path, git_repo: Callable[..., Path], *, here: bool) -> None:
    """CodeWhale's folder (hash of the address as written) beside ours: told here and from anywhere else, once."""
    url = "https://example.org/ana/lab.git"
    place = git_repo("lab", origin=url)
    store = Store(root, cwd=place)
    ours = store.remember("x", scope="workspace").scope
    assert found(store, "twin") == []
    theirs = f"workspace/{sha256(url.encode()).hexdigest()}"
    assert theirs != ours
    (root / theirs).mkdir(mode=0o700)
    seen = Store(root, cwd=place if here else None)
    (finding,) = found(seen, "twin")
    assert finding.where == str(root / theirs)
    assert f"rm -r {root / theirs}" in finding.mend
    files.create(str(root / theirs / "MEMORY.md"), b"- theirs\n")
    (finding,) = found(seen, "twin")
    assert f"%memory promote ID --to {ours} --scope {theirs}" in finding.mend
    assert ours in finding.text


def test_an_alias_makes_a_twin_too(root: Path, git_repo: Callable[..., Path]) -> None:
    """A moved repository: the old folder lists the new address, and both exist."""
    old = Store(root, cwd=git_repo("old", origin="https://example.org/old"))
    new = Store(root, cwd=git_repo("new", origin="https://example.org/new"))
    for store in (old, new):
        store.remember("x", scope="workspace")
    assert found(new, "twin") == []
    assert old.workspace is not None
    path = old.workspace.path / "scope.toml"
    path.write_text(path.read_text().replace("aliases = []", 'aliases = ["git@example.org:new"]'), encoding="utf-8")
    assert len(found(new, "twin")) == 1
