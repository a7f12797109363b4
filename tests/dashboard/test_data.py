"""The one module that talks to the store gives rows of text and never writes."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from memory_dashboard.data import PAGE_ROWS, UNRECORDED, Source
from memory_dashboard.view import ALL_SCOPES
from memory_magic.store.records import JournalRecord
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORKSPACE_LABEL = "penguins"


@pytest.fixture
def source(filled: Any) -> Source:
    """Give a source on the filled store, looked at once."""
    made = Source(lambda: Store(filled.root, filled.cwd, read_only=True))
    made.refresh()
    return made


@pytest.fixture
def open_source(root: Path) -> Callable[[], Source]:
    """Give a maker of sources on the test's own store."""

    def make() -> Source:
        made = Source(lambda: Store(root, read_only=True))
        made.refresh()
        return made

    return make


def test_notes_come_in_pages_pinned_first(source: Source) -> None:
    """The first page begins with the pinned note, the last holds the rest, and a page behind it is the last."""
    first, last = source.notes(ALL_SCOPES, "", 1), source.notes(ALL_SCOPES, "", 99)
    assert first.rows[0].state == "◆ pinned"
    assert first.rows[0].note == "Answer in short paragraphs"
    assert (len(first.rows), first.total, last.page_no, last.pages) == (PAGE_ROWS, 40, 2, 2)
    assert len(last.rows) == 40 - PAGE_ROWS


def test_rows_are_clipped_text(source: Source) -> None:
    """A note of 10 kB takes no more of a row than any other."""
    rows = [row for number in (1, 2) for row in source.notes(ALL_SCOPES, "", number).rows]
    assert max(len(row.note) for row in rows) <= 260
    assert {row.scope for row in rows} == {"global", WORKSPACE_LABEL}


def test_a_scope_and_a_search_narrow_the_rows(source: Source) -> None:
    """The switch and the box do what they say, for every script."""
    workspace = source.facts().scopes[1][0]
    assert source.notes(workspace, "", 1).total == 8
    assert [row.note for row in source.notes(workspace, "深色", 1).rows] == ["图表默认使用深色主题，坐标轴标签用中文"]
    assert source.notes("global", "深色", 1).total == 0


def test_states_tell_revised_from_unrecorded(source: Source, filled: Any) -> None:
    """A revised note says so; a note that an editor wrote and no record names yet says that."""
    rows = {row.note: row for row in source.notes(ALL_SCOPES, "", 1).rows}
    assert rows["Deploys run on Tuesdays"].state == "⇄ revised"
    typed = source.notes(ALL_SCOPES, "typed by hand", 1).rows[0]
    assert (typed.state, typed.age, typed.by) == (UNRECORDED, "–", "–")


def test_a_detail_holds_place_record_and_the_whole_history(source: Source, filled: Any) -> None:
    """A revised note leads back to what it was before, with who changed it and why."""
    found = source.note(filled.revised)
    assert found is not None
    assert found.changed is not None
    assert found.changed.fields["evidence"] == "said in the stand-up"
    assert [record.action for record in found.history] == ["revise", "remember"]
    assert found.place.startswith("workspace/")
    assert found.place.endswith(f"…/MEMORY.md:{found.note.line}")


def test_an_unknown_note_has_no_detail(source: Source) -> None:
    """A stale link finds nothing rather than something else."""
    assert source.note("0" * 26) is None
    assert not source.is_live("0" * 26)


def test_records_come_newest_first_and_can_be_searched(source: Source) -> None:
    """The journal is read from its end; words are sought in every field."""
    rows = source.records(ALL_SCOPES, "", 1).rows
    assert rows[0].action == "↓ retire"
    assert rows[0].key == source.facts().records
    assert [row.action for row in source.records(ALL_SCOPES, "STAND-UP tuesdays", 1).rows] == ["⇄ revise"]
    assert source.records("global", "", 1).total < source.records(ALL_SCOPES, "", 1).total


def test_a_record_that_names_only_an_id_shows_its_text(open_source: Callable[[], Source], root: Path) -> None:
    """A pin says what was pinned."""
    with Store(root) as store:
        note = store.remember("Look here first")
        store.pin(note.id)
    rows = open_source().records(ALL_SCOPES, "", 1).rows
    assert [(row.action, row.what) for row in rows] == [("◆ pin", "Look here first"), ("+ remember", "Look here first")]


def test_records_of_other_programs_have_no_number(source: Source) -> None:
    """CodeWhale's records carry no number: they are shown, and never opened in place of another."""
    foreign = JournalRecord(0, "revise", "2026-01-01T00:00:00Z", {"scope": "global"}, None, "", "")
    source._journal = [foreign]
    assert source.records(ALL_SCOPES, "", 1).rows[0].n == "–"
    assert source.record(0) is None


def test_facts_count_all_scopes_and_files(source: Source) -> None:
    """The frame's numbers are those of the whole store."""
    facts = source.facts()
    assert (facts.notes, facts.verdict.ok, [label for _, label, _ in facts.scopes]) == (
        40,
        True,
        ["global", "penguins"],
    )
    assert facts.text_bytes > 10_000
    assert facts.index_bytes > 0


def test_a_workspace_without_a_label_is_called_by_the_start_of_its_name(
    open_source: Callable[[], Source], root: Path
) -> None:
    """A folder of 64 hex digits fits into a cell."""
    (root / "workspace" / ("3f9c" * 16)).mkdir(parents=True)
    (root / "workspace" / ("3f9c" * 16) / "MEMORY.md").write_text("- a\n", encoding="utf-8")
    assert open_source().notes(ALL_SCOPES, "", 1).rows[0].scope == "3f9c3f9c…"


def test_a_change_on_disk_is_seen_and_no_change_costs_nothing(open_source: Callable[[], Source], root: Path) -> None:
    """The signature moves with a write by anybody, and only then is anything read again."""
    source = open_source()
    assert source.facts().notes == 0
    before = source.generation
    source.refresh()
    assert source.generation == before
    with Store(root) as store:
        store.remember("new")
    source.refresh()
    assert (source.generation, source.facts().notes) == (before + 1, 1)
    stale = (root / "global" / "MEMORY.md").stat()
    (root / "global" / "MEMORY.md").write_text("- old\n", encoding="utf-8")
    os.utime(root / "global" / "MEMORY.md", ns=(stale.st_atime_ns, stale.st_mtime_ns))
    source.refresh()
    assert source.notes(ALL_SCOPES, "", 1).rows[0].note == "old"


def test_a_missing_root_is_an_empty_store(open_source: Callable[[], Source], root: Path) -> None:
    """Looking makes nothing."""
    assert open_source().facts().notes == 0
    assert not root.exists()


def test_reading_everything_leaves_every_byte_and_time(source: Source, filled: Any) -> None:
    """The source changes neither content nor times of any file under the root."""
    root: Path = filled.root

    def state() -> dict[str, tuple[int, bytes]]:
        files = [path for path in sorted(root.rglob("*")) if path.is_file()]
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    before = state()
    source.facts()
    source.notes(ALL_SCOPES, "thing", 1)
    source.records(ALL_SCOPES, "", 1)
    source.refresh()
    source.close()
    assert state() == before


def test_ages_follow_the_clock_that_was_passed_in(root: Path) -> None:
    """Ages are measured at the moment of the look."""
    with Store(root) as store:
        store.remember("x")
    later = Source(lambda: Store(root, read_only=True), lambda: datetime.now(tz=UTC) + timedelta(hours=5, minutes=1))
    assert later.notes(ALL_SCOPES, "", 1).rows[0].age == "5 h"
