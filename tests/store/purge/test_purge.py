"""A purge destroys what was asked for, in every file under the root, proves it, and nothing else changes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memory_magic.errors import ChangedMeanwhileError, UsageError
from memory_magic.store.access import Access
from memory_magic.store.ids import normalise, note_id
from memory_magic.store.purge import run
from memory_magic.store.purge.plan import Request
from memory_magic.store.purge.screen import PurgedTextError
from memory_magic.store.purge.search import Needles
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from memory_magic.store.purge.run import Purged

FRIDAYS = "Deploys run on Fridays at noon"
TUESDAYS = "Deploys run on Tuesdays at noon"
OTHER = "The cat is called Mimi"


@pytest.fixture
def store(root: Path) -> Store:
    """Give a store in a fresh root."""
    return Store(root)


def forget(store: Store, one: str, **options: Any) -> Purged:
    """Purge the note *one* by its id."""
    return run.purge(Access(store), Request(one=one, **options))


def traces(root: Path, *texts: str) -> list[str]:
    """Return the files that hold a text raw, normalised, or any id of it."""
    found = []
    needles = Needles(texts, frozenset(note_id("global", normalise(text)) for text in texts))
    for path in sorted(root.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if any(text.encode() in data for text in texts) or needles.lines_in(data):
                found.append(path.name)
    return found


def check(store: Store) -> None:
    """Check that the chain is whole and that replay and files agree."""
    verdict = store.verify()
    assert verdict.ok, verdict.faults
    state = replay(store.journal())
    assert {(scope, one.id, one.pinned) for scope, notes in state.items() for one in notes.values()} == {
        (note.scope, note.id, note.pinned) for note in store.list("all")
    }
    assert store.observe() == []


def test_purge_takes_the_whole_lineage(store: Store) -> None:
    """By id every version goes, from file, journal and index, and evidence that quotes one goes as well."""
    first = store.remember(FRIDAYS)
    store.remember(OTHER)
    now = store.revise(first.id, TUESDAYS, evidence=f"no more: {FRIDAYS}")
    done = forget(store, now.id)
    assert done.is_clean
    assert traces(store.root, FRIDAYS, TUESDAYS) == []
    assert [note.text for note in store.list()] == [OTHER]
    check(store)


def test_purge_of_a_note_of_several_lines(store: Store) -> None:
    """A note that is indented in file and journal is found there, and gone afterwards."""
    text = "Deploys run\non Fridays\n  - at noon\n  - never at night"
    written = store.remember(text)
    done = forget(store, written.id)
    assert done.is_clean
    assert traces(store.root, text) == []
    check(store)


def test_only_one_version_goes(store: Store) -> None:
    """A became B became A again: A is purged alone, B stays in the journal with its links."""
    first = store.remember(FRIDAYS)
    second = store.revise(first.id, TUESDAYS, evidence="they moved")
    store.revise(second.id, FRIDAYS, evidence="they moved back")
    done = forget(store, first.id, only_version=True)
    assert done.is_clean
    assert traces(store.root, FRIDAYS) == []
    assert store.list() == []
    records = store.journal()
    assert records[1].new_id == second.id == records[2].id
    assert records[1].id == records[2].new_id == records[0].id
    assert str(records[1].id).startswith(f"purged-{done.n}-")
    assert records[1].fields["after"] == TUESDAYS == records[2].fields["before"]
    check(store)


def test_live_version_stays_when_an_earlier_one_goes(store: Store) -> None:
    """The present text of a note survives the purge of what it read before, with author and date of its beginning."""
    first = store.remember(FRIDAYS, by="ana")
    second = store.revise(first.id, TUESDAYS, evidence="they moved")
    before = store.get(second.id)
    assert forget(store, first.id, only_version=True).is_clean
    after = store.get(second.id)
    assert (after.text, after.created, after.by) == (TUESDAYS, before.created, before.by)
    assert traces(store.root, FRIDAYS) == []
    check(store)


def test_same_sentence_in_two_scopes(store: Store, git_repo: object) -> None:
    """Of one sentence in two scopes one is purged: the other stays, in file and journal, and is told as a quotation."""
    assert callable(git_repo)
    both = Store(store.root, git_repo())
    here = both.remember(FRIDAYS, scope="global")
    there = both.remember(FRIDAYS, scope="workspace")
    done = forget(both, here.id)
    assert not done.is_clean
    assert [note.id for note in done.plan.quoting] == [there.id]
    assert [note.id for note in both.list()] == [there.id]
    assert [record.fields.get("after") for record in both.journal()][:2] == [None, FRIDAYS]
    check(both)
    with Store(store.root, both.cwd) as again:
        again.reindex()
        assert [note.id for note in again.list()] == [there.id]


def test_live_note_that_quotes_is_left_whole(store: Store) -> None:
    """A live note that only quotes the purged text is reported with its line and stays in file and journal."""
    written = store.remember(FRIDAYS)
    quoting = store.remember(f"Ana says: {FRIDAYS}, always")
    done = forget(store, written.id)
    assert [(note.id, note.line) for note in done.plan.quoting] == [(quoting.id, 1)]
    assert not done.is_clean
    assert {trace.kind for trace in done.proof.traces} <= {"notes", "journal"}
    assert [note.id for note in store.list()] == [quoting.id]
    assert store.journal()[1].fields["after"].startswith("Ana says")
    check(store)


def test_quoting_takes_it_too(store: Store) -> None:
    """With quoting the note that quotes goes as well, and nothing is left."""
    written = store.remember(FRIDAYS)
    store.remember(f"Ana says: {FRIDAYS}, always")
    assert forget(store, written.id, quoting=True).is_clean
    assert traces(store.root, FRIDAYS) == []
    assert store.list() == []
    check(store)


def test_dead_note_that_quotes_loses_its_text(store: Store) -> None:
    """What a retired note quoted is erased with its id, since nobody could see it as a quotation any more."""
    written = store.remember(FRIDAYS)
    quoting = store.remember(f"Ana says: {FRIDAYS}, always")
    store.retire(quoting.id, evidence="not needed")
    assert forget(store, written.id).is_clean
    assert traces(store.root, FRIDAYS, f"Ana says: {FRIDAYS}, always") == []
    check(store)


def test_short_text_is_no_part_of_other_words(store: Store) -> None:
    """Purging the note `tea` leaves the team and the steak alone."""
    tea = store.remember("tea")
    store.remember_many(["the team meets on Mondays", "steak is for Sundays", "tea for two"])
    done = forget(store, tea.id)
    assert done.is_clean
    assert {note.text for note in store.list()} == {"the team meets on Mondays", "steak is for Sundays", "tea for two"}
    check(store)


def test_short_text_by_word(store: Store) -> None:
    """A short text is refused unless asked for as such, and then counts as a whole word."""
    store.remember_many(["tea", "the team meets on Mondays", "steak is for Sundays", "tea for two"])
    with pytest.raises(UsageError, match="8 characters"):
        run.look(Access(store), Request(text="tea"))
    assert run.purge(Access(store), Request(text="tea", short=True)).is_clean
    assert {note.text for note in store.list()} == {"the team meets on Mondays", "steak is for Sundays"}
    check(store)


def test_by_text_every_whole_value_goes(store: Store) -> None:
    """By text whole notes go, in every scope, and values of the journal that hold it."""
    store.remember_many([f"Ana says: {FRIDAYS}, always", OTHER])
    moved = store.remember("Deploys are on hold")
    store.revise(moved.id, "Deploys are resumed", evidence=f"because {FRIDAYS}")
    assert run.purge(Access(store), Request(text="run on Fridays")).is_clean
    assert {note.text for note in store.list()} == {OTHER, "Deploys are resumed"}
    assert traces(store.root, "run on Fridays") == []
    with pytest.raises(PurgedTextError):
        store.remember(f"Ana says: {FRIDAYS}, always")
    check(store)


def test_forbidden_text_cannot_come_in_as_a_part(store: Store) -> None:
    """With forbid no new text may contain it, however it is wrapped."""
    store.remember(FRIDAYS)
    run.purge(Access(store), Request(text=FRIDAYS, forbid=True))
    with pytest.raises(PurgedTextError):
        store.remember(f"Remember this:\n{FRIDAYS.replace(' ', chr(10), 1)} or else")
    store.remember("Deploys run on Thursdays at noon")


def test_by_session(store: Store) -> None:
    """What entered by a session goes with its later versions; of a note from elsewhere only the session's version."""
    began = store.remember("The cluster is called Orion", by="codex session 0199-aa")
    later = store.revise(began.id, "The cluster is called Vega", evidence="renamed", by="ana")
    old = store.remember("Backups are weekly", by="ana")
    made = store.revise(old.id, "Backups are daily now", evidence="heard", by="codex session 0199-aa")
    now = store.revise(made.id, "Backups are hourly now", evidence="seen", by="ana")
    stage = store.root / "global" / "stage_one"
    stage.mkdir()
    (stage / "2026-01-01T00-00-00-0123abcd.md").write_text('---\nsession: "0199-aa"\n---\n\nbody\n')
    (stage / "2026-01-01T00-00-00-4567abcd.md").write_text('---\nsession: "0199-bb"\n---\n\nbody\n')
    done = run.purge(Access(store), Request(session="0199-aa"))
    assert done.is_clean
    assert later.id in {note.id for note in done.plan.live}
    assert [note.id for note in store.list()] == [now.id]
    assert [path.name for path in stage.iterdir()] == ["2026-01-01T00-00-00-4567abcd.md"]
    assert (
        traces(store.root, "The cluster is called Orion", "The cluster is called Vega", "Backups are daily now") == []
    )
    from memory_magic.store.purge import tombstones

    assert tombstones.load(store.root).forbids_session("0199-aa")
    assert not tombstones.load(store.root).forbids_session("0199-bb")
    check(store)


def test_by_scope(store: Store, git_repo: object) -> None:
    """A whole workspace goes, directory and name included; global stays."""
    assert callable(git_repo)
    both = Store(store.root, git_repo())
    kept = both.remember(OTHER, scope="global")
    both.remember(FRIDAYS, scope="workspace")
    workspace = both.workspace
    assert workspace is not None
    done = run.purge(Access(both), Request(scope=workspace.id))
    assert done.is_clean
    assert not workspace.path.exists()
    assert workspace.id.partition("/")[2] not in (store.root / "JOURNAL.md").read_text()
    assert [note.id for note in both.list()] == [kept.id]
    check(both)


def test_extracted_sessions_lose_the_lines(store: Store) -> None:
    """Lines of a stage-one file that hold the text become a marker; its name loses the text, it keeps its form."""
    written = store.remember(FRIDAYS)
    stage = store.root / "global" / "stage_one"
    stage.mkdir()
    path = stage / "2026-01-01T00-00-00-0123abcd-deploys-run-on-fridays-at-noon.md"
    path.write_text(
        f'---\ncwd: "{FRIDAYS}"\nslug: "deploys-run-on-fridays-at-noon"\n---\n\n# Raw memory\n\n'
        f"- Deploys run\n  on Fridays at noon\n- {OTHER}\n\n# Summary\n\n{FRIDAYS}\n"
    )
    done = forget(store, written.id)
    assert done.is_clean, done.proof
    (left,) = stage.iterdir()
    assert left.name == "2026-01-01T00-00-00-0123abcd.md"
    assert left.read_text() == (
        f'---\ncwd: "[purged]"\nslug: null\n---\n\n# Raw memory\n\n[purged]\n- {OTHER}\n\n# Summary\n\n[purged]\n'
    )


def test_ledger_and_blocks(store: Store) -> None:
    """An injected block moves to its new hash, and the ledger names that one."""
    from memory_magic.store import files

    written = store.remember(FRIDAYS)
    blocks = store.root / "ledger" / "blocks"
    blocks.mkdir(parents=True)
    block = f"# Memory\n- [{written.id[:10]} global] {FRIDAYS}\n- other\n".encode()
    old = files.sha256(block)
    (blocks / f"{old}.md").write_bytes(block)
    (blocks.parent / "2026-01.jsonl").write_text(f'{{"block":"{old}","at":1}}\n{{"prompt":"{FRIDAYS}"}}\n')
    assert forget(store, written.id).is_clean
    (left,) = blocks.iterdir()
    assert left.read_text() == "# Memory\n[purged]\n- other\n"
    assert left.stem == files.sha256(left.read_bytes())
    ledger = (blocks.parent / "2026-01.jsonl").read_text()
    assert old not in ledger
    assert left.stem in ledger
    assert traces(store.root, FRIDAYS) == []


def test_hand_written_files_are_listed_not_changed(store: Store) -> None:
    """memory.md, prompts and settings are never ours to change: they are named with their line."""
    written = store.remember(FRIDAYS)
    (store.root / "memory.md").write_text(f"# Me\n\n{FRIDAYS}\n")
    done = forget(store, written.id)
    assert [(Path(trace.path).name, trace.line) for trace in done.proof.traces] == [("memory.md", 3)]
    assert not done.is_clean
    assert FRIDAYS in (store.root / "memory.md").read_text()


def test_copies_are_listed_and_deleted_when_asked(store: Store) -> None:
    """A copy by an editor is searched and named; it goes only when a person says so."""
    written = store.remember(FRIDAYS)
    copy = store.root / "global" / "MEMORY.md~"
    copy.write_text(f"- {FRIDAYS}\n")
    swap = store.root / "global" / ".MEMORY.md.swp"
    swap.write_bytes(b"b0VIM\0" + FRIDAYS.encode("utf-16-le"))
    done = forget(store, written.id)
    assert {Path(trace.path).name for trace in done.proof.traces} == {copy.name, swap.name}
    assert {Path(path).name for path in done.proof.copies} == {copy.name, swap.name}
    again = run.purge(Access(store), Request(text=FRIDAYS, delete_copies=True))
    assert again.is_clean
    assert not copy.exists()
    assert not swap.exists()


def test_version_control_cannot_be_proven(store: Store) -> None:
    """A folder of version control in the root is named as what cannot be proven."""
    written = store.remember(FRIDAYS)
    (store.root / ".git").mkdir()
    assert [Path(path).name for path in forget(store, written.id).proof.cannot] == [".git"]


def test_linked_memory_file_is_searched_at_its_target(store: Store, tmp_path: Path) -> None:
    """A MEMORY.md that is a link is purged where it leads to, and stays a link."""
    written = store.remember(FRIDAYS)
    memory = store.root / "global" / "MEMORY.md"
    target = tmp_path / "dotfiles" / "memory.md"
    target.parent.mkdir()
    memory.rename(target)
    memory.symlink_to(target)
    assert forget(store, written.id).is_clean
    assert memory.is_symlink()
    assert FRIDAYS not in target.read_text()
    assert traces(target.parent, FRIDAYS) == []


def test_more_than_was_shown_is_refused(store: Store) -> None:
    """When more would go than the person saw, nothing goes."""
    store.remember(FRIDAYS)
    request = Request(text=FRIDAYS)
    shown = run.look(Access(store), request)
    store.remember(f"Ana says: {FRIDAYS}")
    with pytest.raises(ChangedMeanwhileError):
        run.purge(Access(store), request, shown=shown)
    assert len(store.list()) == 2
    check(store)


def test_second_purge_goes_on_where_the_first_ended(store: Store) -> None:
    """A record that lost one field may lose another later; the chain holds each time."""
    first = store.remember(FRIDAYS)
    second = store.revise(first.id, TUESDAYS, evidence="they moved to Tuesdays")
    forget(store, first.id, only_version=True)
    check(store)
    assert forget(store, second.id).is_clean
    assert traces(store.root, FRIDAYS, TUESDAYS) == []
    assert store.journal()[1].fields["evidence"] == "they moved to Tuesdays"
    check(store)


def test_no_tombstone_keeps_no_trace(store: Store) -> None:
    """Without a tombstone nothing can be guessed from the root, and the text may come back."""
    written = store.remember("door code 4821 is for the back door")
    forget(store, written.id, tombstone=False)
    assert not (store.root / "tombstones.md").exists()
    assert "tombstone" not in store.journal()[-1].fields
    assert store.remember("door code 4821 is for the back door").status == "saved"


def test_ids_leave_no_trace_in_any_form(store: Store) -> None:
    """No file under the root holds an id of the purged note, not even the ten characters that are shown."""
    written = store.remember(FRIDAYS)
    store.pin(written.id)
    store.unpin(written.id)
    other = store.remember(OTHER)
    store.revise(other.id, "The dog is called Rex", evidence=f"see {written.id[:10]}")
    assert forget(store, written.id).is_clean
    for path in store.root.rglob("*"):
        if path.is_file():
            assert re.search(written.id[:10].encode(), path.read_bytes()) is None, path
    check(store)


def test_secret_typed_by_hand(store: Store) -> None:
    """A note whose secret stands in the file only is purged there, by its id."""
    memory = store.root / "global" / "MEMORY.md"
    memory.parent.mkdir(parents=True)
    memory.write_text("- password=hunter2-hunter2-X9 for the lab\n- " + OTHER + "\n")
    (note,) = [note for note in store.list() if "lab" in note.text]
    assert forget(store, note.id).is_clean
    assert memory.read_text() == f"- {OTHER}\n"
    check(store)


def test_codewhale_records_go_whole(store: Store) -> None:
    """A record of CodeWhale has no chain: where it holds the text it goes whole."""
    store.root.mkdir(parents=True)
    journal = store.root / "JOURNAL.md"
    journal.write_text(f"- **retire** `1764500000` /x/global/MEMORY.md\n  - before: {FRIDAYS}\n  - evidence: old\n\n")
    store.remember(OTHER)
    assert run.purge(Access(store), Request(text=FRIDAYS)).is_clean
    assert FRIDAYS not in journal.read_text()
    check(store)
