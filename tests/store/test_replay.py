"""Replay: what the journal says is what the files say, after whatever sequence of changes, edits and crashes."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from memory_magic.store import door, files
from memory_magic.store.ids import normalise
from memory_magic.store.records import JournalRecord
from memory_magic.store.replay import Known, apply, replay
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS = (
    *(
        "alpha",
        "beta two",
        "gamma  wide",
        "深色模式",
        "cafe\u0301",
        "multi\nline",
        "- nested\n  - deep",
        "---",
        "# hash",
    ),
    *("> quoted", "1. one", "if x:\n\n    indented", "```\nif a:\n    b()\n```", "a\u2028b", "## Pinned", "* star"),
)
PLAIN = ("by hand", "another hand", "third hand", "alpha", "beta two", "ünïcode")
POINTS = (
    *("door.os.rename", "bench.Bench.write", "door.swap", "door.keep_old", "files.sync_directory", "bench.Bench.tell"),
    *("writing.rows_of", "index.Index.put_source"),
)


class CrashError(BaseException):
    """Stands for a process that ends at this very point."""


def notes_in(data: bytes) -> dict[str, bool]:
    """Read normalised texts and whether each is pinned, by a second, much simpler reader of the files made here."""
    found: dict[str, bool] = {}
    item: list[str] = []
    pinned = False

    def close() -> None:
        if item:
            found.setdefault(normalise("\n".join(item)), pinned)
            item.clear()

    for line in data.decode().replace("\r\n", "\n").split("\n"):
        if line.startswith("## "):
            close()
            pinned = line == "## Pinned"
        elif line.startswith(("- ", "* ")):
            close()
            item.append(line[2:])
        elif item:
            item.append(line[2:])
    close()
    return found


class Life(RuleBasedStateMachine):
    """A store in the hands of people, editors and crashes, beside a model of what it should hold."""

    base: ClassVar[Path]
    patch: ClassVar[pytest.MonkeyPatch]

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp(dir=self.base))
        self.late = 0
        (self.place / "project").mkdir()
        self.store = self.opened()
        self.store.init("project")
        self.store.close()
        self.store = self.opened()
        self.model: dict[str, dict[str, bool]] = {scope.id: {} for scope in self.store.scopes}
        self.names = dict(zip(("global", "workspace"), self.model, strict=True))

    def opened(self) -> Store:
        """Open the store anew."""
        return Store(self.place / "root", self.place / "project")

    def teardown(self) -> None:
        """Close the store."""
        self.store.close()
        shutil.rmtree(self.place)

    def file(self, scope: str) -> Path:
        """Return a scope's memory file."""
        return self.place / "root" / self.names[scope] / "MEMORY.md"

    def of(self, scope: str) -> dict[str, bool]:
        """Return the model of a scope."""
        return self.model[self.names[scope]]

    # -- changes -----------------------------------------------------------------------------------------------

    def learn(self, scope: str, text: str, *, pin: bool = False) -> None:
        """Let the model remember."""
        one = normalise(text)
        self.of(scope)[one] = self.of(scope).get(one, False) or pin

    @initialize(texts=st.lists(st.sampled_from(TEXTS), min_size=4, max_size=8, unique=True))
    def begin(self, texts: list[str]) -> None:
        """Start with some notes in both scopes."""
        for scope in self.names:
            self.store.remember_many(texts, scope=scope)
            for text in texts:
                self.learn(scope, text)

    @rule(scope=st.sampled_from(["global", "workspace"]), text=st.sampled_from(TEXTS), pin=st.booleans())
    def remember(self, scope: str, text: str, pin: bool) -> None:  # noqa: FBT001  (Hypothesis passes by name)
        """Remember one text, or be told that it is there."""
        before = self.of(scope).get(normalise(text))
        written = self.store.remember(text, scope=scope, pin=pin)
        expected = "saved" if before is None else ("pinned" if pin and not before else "duplicate")
        assert written.status == expected
        self.learn(scope, text, pin=pin)
        newest = next(note for note in self.store.list(scope) if note.pinned == self.of(scope)[normalise(text)])
        assert expected != "saved" or newest.id == written.id
        found = self.store.get(written.id)
        assert (found.line, found.scope) == (written.line, written.scope)

    @rule(
        scope=st.sampled_from(["global", "workspace"]),
        texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4, unique=True),
    )
    def remember_many(self, scope: str, texts: list[str]) -> None:
        """Remember a batch."""
        fresh = [text for text in texts if normalise(text) not in self.of(scope)]
        written = self.store.remember_many(texts, scope=scope)
        assert [one.status for one in written] == ["saved" if text in fresh else "duplicate" for text in texts]
        for text in texts:
            self.learn(scope, text)

    @rule(scope=st.sampled_from(["global", "workspace"]), data=st.data())
    def pin_or_unpin(self, scope: str, data: st.DataObject) -> None:
        """Pin a note, or unpin it; twice is a stated no-op."""
        if not (texts := list(self.of(scope))):
            return
        text = data.draw(st.sampled_from(texts))
        pinned = data.draw(st.booleans())
        written = (self.store.pin if pinned else self.store.unpin)(text, scope=scope)
        assert written.status == ("duplicate" if self.of(scope)[text] == pinned else "saved")
        self.of(scope)[text] = pinned

    @rule(scope=st.sampled_from(["global", "workspace"]), new=st.sampled_from(TEXTS), data=st.data())
    def revise(self, scope: str, new: str, data: st.DataObject) -> None:
        """Revise a note, perhaps into one that stands already."""
        if not (texts := list(self.of(scope))):
            return
        old = data.draw(st.sampled_from(texts))
        self.store.revise(old, new, evidence="x", scope=scope)
        self.revised(scope, old, new)

    def revised(self, scope: str, old: str, new: str) -> None:
        """Let the model revise."""
        pinned = self.of(scope).pop(old)
        self.learn(scope, new, pin=pinned)

    @rule(scope=st.sampled_from(["global", "workspace"]), data=st.data())
    def retire(self, scope: str, data: st.DataObject) -> None:
        """Take a note out."""
        if not (texts := list(self.of(scope))):
            return
        text = data.draw(st.sampled_from(texts))
        self.store.retire(text, evidence="x", scope=scope)
        del self.of(scope)[text]

    # -- editors -----------------------------------------------------------------------------------------------

    def save(self, scope: str, text: str, *, by_rename: bool = False) -> None:
        """Save a memory file as an editor does, and let the model read it."""
        path = self.file(scope)
        if by_rename:
            other = path.with_name("editor.tmp")
            other.write_bytes(text.encode())
            other.replace(path)
        else:
            path.write_bytes(text.encode())
        self.model[self.names[scope]] = notes_in(text.encode())

    def edited(self, scope: str, draw: Callable[[Any], Any]) -> str:
        """Return a file's text after one edit by hand."""
        text = self.file(scope).read_bytes().decode() if self.file(scope).exists() else ""
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = text.split(newline)
        starts = [at for at, line in enumerate(lines) if line.startswith(("- ", "* "))]
        kind = draw(st.sampled_from(["append", "delete", "change", "move", "newlines", "heading"]))
        if kind == "newlines":
            return text.replace("\r\n", "\n") if newline == "\r\n" else text.replace("\n", "\r\n")
        if kind == "append" or not starts:
            lead = "" if not text or text.endswith(newline) else newline
            return f"{text}{lead}- {draw(st.sampled_from(PLAIN))}{newline}"
        at = draw(st.sampled_from(starts))
        end = next((i for i in range(at + 1, len(lines)) if lines[i][:2] != "  " and lines[i]), len(lines) - 1)
        taken, rest = lines[at:end], lines[:at] + lines[end:]
        if kind == "change":
            rest[at:at] = [f"- {draw(st.sampled_from(PLAIN))}"]
        elif kind == "move":
            places = [0, *(i for i, line in enumerate(rest) if line.startswith(("- ", "* ", "## ")))]
            spot = draw(st.sampled_from(places))
            rest[spot:spot] = taken
        elif kind == "heading":
            rest[at:at] = [*taken, "", "## Tools", ""]
        return newline.join(rest)

    @rule(scope=st.sampled_from(["global", "workspace"]), by_rename=st.booleans(), data=st.data())
    def edit_by_hand(self, scope: str, by_rename: bool, data: st.DataObject) -> None:  # noqa: FBT001
        """Change the file in an editor."""
        self.save(scope, self.edited(scope, data.draw), by_rename=by_rename)

    @rule(scope=st.sampled_from(["global", "workspace"]), by_rename=st.booleans(), data=st.data())
    def write_while_an_editor_saves(self, scope: str, by_rename: bool, data: st.DataObject) -> None:  # noqa: FBT001
        """Remember while an editor saves between our reading and our exchange."""
        self.store.observe()
        if not self.file(scope).exists():
            return
        edited, real = self.edited(scope, data.draw), door.swap

        def swap(temporary: str, target: str, *, expect_absent: bool) -> bool:
            self.patch.setattr(door, "swap", real)
            self.save(scope, edited, by_rename=by_rename)
            return real(temporary, target, expect_absent=expect_absent)

        text = data.draw(st.sampled_from(TEXTS))
        self.patch.setattr(door, "swap", swap)
        self.store.remember(text, scope=scope)
        self.patch.setattr(door, "swap", real)
        self.learn(scope, text)

    @rule(scope=st.sampled_from(["global", "workspace"]), text=st.sampled_from(TEXTS))
    def save_late(self, scope: str, text: str) -> None:
        """Write into the file that an editor had open while we put a new one in its place."""
        if not self.file(scope).exists():
            return
        self.late += 1
        with self.file(scope).open("ab") as editor:
            saved = self.store.remember(text, scope=scope).status == "saved"
            self.learn(scope, text)
            editor.write(f"\n- typed late {self.late}\n".encode())
        if not saved:  # then it was no predecessor but the file itself
            self.model[self.names[scope]] = notes_in(self.file(scope).read_bytes())
            return
        self.store.observe()
        self.learn(scope, f"typed late {self.late}")

    # -- accidents ---------------------------------------------------------------------------------------------

    @rule(delete_index=st.booleans())
    def open_again(self, delete_index: bool) -> None:  # noqa: FBT001
        """Close and open the store, perhaps without its index."""
        self.store.close()
        if delete_index:
            for end in ("", "-wal", "-shm"):
                (self.place / "root" / f"index.sqlite3{end}").unlink(missing_ok=True)
        self.store = self.opened()

    @rule(scope=st.sampled_from(["global", "workspace"]), point=st.sampled_from(POINTS), data=st.data())
    def crash(self, scope: str, point: str, data: st.DataObject) -> None:
        """Let the process end in the middle of a change; perhaps the next one, which recovers, as well."""
        self.store.observe()
        before = self.store.status().journal_records
        change, learn = self.some_change(scope, data.draw)
        self.crashed(point, change)
        again = data.draw(st.none() | st.sampled_from(POINTS))
        self.store.close()
        self.store = self.opened()
        if again:
            self.crashed(again, self.store.observe)
            self.store.close()
            self.store = self.opened()
        if self.store.status().journal_records > before:
            learn()
        self.store.observe()

    def some_change(self, scope: str, draw: Callable[[Any], Any]) -> tuple[Callable[[], object], Callable[[], object]]:
        """Return a change of the store and the same for the model."""
        new, texts = draw(st.sampled_from(TEXTS)), list(self.of(scope))
        kind = draw(st.sampled_from(["remember", "revise", "retire", "pin"])) if texts else "remember"
        if kind == "remember":
            return lambda: self.store.remember(new, scope=scope), lambda: self.learn(scope, new)
        old = draw(st.sampled_from(texts))
        if kind == "revise":
            return (
                lambda: self.store.revise(old, new, evidence="x", scope=scope),
                lambda: self.revised(scope, old, new),
            )
        if kind == "retire":
            return lambda: self.store.retire(old, evidence="x", scope=scope), lambda: self.of(scope).pop(old)
        return lambda: self.store.pin(old, scope=scope), lambda: self.of(scope).update({old: True})

    def crashed(self, point: str, work: Callable[[], object]) -> None:
        """Do *work* until it passes *point*."""

        def crash(*_: object, **__: object) -> None:
            raise CrashError

        with self.patch.context() as patch:
            patch.setattr(f"memory_magic.store.{point}", crash)
            with contextlib.suppress(CrashError):
                work()

    # -- what always holds -------------------------------------------------------------------------------------

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        """Check that notes, files, journal and chain agree with the model."""
        for scope, notes in self.model.items():
            listed = self.store.list(scope)
            assert {normalise(note.text): note.pinned for note in listed} == notes
            assert listed == sorted(listed, key=lambda note: (not note.pinned, -note.n, -note.line))
            path = self.place / "root" / scope / "MEMORY.md"
            data = path.read_bytes() if path.exists() else b""
            assert notes_in(data) == notes
            lines = data.decode().replace("\r\n", "\n").split("\n")
            for note in listed:
                assert normalise(lines[note.line - 1][2:]) == normalise(note.text.split("\n")[0])
        verdict = self.store.verify()
        assert verdict.ok, verdict.faults
        state = replay(self.store.journal())
        told = {
            scope: {normalise(one.text): one.pinned for one in state.get(scope, {}).values()} for scope in self.model
        }
        assert told == self.model


def test_any_sequence_keeps_journal_files_and_answers_in_agreement(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever people, editors and crashes do in whatever order, the answers, the files and the replay are one."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(door, "OLD_SECONDS", 0.0)
    monkeypatch.setattr(files, "time", SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: None))
    monkeypatch.setattr(Life, "base", root.parent, raising=False)
    monkeypatch.setattr(Life, "patch", monkeypatch, raising=False)
    steps = settings(max_examples=25, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Life, settings=steps)


# -- single records --------------------------------------------------------------------------------------------


def record(n: int, action: str, **fields: str) -> JournalRecord:
    """Return a record of the global scope."""
    return JournalRecord(n, action, f"2026-11-30T18:35:{n:02}.000000Z", {"scope": "global", **fields}, None, "", "")


def state_of(*records: JournalRecord) -> list[tuple[str, str, bool, int]]:
    """Return id, text, pin and number of each global note."""
    notes = replay(records).get("global", {})
    return [(one.id, one.text, one.pinned, one.n) for one in notes.values()]


def test_a_note_keeps_author_and_date_of_its_beginning() -> None:
    """Revised, and remembered again, a note is newer; who brought it and when stays."""
    first = record(1, "remember", id="a", after="A", by="ana")
    second = record(2, "revise", id="a", new_id="b", before="A", after="B", by="bob")
    third = record(3, "remember", id="b", after="B", by="eve")
    assert replay([first, second, third])["global"] == {
        "b": Known("b", "B", pinned=False, n=3, created=first.time, by="ana")
    }


def test_a_retired_note_that_comes_back_begins_anew() -> None:
    """Date and author are then those of its second life."""
    records = [record(1, "remember", id="a", after="A", by="ana"), record(2, "retire", id="a", before="A")]
    again = record(3, "remember", id="a", after="A", by="bob")
    assert replay(records).get("global") == {}
    assert replay([*records, again])["global"]["a"] == Known("a", "A", False, 3, again.time, "bob")  # noqa: FBT003


def test_cancelled_records_are_skipped_wherever_the_cancellation_stands() -> None:
    """A change that was taken back leaves no trace in the state."""
    assert state_of(
        record(1, "remember", id="a", after="A"),
        record(2, "retire", id="a", before="A"),
        record(3, "remember", id="b", after="B"),
        record(4, "cancel", cancels="2"),
    ) == [("a", "A", False, 1), ("b", "B", False, 3)]


def test_foreign_records_take_no_part() -> None:
    """What another program wrote has no number and changes nothing: the files are looked at instead."""
    assert state_of(record(0, "retire", id="a"), record(1, "remember", id="a", after="A")) == [("a", "A", False, 1)]


def test_pins_change_neither_age_nor_text() -> None:
    """Pin and unpin, by command or by hand, only move; the section to go back to is remembered."""
    begin = record(1, "remember", id="a", after="A")
    pin = record(2, "pin", id="a", section="Tools")
    assert state_of(begin, pin) == [("a", "A", True, 1)]
    assert replay([begin, pin])["global"]["a"].section == "Tools"
    assert state_of(begin, pin, record(3, "unpin", id="a")) == [("a", "A", False, 1)]
    assert state_of(begin, record(2, "observe", id="a", pinned="yes")) == [("a", "A", True, 1)]
    assert state_of(begin, record(2, "pin", id="unknown")) == [("a", "A", False, 1)]


def test_a_merge_is_pinned_if_either_was() -> None:
    """The old note goes, the one that stands is newer and keeps its pin."""
    notes = [record(1, "remember", id="a", after="A"), record(2, "remember", id="b", after="B", pinned="yes")]
    assert state_of(*notes, record(3, "revise", id="a", new_id="b", after="B")) == [("b", "B", True, 3)]
    assert state_of(*notes, record(3, "revise", id="b", new_id="a", after="A")) == [("a", "A", True, 3)]


def test_observed_changes_follow_the_file() -> None:
    """Added, taken out, and linked; a link takes its pin from the file, not from the old note."""
    added = record(1, "observe", id="a", after="A", pinned="yes", section="Pinned")
    assert state_of(added) == [("a", "A", True, 1)]
    linked = record(2, "observe", id="a", new_id="b", before="A", after="B")
    assert state_of(added, linked) == [("b", "B", False, 2)]
    assert state_of(added, linked, record(3, "observe", id="b", before="B")) == []
    assert state_of(record(1, "observe", id="x", new_id="b", before="X", after="B")) == [("b", "B", False, 1)]
    assert state_of(record(1, "observe", id="x", before="X")) == []


def test_a_promoted_note_moves_to_the_other_scope() -> None:
    """It leaves the one and stands in the other with its own date."""
    other = f"workspace/{'0' * 64}"
    begin = record(1, "remember", id="a", after="A", by="ana")
    begin.fields["scope"] = other
    moved = record(2, "promote", id="a", new_id="b", after="A", to="global", created=begin.time, author="ana")
    moved.fields["scope"] = other
    state = replay([begin, moved])
    assert state[other] == {}
    assert state["global"]["b"] == Known("b", "A", pinned=False, n=2, created=begin.time, by="ana")


@pytest.mark.parametrize("action", ["init", "consolidate", "approve", "purge", "clear"])
def test_other_records_change_no_note(action: str) -> None:
    """What is about something else than notes leaves the state alone."""
    begin = record(1, "remember", id="a", after="A")
    assert state_of(begin, record(2, action, id="a", after="X")) == state_of(begin)


def test_a_state_can_be_carried_on() -> None:
    """Replaying in two parts gives what one pass gives."""
    records = [
        record(1, "remember", id="a", after="A"),
        record(2, "remember", id="b", after="B"),
        record(3, "revise", id="a", new_id="c", after="C"),
        record(4, "pin", id="b"),
    ]
    whole = replay(records)
    assert replay(records[2:], replay(records[:2])) == whole
    step: dict[str, dict[str, Known]] = {}
    for one in records:
        apply(step, one)
    assert step == whole
