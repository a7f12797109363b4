"""Export: equal stores give equal bytes, nothing secret goes out, and a person can read it."""

from __future__ import annotations

import datetime as dt
import json
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memory_magic.errors import FileStateError, StoreAccessError, UsageError
from memory_magic.store import journal_format as form
from memory_magic.store.archive import Archive
from memory_magic.store.export import sealed, without_secrets
from memory_magic.store.journal_format import Draft, finish
from memory_magic.store.lock import StoreLock
from memory_magic.store.store import Store

GitRepo = Callable[..., Path]
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
NOW = dt.datetime(2026, 11, 30, 18, 35, 0, 123456, tzinfo=dt.UTC)


def values(text: str) -> list[dict[str, Any]]:
    """Return the JSON values of the lines."""
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.fixture
def frozen(root: Path, git_repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Give a store whose every byte is known: a clock that counts minutes, salts that count too, two scopes."""
    ticks, salts = iter(range(100)), iter(range(100))
    monkeypatch.setattr("memory_magic.store.layout.utc_now", lambda: NOW)
    monkeypatch.setattr(form, "os", SimpleNamespace(urandom=lambda size: next(salts).to_bytes(size, "big")))
    store = Store(root, git_repo("lab"), by="ana", clock=lambda: NOW + dt.timedelta(minutes=next(ticks)))
    file = store.scopes[0].memory_file
    file.parent.mkdir(parents=True)
    file.write_text(
        "A paragraph\nof two lines.\n\n# Ideas\n\n## Work\n\n- an item\n  - with a child\n- 深色模式 café\n\n"
        '```python\nif x:\n    y()\n```\n\n### Deep\n\n- "quoted" \\ back\u2028slash\n\n## Pinned\n\n- always first\n',
        encoding="utf-8",
    )
    store.observe()
    store.remember("Deploys run on Fridays", scope="workspace")
    store.revise("Deploys run on Fridays", "Deploys run on Tuesdays", evidence="said in\nthe stand-up")
    store.remember("gone soon", scope="workspace", by="notebook a.ipynb cell 3")
    store.retire("gone soon", evidence="done")
    return store


@pytest.mark.parametrize(
    ("name", "options"),
    [("notes.jsonl", {}), ("history.jsonl", {"history": True}), ("notes.md", {"style": "markdown"})],
)
def test_an_export_is_the_golden_file(frozen: Store, data: Path, name: str, options: dict[str, Any]) -> None:
    """The bytes are those kept in tests/data/golden/export."""
    golden = data / "golden" / "export" / name
    told, text = Archive(frozen).export(**options)
    assert text.encode() == golden.read_bytes()
    assert (told.scopes, told.notes, told.path) == (2, 7, "")


def test_lines_have_the_agreed_keys_in_the_agreed_order(frozen: Store) -> None:
    """Format line, then each scope before its notes; pinned notes first, the others in file order; keys sorted."""
    _, text = Archive(frozen).export()
    first, *rest = values(text)
    assert first == {"format": 1, "kind": "memory-magic"}
    assert set(rest[0]) == {"scope", "label", "origin", "aliases", "created"}
    notes = [value for value in rest if "text" in value]
    assert all(set(note) == {"scope", "id", "text", "pinned", "section", "kind", "created", "by"} for note in notes)
    assert [note["text"].partition("\n")[0] for note in notes if note["scope"] == "global"] == [
        *("always first", "A paragraph", "an item", "深色模式 café", "```python", '"quoted" \\ back\u2028slash'),
    ]
    for line in text.split("\n")[:-1]:
        assert line == json.dumps(json.loads(line), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert str(frozen.root) not in text


def test_an_export_to_a_file_is_private_and_whole(frozen: Store, tmp_path: Path) -> None:
    """The file is 0600, replaced at once, has the same bytes as the text, and leaves no temp beside it."""
    archive = Archive(frozen)
    target = tmp_path / "out" / "notes.jsonl"
    with pytest.raises(StoreAccessError):
        archive.export(target)
    target.parent.mkdir()
    target.write_text("older", encoding="utf-8")
    told, empty = archive.export(target, history=True)
    assert (told.path, told.records, empty) == (str(target), len(frozen.journal()), "")
    assert told.head == frozen.journal()[-1].chain
    assert target.read_text(encoding="utf-8") == archive.export(history=True)[1]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert [path.name for path in target.parent.iterdir()] == ["notes.jsonl"]


def test_an_export_that_fails_leaves_the_older_one(
    frozen: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk in the midst does not destroy yesterday's export."""
    target = tmp_path / "notes.jsonl"
    target.write_text("older", encoding="utf-8")
    monkeypatch.setattr("memory_magic.store.export.note_value", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Archive(frozen).export(target)
    assert target.read_text(encoding="utf-8") == "older"
    assert not list(tmp_path.glob(".notes*"))


def test_an_export_does_not_go_into_the_store(frozen: Store) -> None:
    """A file below the root would be taken for memory, and a folder is no file."""
    for path in (frozen.root / "notes.jsonl", frozen.root / "global" / "MEMORY.md"):
        with pytest.raises(UsageError, match="inside the store"):
            Archive(frozen).export(path)
    with pytest.raises(UsageError, match="folder"):
        Archive(frozen).export(frozen.root.parent)


def test_one_scope_can_be_exported_alone_but_its_history_cannot(frozen: Store) -> None:
    """The chain is of the whole store; notes are of their scope."""
    _, text = Archive(frozen).export(scope="workspace")
    assert {value["scope"] for value in values(text)[1:]} == {frozen.workspace.id if frozen.workspace else ""}
    wrongs: list[dict[str, Any]] = [{"scope": "global"}, {"style": "markdown"}]
    for wrong in wrongs:
        with pytest.raises(UsageError, match="whole store"):
            Archive(frozen).export(history=True, **wrong)


def test_every_scope_goes_out_wherever_one_stands(root: Path, git_repo: GitRepo) -> None:
    """A backup made in one repository has the notes of the others, too."""
    Store(root, git_repo("a")).remember("in A", scope="workspace")
    b = Store(root, git_repo("b"))
    b.remember("in B", scope="workspace")
    _, text = Archive(b).export()
    assert {value["text"] for value in values(text) if "text" in value} == {"in A", "in B"}
    assert values(text)[1]["scope"] == "global"


def test_an_empty_store_exports_an_empty_store(root: Path) -> None:
    """Without a root nothing is made, and the export says global and nothing else."""
    _, text = Archive(Store(root)).export(history=True)
    assert [sorted(value) for value in values(text)] == [
        ["format", "kind"], ["aliases", "created", "label", "origin", "scope"],
    ]  # fmt: skip
    assert not root.exists()
    assert Archive(Store(root)).export(style="markdown")[1] == "# Notes that follow me\n\nNone.\n"


def test_secrets_typed_by_hand_do_not_go_out(root: Path) -> None:
    """Not in text, title, Markdown or history; the id is that of the redacted text; the reply says so."""
    store = Store(root)
    file = store.scopes[0].memory_file
    file.parent.mkdir(parents=True)
    file.write_text(f"## About {SECRET}\n\n- the token is {SECRET}\n- fine\n", encoding="utf-8")
    ways: list[dict[str, Any]] = [{}, {"history": True}, {"style": "markdown"}]
    for options in ways:
        told, text = Archive(store).export(**options)
        assert SECRET not in text
        assert "[REDACTED_SECRET]" in text
        assert told.notices[0].startswith("1 note holds what is not kept")
    note = next(value for value in values(Archive(store).export()[1]) if "token" in str(value.get("text")))
    assert note["id"] != next(one.id for one in store.list() if "token" in one.text)


def test_a_secret_in_an_old_record_is_sealed_and_the_chain_holds() -> None:
    """A journal written before the rule: the field goes out as its commitment, like after a purge."""
    fields = {"scope": "global", "id": "a" * 26, "after": f"token {SECRET}", "by": "ana"}
    record = finish(Draft("remember", fields), 1, "2026-11-30T18:35:00.123456Z", form.GENESIS)
    clean = without_secrets(record)
    assert SECRET not in repr(clean)
    assert (set(clean.fields), set(clean.erased), clean.salt) == ({"scope", "id", "by"}, {"after"}, None)
    assert form.chain_value(form.GENESIS, clean) == record.chain
    whole = sealed(record)
    assert (whole.fields, whole.salts, form.chain_value(form.GENESIS, whole)) == ({}, {}, record.chain)
    assert form.chain_value(form.GENESIS, sealed(clean)) == record.chain
    assert without_secrets(whole) is whole


def test_foreign_records_go_out_redacted_and_without_a_path(root: Path) -> None:
    """CodeWhale's records have no chain and a path of somebody's home."""
    root.mkdir(mode=0o700)
    foreign = f"\n- **revise** `1796064039` /home/a/memory/global/MEMORY.md\n  - before: {SECRET}\n  - after: b\n"
    (root / "JOURNAL.md").write_text(foreign, encoding="utf-8")
    _, text = Archive(Store(root)).export(history=True)
    record = values(text)[-1]
    assert (record["n"], record["action"], record["fields"]["after"]) == (0, "revise", "b")
    assert "/home/a" not in text
    assert SECRET not in text


def test_an_edit_of_this_moment_goes_out(root: Path) -> None:
    """Export looks at the files first, and journals what an editor changed, so that notes and history agree."""
    store = Store(root)
    store.remember("one")
    store.scopes[0].memory_file.write_text("- one\n- by hand\n", encoding="utf-8")
    _, text = Archive(store).export(history=True)
    assert [value["text"] for value in values(text) if "text" in value] == ["one", "by hand"]
    assert [value["action"] for value in values(text) if "action" in value] == ["remember", "observe"]


def test_an_export_does_not_wait_for_a_writer_for_ever(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the lock cannot be had, what stands in the files goes out."""
    store = Store(root)
    store.remember("one")
    monkeypatch.setattr("memory_magic.store.lock.TIMEOUT", 0.1)
    with StoreLock(root).hold():
        store.scopes[0].memory_file.write_text("- one\n- by hand\n", encoding="utf-8")
        _, text = Archive(store).export(history=True)
    assert {value["text"] for value in values(text) if "text" in value} == {"one", "by hand"}
    assert [value["action"] for value in values(text) if "action" in value] == ["remember"]


def test_a_read_only_store_exports_without_a_trace(frozen: Store) -> None:
    """No lock, no index row, the same bytes."""
    expected = Archive(frozen).export(history=True)[1]
    frozen.close()
    before = {path: path.stat().st_mtime_ns for path in frozen.root.rglob("*")}
    assert Archive(Store(frozen.root, frozen.cwd, read_only=True)).export(history=True)[1] == expected
    assert {path: path.stat().st_mtime_ns for path in frozen.root.rglob("*")} == before


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_is_no_text_stops_the_export(root: Path, *, read_only: bool) -> None:
    """Notes are never left out unsaid."""
    Store(root).remember("one")
    (root / "global" / "MEMORY.md").write_bytes(b"\xff\xfe-\0 \0a\0")
    with pytest.raises(FileStateError, match="NUL"):
        Archive(Store(root, read_only=read_only)).export()


def test_tombstones_go_with_the_history(frozen: Store) -> None:
    """They hold digests only, and what was purged must not come back by an export."""
    (frozen.root / "tombstones.md").write_text(f"salt: {'0' * 32}\n\n- {'a' * 32} n=7\n", encoding="utf-8")
    _, text = Archive(frozen).export(history=True)
    assert values(text)[-1] == {"tombstones": [f"salt: {'0' * 32}", f"- {'a' * 32} n=7"]}
    assert "tombstones" not in Archive(frozen).export()[1]


def test_tombstones_in_a_purge_record_are_no_secrets(root: Path, tmp_path: Path) -> None:
    """They look like keys, yet go out as they are: without them the chain would name an erasure that nobody made."""
    from memory_magic.store.access import Access
    from memory_magic.store.purge import run
    from memory_magic.store.purge.plan import Request

    store = Store(root)
    store.remember("the door code is in the drawer", by="codex session 0199-aa")
    for request in (Request(session="0199-aa"), Request(text="the door code", forbid=True)):
        run.purge(Access(store), request)
    source = tmp_path / "out.jsonl"
    Archive(store).export(source, history=True)
    fresh = Store(tmp_path / "fresh")
    told = Archive(fresh).import_from(source, history=True)
    assert told.notices == []
    assert fresh.verify().ok
    assert Archive(fresh).export(history=True)[1] == source.read_text(encoding="utf-8")


def test_a_secret_in_the_place_of_tombstones_does_not_go_out() -> None:
    """A field of that name that holds anything else is looked at like the rest."""
    record = finish(Draft("purge", {"tombstone": f"{'0' * 32} {SECRET}"}), 1, "t", form.GENESIS)
    assert "tombstone" in without_secrets(record).erased


def test_markdown_shows_prose_as_it_is(root: Path) -> None:
    """A quote with a fence in it reads as in the memory file."""
    store = Store(root)
    file = store.scopes[0].memory_file
    file.parent.mkdir(parents=True)
    file.write_text("> a quote\n> ```\n> inside\n\n- x\n", encoding="utf-8")
    _, text = Archive(store).export(style="markdown")
    assert text.startswith("# Notes that follow me\n\n## Notes\n\n> a quote\n")


def test_markdown_of_a_label_cannot_forge_structure(root: Path, git_repo: GitRepo) -> None:
    """A workspace's label is one line of text in a heading."""
    store = Store(root, git_repo("lab"))
    store.remember("x", scope="workspace")
    assert store.workspace is not None
    toml = store.workspace.path / "scope.toml"
    toml.write_text('label = "a\\n# Forged\\n- note"\norigin = ""\naliases = []\ncreated = ""\n', encoding="utf-8")
    _, text = Archive(Store(root, store.cwd)).export(style="markdown")
    assert "\n# Forged" not in text
