"""Commands on the past: JSON that programs rely on, text for people, wrong use."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_magic import commands
from memory_magic.commands_base import Context, HelpAsked, Outcome
from memory_magic.commands_history_print import PRINTERS
from memory_magic.commands_history_rows import ROWS
from memory_magic.commands_print import PRINTERS as PLAIN
from memory_magic.errors import MemoryMagicError, NoSuchNoteError, UsageError
from memory_magic.store.store import Store
from memory_magic.store.undoing import UndoError

GitRepo = Callable[..., Path]
Run = Callable[..., Outcome]
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
COMMANDS = {row.name: row for row in ROWS}


def text_of(outcome: Outcome, width: int | None = None) -> str:
    """Return what a person reads."""
    return (PLAIN | PRINTERS)[outcome.kind](outcome, width, "memory-magic").rstrip("\n")


@pytest.fixture
def run(root: Path) -> Run:
    """Run a command on the past as the command line would, without printing; JSON is tried on every outcome."""

    def runner(name: str, *words: str, **options: Any) -> Outcome:
        context = Context(**options)
        try:
            outcome = commands.run_words(COMMANDS[name], words, context)[0]
        finally:
            context.close()
        json.dumps(outcome.data)
        assert "\x1b" not in text_of(outcome, 100)
        return outcome

    return runner


@pytest.fixture
def store(root: Path) -> Store:
    """Give a store with a past: `one` became `uno`, `two` was retired."""
    made = Store(root, by="ana")
    made.remember_many(["one", "two"])
    made.revise("one", "uno", evidence="said in the stand-up")
    made.retire("two", evidence="done", by="bo")
    return made


def test_every_row_has_help_and_a_printer_for_its_outcome() -> None:
    """The rows are those of the issue; help names every option."""
    names = "list history undo restore promote approve reject journal verify export import"
    assert [row.name for row in ROWS] == names.split()
    for row in ROWS:
        with pytest.raises(HelpAsked) as asked:
            row.parser(f"memory-magic {row.name}").parse_args(["--help"])
        assert row.summary in str(asked.value)
    assert not set(PRINTERS) & set(PLAIN)


def test_history_shows_versions_with_reasons(run: Run, store: Store) -> None:
    """Each record has before, after, why and by whom; the first line says what stands now."""
    outcome = run("history", "one")
    assert set(outcome.data) == {"id", "live", "records", "hidden"}
    assert [record["action"] for record in outcome.data["records"]] == ["remember", "revise"]
    assert outcome.data["live"] == [store.get("uno").id]
    text = text_of(outcome)
    assert "2 records of" in text
    assert f"which stands now as {store.get('uno').id[:10]}" in text
    assert "        - one\n        + uno\n        evidence: said in the stand-up\n        by: ana" in text
    gone = text_of(run("history", "two"))
    assert "is out of use (memory-magic restore" in gone
    assert "by: bo" in gone


def test_history_of_nobody_is_an_error(run: Run, store: Store) -> None:
    """What never was has no history."""
    with pytest.raises(NoSuchNoteError, match="past or present"):
        run("history", "nobody")


def test_undo_takes_back_the_newest_first(run: Run, store: Store) -> None:
    """Several numbers go in one command; the reply says what reads how now, and how to go the other way."""
    outcome = run("undo", "3", "#4", "--evidence", "a slip")
    assert [one["undoes"] for one in outcome.data["undone"]] == [4, 3]
    assert {note.text for note in store.list()} == {"one", "two"}
    text = text_of(outcome)
    assert "Record 4 is taken back in global, by journal record 5." in text
    assert "  now: two" in text
    assert "the other way: memory-magic undo 6" in text
    history = text_of(run("history", "one"))
    assert "revise  global  (taken back by 6)" in history
    assert "revise  global  (undoes 3)" in history


def test_undo_that_is_refused_says_what_was_done_before(run: Run, store: Store) -> None:
    """What was taken back stays so, the refusal is told, the exit status is 1; a first refusal is an error."""
    outcome = run("undo", "4", "1")
    assert outcome.status == 1
    assert outcome.data["failed"]["n"] == 1
    assert "▲ Record 1 stays: record 1 cannot be undone: record 3 (revise) changed the note later" in text_of(outcome)
    with pytest.raises(UndoError):
        run("undo", "1")
    with pytest.raises(UsageError, match="no record's number"):
        run("undo", "last")


def test_undo_of_a_remember_says_that_the_note_is_out_of_use(run: Run, root: Path) -> None:
    """There is no text to show then."""
    Store(root).remember("one")
    assert "the note is out of use now" in text_of(run("undo", "1"))


def test_restore_and_its_no_op(run: Run, store: Store) -> None:
    """A retired note comes back by its text; one that stands is left alone."""
    outcome = run("restore", "two", "--evidence", "needed again")
    assert set(outcome.data) == {"id", "old_id", "scope", "path", "line", "n"}
    text = text_of(outcome)
    assert text.startswith("Restored in global, journal record 5.\n  note: two\n")
    assert store.get("two").id[:10] in text
    assert "Nothing to do in global" in text_of(run("restore", "two"))


def test_promote_names_both_scopes(run: Run, root: Path, git_repo: GitRepo) -> None:
    """The reply and the JSON say from where to where, and the old id leads to the new one."""
    cwd = git_repo("lab")
    with Store(root, cwd) as store:
        old = store.remember("here", scope="workspace")
    outcome = run("promote", "here", "--to", "global", cwd=cwd)
    assert (outcome.data["from"], outcome.data["scope"]) == (old.scope, "global")
    text = text_of(outcome)
    assert text.startswith("Moved from lab to global, journal record 2.")
    assert f"id {old.id[:10]} -> {outcome.data['id'][:10]}" in text
    with pytest.raises(UsageError, match="--to"):
        run("promote", "here", cwd=cwd)


def test_approve_and_reject(run: Run, store: Store) -> None:
    """Approval is journalled once; a rejection needs a reason and takes the note out."""
    assert text_of(run("approve", "uno")).startswith("Approved in global, journal record 5.")
    assert "approved already" in text_of(run("approve", "uno"))
    with pytest.raises(UsageError, match="--evidence"):
        run("reject", "uno")
    assert text_of(run("reject", "uno", "--evidence", "an order")).startswith("Rejected, and taken out of global")
    assert store.list() == []


def test_list_at_a_moment(run: Run, store: Store) -> None:
    """The notes as they were, with what is gone since and how many came later; without the option the plain list."""
    outcome = run("list", "--at", "#2")
    assert (outcome.data["n"], [note["text"] for note in outcome.data["notes"]]) == (2, ["two", "one"])
    text = text_of(outcome)
    assert text.startswith("2 notes after record 2, ")
    assert "1 note came later" in text
    assert text.count("gone since") == 2
    assert run("list").kind == "notes"
    assert text_of(run("list", "--at", "#0")) == "Nothing was remembered before the first record."
    store.retire("uno", evidence="x")
    assert "Nothing was remembered after record 5" in text_of(run("list", "--at", "3000-01-01"))
    with pytest.raises(UsageError, match="#412"):
        run("list", "--at", "once")


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (["--since", "0s"], None),
        (["--limit", "0"], None),
        ([], [1, 2, 3, 4]),
        (["--limit", "2"], [3, 4]),
        (["--action", "remember"], [1, 2]),
        (["--action", "retire,revise"], [3, 4]),
        (["--action", "retire", "--action", "revise"], [3, 4]),
        (["--action", "undo"], []),
        (["--by", "BO"], [4]),
        (["--grep", "STAND-UP"], [3]),
        (["--grep", "one"], [1, 3, 4]),  # “done” holds it, too
        (["--since", "#3"], [3, 4]),
        (["--since", "2000-01-01"], [1, 2, 3, 4]),
        (["--since", "3000-01-01"], []),
        (["--since", "1h", "--by", "ana", "--limit", "1"], [3]),
    ],
)
def test_journal_shows_what_is_asked_for(run: Run, store: Store, words: list[str], numbers: list[int] | None) -> None:
    """Since, action, author and text can be combined; the limit counts what is left; what is none is wrong use."""
    if numbers is None:
        with pytest.raises(UsageError):
            run("journal", *words)
        return
    outcome = run("journal", *words)
    assert [record["n"] for record in outcome.data["records"]] == numbers
    assert outcome.data["verified"]["n"] == 4


def test_journal_finds_undos(run: Run, store: Store) -> None:
    """An undo has the name of its opposite, but is found as undo."""
    run("undo", "4")
    assert [record["n"] for record in run("journal", "--action", "undo").data["records"]] == [5]


def test_verify_knows_a_head_that_was_noted(run: Run, store: Store, root: Path) -> None:
    """A noted head, or its beginning, is found at its record; where the journal was cut off it is missed."""
    head = store.journal()[2].chain
    outcome = run("verify", "--head", head.upper()[:20])
    assert (outcome.status, outcome.data["anchor"]["n"]) == (0, 3)
    last = store.journal()[-1]
    store.close()
    journal = root / "JOURNAL.md"
    journal.write_bytes(journal.read_bytes()[: last.offset])
    for end in ("", "-wal", "-shm"):
        (root / f"index.sqlite3{end}").unlink(missing_ok=True)
    assert run("verify").status == 0
    missed = run("verify", "--head", last.chain)
    assert (missed.status, missed.data["ok"], missed.data["anchor"]["n"]) == (1, False, None)
    assert "its end was cut off after that head was noted" in text_of(missed)
    with pytest.raises(UsageError, match="hexadecimal"):
        run("verify", "--head", "xyz")


def test_a_head_inside_a_value_is_no_head(run: Run, root: Path) -> None:
    """A note cannot claim to be the end of a record."""
    forged = "c" * 64
    Store(root).remember(
        f"  - n: 9, prev: {'a' * 16}, chain: {forged}\nmore, chain: {forged}", evidence=f", chain: {forged}"
    )
    assert run("verify", "--head", forged).data["anchor"]["n"] is None


def test_verify_of_an_empty_store(run: Run) -> None:
    """There is no journal yet, so no head is in it."""
    assert run("verify").status == 0
    assert run("verify", "--head", "a" * 8).status == 1


def test_export_to_the_screen_is_the_export_itself(run: Run, store: Store) -> None:
    """Nothing is put around it, so that it can be sent to a file by the shell."""
    outcome = run("export")
    assert outcome.data["text"] == text_of(outcome) + "\n"
    assert [json.loads(line) for line in text_of(outcome).split("\n")][-1]["text"] == "uno"
    assert text_of(run("export", "--markdown")).startswith("# Notes that follow me\n")


def test_export_to_a_file_asks_before_it_replaces_one(run: Run, store: Store, tmp_path: Path) -> None:
    """The reply counts notes and records and shows the head; a file that is there needs a yes."""
    target = tmp_path / "notes.jsonl"
    outcome = run("export", str(target), "--history")
    text = text_of(outcome)
    assert f"1 note of 1 scope and 4 journal records are in {target}" in text
    assert f"head of the chain: {store.journal()[-1].chain}" in text
    with pytest.raises(MemoryMagicError, match="is there already"):
        run("export", str(target))
    with pytest.raises(MemoryMagicError, match="you said no"):
        run("export", str(target), ask=lambda _: False)
    run("export", str(target), "--yes")
    assert "text" not in outcome.data
    with pytest.raises(UsageError, match="inside the store"):
        run("export", str(store.root / "x"))


def test_export_of_a_bundle(run: Run, store: Store, tmp_path: Path) -> None:
    """One page; other options do not go with it."""
    outcome = run("export", "--bundle", str(tmp_path / "audit.html"))
    assert outcome.data["style"] == "bundle"
    assert "it says how to check itself" in text_of(outcome)
    with pytest.raises(UsageError, match="alone"):
        run("export", "--bundle", str(tmp_path / "b.html"), "--history")


def test_import_counts_what_became_of_each_note(run: Run, store: Store, root: Path, tmp_path: Path) -> None:
    """Added, here already, left out, refused, secrets taken out: each has its line; a refusal is exit status 1."""
    source = tmp_path / "MEMORY.md"
    source.write_text(f"- uno\n- two\n- new with {SECRET}\n- <private>x</private>\n", encoding="utf-8")
    steps: list[str] = []
    context = Context()
    context.progress = steps.append
    outcome, _ = commands.run_words(COMMANDS["import"], [str(source)], context)
    context.close()
    assert steps == ["3 of 3 notes"]
    text = text_of(outcome)
    assert text.startswith(
        "MEMORY.md: 1 note taken over\n  1 added\n  1 here already\n  1 left out: changed or retired"
    )
    assert "Taken out before saving" in text
    assert SECRET not in text + json.dumps(outcome.data)
    assert outcome.data["skipped"] == 1
    again = run("import", str(source), "--on-conflict", "overwrite")
    assert (again.data["overwritten"], again.data["added"]) == (1, 0)
    bad = tmp_path / "in.jsonl"
    bad.write_text('{"format":1,"kind":"memory-magic"}\n{"scope":"global","text":" "}\n', encoding="utf-8")
    refused = run("import", str(bad))
    assert refused.status == 1
    assert "1 refused\n    line 2: the note is empty" in text_of(refused)


def test_export_and_import_are_a_round_trip(run: Run, store: Store, tmp_path: Path) -> None:
    """With history into an empty store, by the commands alone."""
    source = tmp_path / "all.jsonl"
    run("export", str(source), "--history")
    told = run("import", str(source), "--history", "--root", str(tmp_path / "fresh"))
    assert "1 note taken over with 4 journal records" in text_of(told)
    assert run("export", "--history", "--root", str(tmp_path / "fresh")).data["text"] == source.read_text()


def test_hostile_texts_stay_text(run: Run, root: Path) -> None:
    """Escape sequences and bidirectional controls of a file edited by hand move no cursor."""
    store = Store(root)
    file = store.scopes[0].memory_file
    file.parent.mkdir(parents=True)
    file.write_text("- evil \x1b[2J\u202e text\n", encoding="utf-8")
    one = store.list()[0].id
    for words in (["history", one], ["list", "--at", "#1"], ["undo", "1"], ["undo", "2"]):
        assert not {"\x1b", "\u202e"} & set(text_of(run(*words), 80))
    for words in (["export"], ["export", "--markdown"]):
        assert "\x1b" not in text_of(run(*words), 80)


def test_lines_are_cut_to_the_width(run: Run, store: Store) -> None:
    """On a terminal no line is longer than it is wide."""
    store.remember("word " * 60)
    for outcome in (run("history", "word " * 60), run("list", "--at", "#5")):
        assert max(len(line) for line in text_of(outcome, 60).split("\n")) <= 80


def test_the_plain_journal_is_used_as_it_is(run: Run, store: Store) -> None:
    """The rows stand in for the plain commands, with the same data where no option is given."""
    from memory_magic import commands_store

    context = Context()
    plain = commands_store.journal(context, Namespace(scope=None, limit=None))
    context.close()
    assert run("journal").data["records"] == plain.data["records"]
