"""The journal: its format, its chain, its end, and what damage does to it."""

from __future__ import annotations

import datetime as dt
import os
import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.store import journal_format as form
from memory_magic.store.journal import TAIL_BYTES, Journal
from memory_magic.store.journal_format import Draft
from memory_magic.store.records import JournalRecord

if TYPE_CHECKING:
    from pathlib import Path

MOMENT = dt.datetime(2026, 11, 30, 18, 35, 0, 123456, tzinfo=dt.UTC)
_VALUES = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def journal(tmp_path: Path, moment: dt.datetime = MOMENT) -> Journal:
    """Return an empty journal under a clock that stands still."""
    return Journal(tmp_path / "JOURNAL.md", lambda: moment)


def three(one: Journal) -> list[JournalRecord]:
    """Append three records of different kinds."""
    drafts = [
        Draft("remember", {"scope": "global", "id": "a" * 26, "after": "one", "by": "ana"}),
        Draft(
            "revise", {"scope": "global", "id": "a" * 26, "new_id": "b" * 26, "before": "one", "after": "two\n\nlines"}
        ),
        Draft("retire", {"scope": "global", "id": "b" * 26, "before": "two\n\nlines", "evidence": "x"}),
    ]
    return one.append(drafts)


def test_a_record_is_markdown_that_a_person_can_read(tmp_path: Path) -> None:
    """Fields come in a fixed order, values of several lines as code, machine fields last."""
    one = journal(tmp_path)
    three(one)
    lines = one.path.read_text(encoding="utf-8").split("\n")
    assert lines[2:6] == [
        "- **remember** `2026-11-30T18:35:00.123456Z` global",
        f"  - id: {'a' * 26}",
        "  - after: one",
        "  - by: ana",
    ]
    assert f"  - id: {'a' * 26} -> {'b' * 26}" in lines
    assert "        two" in lines
    assert stat.S_IMODE(one.path.stat().st_mode) == 0o600


@given(st.dictionaries(st.sampled_from([*form.FIELDS[3:], "zzz"]), _VALUES, max_size=6))
def test_any_value_reads_back_and_forges_nothing(values: dict[str, str]) -> None:
    """Whatever stands in a field, the record parses to the same fields and the same chain."""
    record = form.finish(
        Draft("observe", {"scope": "global", "id": "a" * 26, **values}), 7, "2026-11-30T18:35:00.123456Z", form.GENESIS
    )
    text = form.render(record)
    read = form.parse(text)
    assert read is not None
    assert read.fields == record.fields
    assert form.chain_value(form.GENESIS, read) == record.chain
    trimmed = "\r\n".join(line.rstrip() for line in text.split("\n"))
    again = form.parse(trimmed)
    assert again is not None
    assert again.fields == record.fields


def test_a_value_cannot_forge_a_record(tmp_path: Path) -> None:
    """A whole record inside a value stays a value."""
    one = journal(tmp_path)
    three(one)
    forged = one.path.read_text(encoding="utf-8")
    one.append([Draft("remember", {"scope": "global", "id": "c" * 26, "after": forged, "by": "x\n- **purge** `now`"})])
    assert [record.n for record in one.records()] == [1, 2, 3, 4]
    assert one.verify().ok


def test_the_tail_is_read_from_the_last_64_kilobytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a long journal reads its end only, unless one record is longer than that."""
    one = journal(tmp_path)
    one.append([Draft("remember", {"scope": "global", "id": "a" * 26, "after": "x" * 200}) for _ in range(1000)])
    sizes: list[int] = []
    real = os.pread

    def pread(descriptor: int, size: int, at: int) -> bytes:
        sizes.append(size)
        return real(descriptor, size, at)

    monkeypatch.setattr(os, "pread", pread)
    assert journal(tmp_path).tail().n == 1000
    assert sizes == [TAIL_BYTES]
    one.append([Draft("remember", {"scope": "global", "id": "b" * 26, "after": "y" * 200_000})])
    assert journal(tmp_path).tail().n == 1001


def test_the_record_that_we_wrote_last_is_not_parsed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the journal still ends in our own record the tail is what a fresh look finds, and no more is read."""
    one = journal(tmp_path)
    (first,) = one.append([Draft("remember", {"scope": "global", "id": "a" * 26, "after": "x\n\n- **y**\n"})])
    assert one.tail() == journal(tmp_path).tail()
    (*_, last) = one.append([Draft("remember", {"scope": "global", "after": "x" * at}) for at in (900, 5_000)])
    assert one.tail() == journal(tmp_path).tail()
    assert (first.n, last.n) == (1, 3)
    with monkeypatch.context() as patch:
        patch.setattr(form, "parse", None)
        assert one.tail().n == 3


@pytest.mark.parametrize("what", ["another", "longer", "shorter", "other bytes", "torn", "gone", "same size"])
def test_a_journal_that_others_changed_is_read_again(tmp_path: Path, what: str) -> None:
    """What another process or a person did to the end of the journal is seen, be it of the same size."""
    one = journal(tmp_path)
    three(one)
    data = one.path.read_bytes()
    last = data.rindex(b"- **")
    changed = {
        "longer": data + b"a remark\n",
        "shorter": data[:last],
        "other bytes": data[:last] + b"\xff" * (len(data) - last),
        "torn": data[:-9],
        "same size": data[:last] + data[last:].replace(b", chain: ", b", chain= "),
    }
    if what == "another":
        journal(tmp_path).append([Draft("pin", {"scope": "global"})])
    elif what == "gone":
        one.path.unlink()
    else:
        one.path.write_bytes(changed[what])
    assert one.tail() == journal(tmp_path).tail()
    (record,) = one.append([Draft("pin", {"scope": "global"})])
    assert record.n == {"another": 5, "longer": 4, "gone": 1}.get(what, 3)


@pytest.mark.parametrize("cut", range(1, 420, 9))
def test_a_torn_record_is_cut_by_the_next_writer(tmp_path: Path, cut: int) -> None:
    """Whatever part of the last record was written, writing goes on after the last whole one and the chain is whole."""
    one = journal(tmp_path)
    three(one)
    data = one.path.read_bytes()
    one.path.write_bytes(data[:-cut])
    (record,) = one.append([Draft("pin", {"scope": "global", "id": "c" * 26})])
    assert record.n == one.tail().n
    assert one.verify().ok


def test_lines_that_are_not_ours_stay_and_are_reported(tmp_path: Path) -> None:
    """A person's line, binary junk or conflict markers are left where they are; verify names the lines."""
    one = journal(tmp_path)
    three(one)
    with one.path.open("ab") as file:
        file.write(b"my own remark\n<<<<<<< HEAD\n\xff\xfe\x00junk\n")
    (record,) = one.append([Draft("pin", {"scope": "global"})])
    assert record.n == 4
    assert b"my own remark" in one.path.read_bytes()
    verdict = one.verify()
    assert not verdict.ok
    assert verdict.n == 4
    assert all("line " in fault for fault in verdict.faults)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("after: one", "after: won", "record 1: was changed"),
        ("by: ana", "by: bob", "record 1: was changed"),
        ("**retire**", "**revise**", "record 3: was changed"),
        ("evidence: x", "evidence: y", "record 3: was changed"),
        ("n: 2,", "n: 5,", "record 5: was changed"),
    ],
)
def test_a_changed_value_is_found(tmp_path: Path, old: str, new: str, fault: str) -> None:
    """Changing any field, number or action of a record breaks its chain value."""
    one = journal(tmp_path)
    three(one)
    text = one.path.read_text(encoding="utf-8")
    one.path.write_text(text.replace(old, new, 1), encoding="utf-8")
    faults = one.verify().faults
    assert any(sentence.startswith(fault) for sentence in faults)


def test_blanks_and_line_ends_are_no_change(tmp_path: Path) -> None:
    """An editor that trims blanks and writes CRLF leaves the chain whole."""
    one = journal(tmp_path)
    three(one)
    lines = one.path.read_text(encoding="utf-8").split("\n")
    one.path.write_bytes("\r\n".join(line.rstrip() for line in lines).encode())
    assert one.verify().ok
    assert one.append([Draft("pin", {"scope": "global"})])[0].n == 4
    assert one.verify().ok


def test_a_missing_end_is_found_by_an_anchor_only(tmp_path: Path) -> None:
    """Half a journal verifies; known from elsewhere to have been longer, it does not."""
    one = journal(tmp_path)
    records = three(one)
    data = one.path.read_bytes()
    one.path.write_bytes(data[: records[2].offset])
    assert one.verify().ok
    verdict = one.verify((3, records[2].chain))
    assert verdict.faults == ("the journal ends before record 3, known from the index: its end is missing",)
    one.path.unlink()
    assert not one.verify((3, records[2].chain)).ok


def test_a_fork_is_told_from_tampering(tmp_path: Path) -> None:
    """Two sides merged by version control are called a fork; a record whose predecessor is gone is not."""
    one = journal(tmp_path)
    records = three(one)
    data = one.path.read_bytes()
    other = Journal(tmp_path / "other.md", lambda: MOMENT)
    other.path.write_bytes(data[: records[1].offset])
    other.append([Draft("pin", {"scope": "global"})])
    one.path.write_bytes(data + other.path.read_bytes()[records[1].offset :])
    assert one.verify().faults == (
        "record 2: forks from an earlier record (two machines, or a merge by version control)",
    )
    one.path.write_bytes(data[: records[1].offset] + data[records[2].offset :])
    assert one.verify().faults[0] == "record 3: the record before it is missing or was changed"


def test_an_erased_field_needs_a_later_purge_that_lists_it(tmp_path: Path) -> None:
    """A value may go and leave its commitment, and verify demands the purge record that says so."""
    one = journal(tmp_path)
    first = one.append([Draft("remember", {"scope": "global", "id": "a" * 26, "after": "pin 4821"})])[0]
    assert first.salt is not None
    kept = {name: value for name, value in first.fields.items() if name == "scope"}
    gone = {name: form.commitment(form.field_salt(first.salt, name), first.fields[name]) for name in ("id", "after")}
    bare = JournalRecord(
        1,
        "remember",
        first.time,
        kept,
        None,
        first.prev,
        first.chain,
        {"scope": form.field_salt(first.salt, "scope")},
        gone,
    )
    one.path.write_text(form.HEADING + form.render(bare), encoding="utf-8")
    assert one.verify().faults == (
        "record 1: its id was erased, and no later purge says so",
        "record 1: its after was erased, and no later purge says so",
    )
    one.append([Draft("purge", {"erases": "1:id,after"})])
    assert one.verify().ok


@pytest.mark.parametrize(
    ("hours", "time", "notice"),
    [
        (-0.5, "2026-11-30T18:35:00.123456Z", ""),
        (-3, "2026-11-30T15:35:00.123456Z", "went back 3 h"),
        (1, "2026-11-30T19:35:00.123456Z", ""),
    ],
)
def test_a_clock_that_goes_back_is_smoothed_or_told(tmp_path: Path, hours: float, time: str, notice: str) -> None:
    """Under an hour the time stands still; a larger step is written as it is, with a notice."""
    three(journal(tmp_path))
    (record,) = journal(tmp_path, MOMENT + dt.timedelta(hours=hours)).append([Draft("pin", {"scope": "global"})])
    assert (record.time, record.fields.get("clock", "")) == (time, notice)


def test_codewhales_records_are_read_as_foreign_ones(tmp_path: Path) -> None:
    """Records with epoch seconds and a path are shown, take no part in the chain, and are never cut."""
    one = journal(tmp_path)
    header = "- **revise** `1796064039` /home/a/.codewhale/memory/global/MEMORY.md"
    foreign = f"\n{header}\n  - before: a\n  - after: b\n  - evidence: c\n"
    one.path.write_text(foreign, encoding="utf-8")
    three(one)
    records = list(one.records())
    assert [record.n for record in records] == [0, 1, 2, 3]
    assert (records[0].time, records[0].scope, records[0].fields["after"]) == (
        "2026-11-30T18:40:39.000000Z",
        "global",
        "b",
    )
    assert one.path.read_text(encoding="utf-8").startswith(foreign)
    assert one.verify().ok
