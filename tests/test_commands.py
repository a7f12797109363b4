"""The table of commands: JSON that programs rely on, text for people, words of magics, wrong use."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory_magic import commands
from memory_magic.commands_base import COMMON, Context, HelpAsked, Outcome
from memory_magic.commands_notes import LONG_NOTE
from memory_magic.commands_print import PRINTERS, as_json, as_text
from memory_magic.commands_table import clip, one_line, pad, plain, scope_name, table, width
from memory_magic.commands_words import split_text, split_words
from memory_magic.errors import (
    EvidenceError,
    MemoryMagicError,
    MemoryOffError,
    NoSuchNoteError,
    NoteError,
    ScopeError,
    SessionFormatError,
    SettingError,
    UsageError,
)

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
ID = re.compile(r"[0-9a-hjkmnp-tv-z]{26}")
ZULU = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
HIT = {"id", "text", "scope", "path", "line", "score", "created", "by", "pinned", "suspicious"}

Run = Callable[..., Outcome]


@pytest.fixture
def run(root: Path) -> Run:
    """Run a command as the command line would, without printing."""

    def runner(name: str, *words: str, **options: Any) -> Outcome:
        context = Context(**options)
        try:
            return commands.run_words(commands.find(name), words, context)[0]
        finally:
            context.close()

    return runner


def test_every_command_of_the_issue_is_in_the_table() -> None:
    """The table holds exactly the commands that the issue lists, each with a summary, and a printer for its outcome."""
    listed = (
        "remember search get revise retire pin unpin view status reindex init config doctor run dashboard "
        "list history journal verify undo restore promote approve reject export import purge unpurge "
        "off on pause ledger review mcp"
    )
    assert sorted(commands.COMMANDS) == sorted(listed.split())
    assert all(command.summary and not command.summary.endswith(".") for command in commands.TABLE)
    assert set(PRINTERS) >= {"remembered", "changed", "hits", "note", "notes", "view", "status", "journal"}


def test_remember_has_the_keys_that_programs_rely_on(run: Run, root: Path) -> None:
    """`remember --json` gives the agreed keys, a full id, the file and line, and the headroom."""
    data = run("remember", "Deploys", "run", "on", "Tuesdays").data
    assert set(data) == {"id", "scope", "path", "line", "status", "redacted", "headroom", "suspicious"}
    assert ID.fullmatch(data["id"])
    assert (data["scope"], data["status"], data["redacted"]) == ("global", "saved", {})
    assert Path(data["path"]) == root / "global" / "MEMORY.md"
    assert (root / "global" / "MEMORY.md").read_text().splitlines()[data["line"] - 1] == "- Deploys run on Tuesdays"
    assert set(data["headroom"]) >= {"used", "cap", "unit", "next_out"}
    assert data["headroom"] | {"used": 1, "cap": 32, "unit": "entries", "next_out": None} == data["headroom"]


def test_duplicate_is_a_stated_no_op(run: Run) -> None:
    """The same text again changes nothing and says so; with --pin it is pinned."""
    first = run("remember", "Use tabs")
    again = run("remember", "Use tabs")
    assert again.data["status"] == "duplicate"
    assert again.data["id"] == first.data["id"]
    assert "Already remembered in global, nothing to do" in as_text(again)
    pinned = run("remember", "--pin", "Use tabs")
    assert "Already remembered in global and pinned" in as_text(pinned)
    assert run("list").data["notes"][0]["pinned"] is True


def test_pin_as_the_very_first_command(run: Run) -> None:
    """A pinned note may be the first that a fresh root ever sees."""
    assert run("remember", "--pin", "Use tabs").data["status"] == "saved"
    assert run("list").data["notes"][0]["pinned"] is True


def test_headroom_names_the_note_that_goes_next(run: Run) -> None:
    """When the block is full, the reply names the note that the next one pushes out."""
    run("config", "set", "notes_entries", "2")
    oldest = run("remember", "one").data["id"]
    second = run("remember", "two")
    assert second.data["headroom"]["used"] == second.data["headroom"]["cap"] == 2
    assert second.data["headroom"]["next_out"] == oldest
    assert f"The next note pushes out {oldest[:10]}" in as_text(second)


def test_secrets_and_private_spans_are_gone_before_anything_is_said(run: Run, root: Path) -> None:
    """A secret is counted by kind, never repeated in reply, JSON or file; a private span is dropped too."""
    outcome = run("remember", f"The token is {SECRET} <private>and this is mine</private>.")
    assert sum(outcome.data["redacted"].values()) >= 1
    everything = as_text(outcome) + as_json(outcome) + (root / "global" / "MEMORY.md").read_text()
    assert SECRET not in everything
    assert "and this is mine" not in everything
    assert "[REDACTED_SECRET]" in everything
    assert "Taken out before saving" in as_text(outcome)


def test_long_notes_are_saved_with_advice(run: Run) -> None:
    """Above 600 characters a note is saved, and the reply says where long instructions belong."""
    long = run("remember", "word " * (LONG_NOTE // 5 + 1))
    assert long.data["status"] == "saved"
    assert "AGENTS.md or a skill" in as_text(long)
    assert "AGENTS.md" not in as_text(run("remember", "x" * LONG_NOTE))


def test_option_after_the_text_is_pointed_out(run: Run) -> None:
    """An option that became part of a verbatim note is said aloud."""
    outcome = run("remember", "--", "Use tabs --pin")
    assert "“--pin” is part of the note" in as_text(outcome)


def test_remember_reads_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """`remember -` takes the note from standard input, several lines as one note."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("first\nzweite Zeile ü\n".encode()), "utf-8"))
    run("remember", "-")
    assert run("list").data["notes"][0]["text"] == "first\nzweite Zeile ü"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), "utf-8"))
    with pytest.raises(UsageError, match="not UTF-8"):
        run("remember", "-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="nothing is piped in"):
        run("remember", "-")


def test_nothing_to_remember(run: Run) -> None:
    """No word at all is wrong use (status 2); a text that is empty is an expected error (status 1), said in words."""
    with pytest.raises(UsageError, match="nothing to remember"):
        run("remember")
    for text in ("", "  "):
        with pytest.raises(NoteError, match="the note is empty") as caught:
            run("remember", text)
        assert caught.value.exit_status == 1


def test_empty_words_of_a_change_are_expected_errors(run: Run) -> None:
    """Empty evidence and an empty new text are status 1 and change nothing."""
    note = run("remember", "Use tabs").data["id"]
    for words, error in (
        ([note, "Use spaces", "--evidence", " "], EvidenceError),
        ([note, "", "--evidence", "x"], NoteError),
    ):
        with pytest.raises(error) as caught:
            run("revise", *words)
        assert caught.value.exit_status == 1
    with pytest.raises(EvidenceError):
        run("retire", note, "--evidence", "")
    assert [one["id"] for one in run("list").data["notes"]] == [note]


def test_revising_to_the_same_words_is_a_stated_no_op(run: Run) -> None:
    """The note reads so already: nothing is written, the reply says so, and the exit status is 0."""
    note = run("remember", "Use tabs").data["id"]
    for words in ("Use tabs", "Use  tabs"):
        outcome = run("revise", note, words, "--evidence", "x")
        assert outcome.status == 0
        assert "Nothing to do in global: it is worded like that already." in as_text(outcome)
        assert (outcome.data["id"], outcome.data["n"]) == (note, 0)
    assert len(run("journal").data["records"]) == 1


def test_search_get_and_list_print_hits(run: Run) -> None:
    """Search, get and list share one hit object; list leaves the score out; ids are full, times ISO 8601 in UTC."""
    run("remember", "Deploys run on Tuesdays")
    run("remember", "图表默认使用深色主题")
    found = run("search", "deploys").data
    assert set(found) == {"query", "hits", "fallback"}
    assert found["query"] == "deploys"
    (hit,) = found["hits"]
    assert set(hit) == HIT
    assert ID.fullmatch(hit["id"])
    assert ZULU.fullmatch(hit["created"])
    assert hit["by"] == "command line"
    assert run("search", "深色").data["hits"][0]["text"] == "图表默认使用深色主题"
    notes = run("list").data["notes"]
    assert [set(note) for note in notes] == [HIT - {"score"}] * 2
    assert set(run("get", hit["id"][:6]).data) == HIT
    assert run("get", "Deploys", "run", "on", "Tuesdays").data["id"] == hit["id"]


def test_search_limit_and_explain(run: Run) -> None:
    """-n limits the hits, --explain says how the query was read, no hit says what was looked for."""
    for day in ("Monday", "Tuesday", "Friday"):
        run("remember", f"Deploy on {day}")
    assert len(run("search", "-n", "2", "deploy").data["hits"]) == 2
    assert "read as: deploy" in as_text(run("search", "deploy", "--explain"))
    assert "the very phrase: deploy" in as_text(run("search", "deploy", "--explain"))
    assert "No note in global has a word of: holiday Sunday" in as_text(run("search", "holiday", "Sunday"))
    assert "there is no word in it" in as_text(run("search", ""))
    with pytest.raises(UsageError, match="invalid number value: '0'"):
        run("search", "-n", "0", "deploy")


def test_revise_retire_pin_unpin(run: Run) -> None:
    """Each change gives the agreed keys, the successor's id where there is one, and its journal record."""
    old = run("remember", "Deploys run on Fridays").data["id"]
    keys = {"id", "old_id", "scope", "path", "line", "n"}
    revised = run("revise", old[:8], "Deploys run on", "Tuesdays", "--evidence", "said in the stand-up")
    assert set(revised.data) == keys
    assert revised.data["old_id"] == old
    assert revised.data["n"] == 2
    assert "Revised in global, journal record 2" in as_text(revised)
    pinned = run("pin", "Deploys run on Tuesdays")
    assert set(pinned.data) == keys
    assert "it is pinned already" in as_text(run("pin", pinned.data["id"]))
    assert run("unpin", pinned.data["id"]).data["n"] == 4
    retired = run("retire", "Deploys run on Tuesdays", "--evidence", "no more deploys")
    assert set(retired.data) == keys
    assert run("list").data == {"notes": []}
    with pytest.raises(NoSuchNoteError):
        run("retire", "Deploys run on Tuesdays", "--evidence", "again")


def test_evidence_is_required(run: Run) -> None:
    """Without --evidence a change is wrong use; with an empty one it is an expected error."""
    run("remember", "Use tabs")
    with pytest.raises(UsageError, match="--evidence"):
        run("retire", "Use tabs")
    with pytest.raises(EvidenceError):
        run("retire", "Use tabs", "--evidence", " ")
    with pytest.raises(UsageError, match="quotes"):
        run("retire", "Use", "tabs", "--evidence", "why")


def test_view_is_a_preview_while_memory_is_off(run: Run, root: Path) -> None:
    """With `enabled = false` the block is shown all the same, 'not sent'; nothing is written, equal memory is equal."""
    run("remember", "Deploys run on Tuesdays")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    first, second = run("view"), run("view", "some", "prompt")
    assert as_json(first) == as_json(second)
    assert set(first.data) == {"block", "tokens", "sections"}
    assert "Deploys run on Tuesdays" in first.data["block"]
    keys = {"name", "cap", "used", "unit", "entries", "omitted", "truncated"}
    assert all(set(section) >= keys for section in first.data["sections"])
    assert "not sent: memory is off" in as_text(first)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert not (root / "ledger").exists()
    run("config", "set", "enabled", "on")
    assert "a preview: nothing was sent" in as_text(run("view"))


def test_view_names_what_is_left_out(run: Run) -> None:
    """Omitted notes are named in full in JSON, and with their text for people."""
    run("config", "set", "notes_entries", "1")
    old = run("remember", "the older one").data["id"]
    run("remember", "the newer one")
    outcome = run("view")
    (section,) = outcome.data["sections"]
    assert section["omitted"] == [old]
    assert section["truncated"] is True
    text = as_text(outcome)
    assert "left out: 1 note" in text
    assert "the older one" in text
    assert "✂ 1 left out" in text


def test_view_of_an_empty_store(run: Run) -> None:
    """With no memory there is no block, and the text says so."""
    outcome = run("view")
    assert outcome.data["block"] == ""
    assert "Nothing would be added" in as_text(outcome)


def test_status_says_first_whether_anything_is_injected(run: Run, root: Path) -> None:
    """The first line is the switch; the JSON has scopes, index, journal and every setting."""
    run("remember", "Use tabs")
    outcome = run("status")
    data = outcome.data
    assert set(data) == {"root", "enabled", "injection", "scopes", "index", "journal", "settings"}
    assert data["root"] == str(root)
    assert [set(scope) for scope in data["scopes"]] == [{"id", "label", "notes", "path"}]
    assert set(data["index"]) == {"notes", "schema", "fresh"}
    assert data["journal"]["records"] == 1
    assert data["journal"]["verified"] is None
    assert data["settings"]["notes_entries"] == 32
    assert as_text(outcome).startswith("Memory is off: nothing is put into any prompt")
    run("verify")
    verified = run("status").data["journal"]["verified"]
    assert verified["ok"] is True
    assert set(verified) == {"n", "time", "ok"}
    run("config", "set", "enabled", "on")
    assert as_text(run("status")).startswith("Memory is on")
    run("config", "set", "use_memories", "off")
    assert "use_memories is off" in as_text(run("status"))


def test_journal_and_verify(run: Run) -> None:
    """The journal has a record for each change with the agreed keys; its verdict is computed."""
    old = run("remember", "Deploys run on Fridays").data["id"]
    run("revise", old, "Deploys run on Tuesdays", "--evidence", f"said so, {SECRET}")
    outcome = run("journal")
    data = outcome.data
    assert set(data) == {"records", "verified", "head"}
    first, second = data["records"]
    keys = {"n", "action", "time", "scope", "id", "new_id", "before", "after", "evidence", "by", "chain"}
    assert set(first) == set(second) == keys
    assert (second["action"], second["id"], second["before"]) == ("revise", old, "Deploys run on Fridays")
    assert second["after"] == "Deploys run on Tuesdays"
    assert ZULU.fullmatch(second["time"])
    assert SECRET not in as_json(outcome)
    assert data["verified"]["ok"] is True
    assert data["verified"]["n"] == 2
    assert "chain whole" in as_text(outcome)
    assert run("journal", "-n", "1").data["records"] == [second]
    assert run("journal", "--scope", "all").data["records"] == [first, second]


def test_broken_chain_is_exit_status_1(run: Run, root: Path) -> None:
    """A record that was changed by hand is reported with exit status 1 and a sentence."""
    run("remember", "Deploys run on Fridays")
    journal = root / "JOURNAL.md"
    journal.write_text(journal.read_text().replace("Fridays", "Mondays"))
    outcome = run("verify")
    assert outcome.status == 1
    assert outcome.data["ok"] is False
    assert outcome.data["faults"]
    assert "chain is broken" in as_text(outcome)


def test_reindex(run: Run, root: Path) -> None:
    """The index can be deleted and comes back with every note."""
    run("remember", "one")
    run("remember", "two")
    for path in root.glob("index.sqlite3*"):
        path.unlink()
    assert run("reindex").data == {"notes": 2}
    assert "2 notes" in as_text(run("reindex"))


def test_scopes_of_two_repositories(run: Run, git_repo: Callable[..., Path]) -> None:
    """Nothing of repository A shows in B's list, search, view, journal or error; `--scope all` is for people."""
    a, b = git_repo("alpha"), git_repo("beta")
    written = run("remember", "--scope", "workspace", "alpha secret plan", cwd=a)
    assert written.data["scope"].startswith("workspace/")
    assert "alpha" in as_text(written).split("\n")[0]
    note = written.data["id"]
    for name, words in (("list", []), ("search", ["plan"]), ("view", []), ("status", [])):
        assert "alpha" not in as_json(run(name, *words, cwd=b)), name
    with pytest.raises(NoSuchNoteError) as caught:
        run("get", note, cwd=b)
    assert "plan" not in str(caught.value)
    assert run("list", "--scope", "all", cwd=b).data["notes"][0]["id"] == note
    assert run("list", "--scope", "workspace", cwd=a).data["notes"][0]["id"] == note
    assert run("list", "-s", "global", cwd=a).data["notes"] == []
    assert [scope["notes"] for scope in run("status", "-s", "all", cwd=b).data["scopes"]] == [0, 0, 1]
    assert [scope["notes"] for scope in run("status", "-s", "workspace", cwd=a).data["scopes"]] == [1]
    assert run("get", note, "-s", "all", cwd=b).data["text"] == "alpha secret plan"
    with pytest.raises(UsageError, match="one scope"):
        run("remember", "--scope", "all", "x", cwd=a)


def test_journal_of_one_scope(run: Run, git_repo: Callable[..., Path]) -> None:
    """`journal --scope workspace` shows the records of the workspace alone."""
    repo = git_repo("alpha")
    run("remember", "everywhere", cwd=repo)
    run("remember", "-s", "workspace", "here", cwd=repo)
    records = run("journal", "--scope", "workspace", cwd=repo).data["records"]
    assert [record["after"] for record in records] == ["here"]


def test_journal_shows_only_what_is_seen_here(run: Run, git_repo: Callable[..., Path]) -> None:
    """In B the journal shows no record of A unless a person asks for all scopes."""
    a, b = git_repo("alpha"), git_repo("beta")
    run("remember", "-s", "workspace", "alpha plan", cwd=a)
    run("remember", "for everybody", cwd=a)
    outcome = run("journal", cwd=b)
    assert [record["after"] for record in outcome.data["records"]] == ["for everybody"]
    assert outcome.data["verified"]["n"] == 2
    assert "1 record of other scopes" in as_text(outcome)
    assert len(run("journal", "--scope", "all", cwd=b).data["records"]) == 2


def test_journal_of_a_fresh_store(run: Run) -> None:
    """Before the first change the journal says what writes one."""
    outcome = run("journal")
    assert outcome.data["records"] == []
    assert "No change yet" in as_text(outcome)


def test_init_asks_before_it_leaves_a_repository(run: Run, git_repo: Callable[..., Path]) -> None:
    """Where notes belong to a repository already, init asks; no answer, or no, changes nothing; -y goes ahead."""
    repo = git_repo("alpha")
    with pytest.raises(MemoryMagicError, match=r"nobody to ask.*-y"):
        run("init", cwd=repo)

    def nobody(question: str) -> bool:
        raise EOFError

    with pytest.raises(MemoryMagicError, match="-y"):
        run("init", cwd=repo, ask=nobody)
    with pytest.raises(MemoryMagicError, match="as you said no"):
        run("init", cwd=repo, ask=lambda question: False)
    assert not (repo / ".memory-magic.toml").exists()
    outcome = run("init", "-y", "my", "study", cwd=repo)
    assert outcome.data["label"] == "my study"
    assert outcome.data["scope"].startswith("workspace/")
    assert (repo / ".memory-magic.toml").exists()


def test_init_of_a_plain_folder_needs_no_answer(run: Run) -> None:
    """A folder without repository becomes a workspace at once, named after the folder unless a name is given."""
    outcome = run("init")
    assert outcome.data["label"] == "work"
    assert "is now the workspace “work”" in as_text(outcome)
    assert run("remember", "-s", "workspace", "local").data["scope"] == outcome.data["scope"]


def test_config_lists_gets_and_sets(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Config shows all, get shows one, set changes one and says when the environment goes before it."""
    everything = run("config").data["settings"]
    assert {row["key"] for row in everything} >= {"enabled", "session_folders"}
    assert "change one" in as_text(run("config", "list"))
    changed = run("config", "set", "memories.notes_entries", "12")
    assert changed.data["value"] == 12
    assert changed.data["origin"] == "config.toml"
    assert "notes_entries = 12" in as_text(changed)
    assert run("config", "get", "notes_entries").data["value"] == 12
    monkeypatch.setenv("MEMORY_MAGIC_NOTES_ENTRIES", "5")
    overridden = run("config", "set", "notes_entries", "20")
    assert overridden.data["value"] == 5
    assert "MEMORY_MAGIC_NOTES_ENTRIES is set in the environment" in as_text(overridden)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["set", "enabled"], UsageError),
        (["get"], UsageError),
        (["get", "enabled", "on"], UsageError),
        (["list", "enabled"], UsageError),
        (["show"], UsageError),
        (["set", "enabledd", "on"], SettingError),
        (["set", "search_limit", "99"], SettingError),
        (["get", "nonsense"], SettingError),
    ],
)
def test_config_used_wrongly(run: Run, words: list[str], error: type[Exception]) -> None:
    """Each slip is one error that says how it goes."""
    with pytest.raises(error):
        run("config", *words)


def test_a_wrong_setting_does_not_lock_people_out_of_their_notes(run: Run, root: Path) -> None:
    """Notes are read and written with the default, nothing is injected, config and doctor say it, config mends it."""
    run("config", "set", "enabled", "on")
    with (root / "config.toml").open("a") as file:
        file.write("notes_entries = 9999\nnotes_entris = 4\n")
    written = run("remember", "Use tabs")
    assert written.data["headroom"]["cap"] == 32
    assert [note["text"] for note in run("list").data["notes"]] == ["Use tabs"]
    status = run("status").data
    assert (status["enabled"], status["injection"]["on"], status["injection"]["why"]) == (False, False, "broken")
    assert "not sent: memory is off until the settings are put right" in as_text(run("view"))
    with pytest.raises(SettingError, match="notes_entris = 4"):
        run("config")
    findings = run("doctor")
    assert findings.status == 1
    assert [finding["kind"] for finding in findings.data["findings"]] == ["setting", "setting"]
    assert "did you mean notes_entries" in as_text(findings)
    assert "memory-magic config set notes_entries VALUE" in as_text(findings)
    (root / "config.toml").write_text("[memories]\nenabled = true\nnotes_entries = 9999\n")
    run("config", "set", "notes_entries", "40")
    assert run("status").data["injection"]["on"] is True


def test_doctor_finds_nothing_then_something(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A healthy store is exit status 0; an unknown variable and a look-alike are listed with what mends them."""
    run("remember", "Use tabs")
    assert run("doctor").status == 0
    assert "Nothing found" in as_text(run("doctor"))
    monkeypatch.setenv("MEMORY_MAGIC_ENABLD", SECRET)
    (root / "global" / "MEMORY (conflicted copy).md").write_text("- x\n")
    outcome = run("doctor")
    assert outcome.status == 1
    text = as_text(outcome)
    assert "MEMORY_MAGIC_ENABLD" in text
    assert "conflicted copy" in text
    assert SECRET not in text


def test_doctor_lets_the_journal_follow_what_was_typed(run: Run, root: Path) -> None:
    """A hand edit is no slip: the journal follows it, as when notes are read; a damaged one is not written to."""
    run("remember", "Use tabs")
    with (root / "global" / "MEMORY.md").open("a") as file:
        file.write("- typed by hand\n")
    assert run("doctor").status == 0
    assert [record["action"] for record in run("journal").data["records"]] == ["remember", "observe"]
    journal = root / "JOURNAL.md"
    journal.write_text(journal.read_text().replace("Use tabs", "Use spaces"))
    with (root / "global" / "MEMORY.md").open("a") as file:
        file.write("- and more\n")
    before = journal.read_bytes()
    outcome = run("doctor", prog="%memory")
    assert [finding["kind"] for finding in outcome.data["findings"]] == ["journal", "drift"]
    assert journal.read_bytes() == before
    assert all("%memory " in finding["mend"] for finding in outcome.data["findings"])
    assert all("memory-magic " in finding["mend"] for finding in run("doctor").data["findings"])


@pytest.mark.parametrize("port", ["-1", "65536", "70000"])
def test_a_number_that_is_no_port_is_wrong_use(run: Run, port: str) -> None:
    """The message gives the range; nothing is started."""
    with pytest.raises(UsageError, match="is no port") as caught:
        run("dashboard", "--port", port, serve=lambda *_, **__: pytest.fail("started"))
    assert "from 0 (any free port) to 65535" in caught.value.hint


def test_run_needs_a_session_and_memory_switched_on(run: Run, tmp_path: Path) -> None:
    """Without --session it is wrong use; nothing is extracted with memory off, or from a file that is no session."""
    with pytest.raises(UsageError, match="at least one session"):
        run("run")
    file = tmp_path / "x.jsonl"
    file.write_text("no session\n")
    with pytest.raises(MemoryOffError):
        run("run", "--session", str(file))
    run("config", "set", "enabled", "on")
    with pytest.raises((SessionFormatError, MemoryMagicError)):
        run("run", "--session", str(file))
    outcome = run("run", "--session", str(file), "--session", str(tmp_path / "none.jsonl"))
    assert outcome.status == 1
    assert len(outcome.data["errors"]) == 2
    assert "▲" in as_text(outcome)


def test_run_extracts_a_real_session(run: Run, data: Path, root: Path) -> None:
    """A Codex rollout becomes a stage-one file below the root; the reply names it, a second run is the same."""
    session = next(data.rglob("rollout-2026-11-30T18-38-49-*.jsonl"))
    run("config", "set", "enabled", "on")
    outcome = run("run", "--session", str(session))
    (output,) = outcome.data["outputs"]
    assert output["source"] == "codex"
    assert output["status"] in {"output", "no_output"}
    assert Path(str(output["path"])).is_relative_to(root)
    assert str(output["path"]) in as_text(outcome)
    assert json.loads(as_json(outcome))["outputs"][0]["model"] == "offline"
    again = run("run", "--session", str(session)).data["outputs"][0]
    assert again["path"] == output["path"]


def test_project_that_wants_no_memory(run: Run, tmp_path: Path) -> None:
    """Where .memory-magic.toml says `memory = "off"`, status and view say that nothing is sent here."""
    project = tmp_path / "project"
    project.mkdir()
    (project / ".memory-magic.toml").write_text('memory = "off"\n')
    run("config", "set", "enabled", "on")
    run("remember", "Use tabs")
    assert as_text(run("status", cwd=project)).startswith("Memory is off in this project")
    assert "not sent" in as_text(run("view", cwd=project))


def test_dashboard_is_started_by_the_shell_that_can(run: Run, root: Path) -> None:
    """The command hands root, port and browser to the shell; without one it says what to type."""
    seen: dict[str, Any] = {}

    def serve(where: Path, **options: Any) -> str:
        seen.update(options, root=where)
        return "http://127.0.0.1:1/"

    outcome = run("dashboard", "--port", "5123", "--no-browser", serve=serve)
    assert seen == {"root": root, "cwd": None, "port": 5123, "browser": False}
    assert "http://127.0.0.1:1/" in as_text(outcome)
    with pytest.raises(MemoryMagicError, match="Type memory-magic dashboard"):
        run("dashboard")


def test_root_option_goes_before_the_environment(run: Run, tmp_path: Path) -> None:
    """--root names the store, wherever the environment points."""
    other = tmp_path / "other"
    assert Path(run("remember", "x", "--root", str(other)).data["path"]).is_relative_to(other)


def test_common_options_before_and_after_the_name() -> None:
    """Common options may stand on both sides of the command's name, values attached or not."""
    split = commands.split_name(["--root", "/x", "--json", "-s", "global", "list", "--root=/y"])
    assert split == (["--root", "/x", "--json", "-s", "global"], "list", ["--root=/y"])
    assert commands.split_name(["--root=/x", "get", "a"]) == (["--root=/x"], "get", ["a"])
    assert commands.split_name(["--json"]) == (["--json"], None, [])
    assert commands.split_line("--json -s global remember  don't  stop ") == (
        ["--json", "-s", "global"],
        "remember",
        "don't  stop",
    )


def test_unknown_command_names_the_nearest() -> None:
    """A slip in a command's name is answered with the command that was meant."""
    with pytest.raises(UsageError, match="Did you mean remember"):
        commands.find("rember")
    with pytest.raises(UsageError, match="Commands are remember, search"):
        commands.find("qqq")


def test_help_of_each_command_is_made_from_its_row() -> None:
    """Each command's help names every argument of its row and the common options."""
    for command in commands.TABLE:
        with pytest.raises(HelpAsked) as caught:
            commands.parse(command, ["--help"], f"memory-magic {command.name}")
        text = str(caught.value)
        assert f"memory-magic {command.name}" in text
        for argument in (*command.arguments, *COMMON):
            assert str(argument.options.get("metavar", argument.flags[0])) in text


def test_words_after_two_dashes_are_text(run: Run) -> None:
    """What follows `--` is text, however much it looks like an option, also beside real options."""
    for text in ("-s is an option", "--pin", "--json --", "-h", "--scope=x"):
        assert run("remember", "--pin", "--", text).data["status"] == "saved"
        assert run("get", "--", text).data["text"] == text
    revised = run("revise", "--evidence", "why", "--", "--pin", "-n", "3")
    assert run("get", revised.data["id"]).data["text"] == "-n 3"


@pytest.mark.parametrize("word", ["\udc80", "a\0b"])
def test_words_that_are_no_text(run: Run, word: str) -> None:
    """Bytes that are not UTF-8 and NUL characters are refused before they reach the store."""
    with pytest.raises(UsageError):
        run("remember", word)


WORDS = [
    ("don't use tabs", ["don't", "use", "tabs"]),
    ("abc \"new text\" --evidence 'said so'", ["abc", "new text", "--evidence", "said so"]),
    ('--evidence="a b" x', ["--evidence=a b", "x"]),
    ("'lone quote", ["'lone", "quote"]),
    ('a"b" c', ['a"b"', "c"]),
    (r'"say \"hi\" C:\\x" y', [r'say "hi" C:\x', "y"]),
    ("''", [""]),
    ("  ", []),
    (r"C:\path $HOME {x} *", [r"C:\path", "$HOME", "{x}", "*"]),
]


@pytest.mark.parametrize(("line", "words"), WORDS)
def test_words_of_a_magic_line(line: str, words: list[str]) -> None:
    """Quotes hold words together only where they open and close one; everything else stays as typed."""
    assert split_words(line) == words


TAKES = {"--pin": False, "-s": True, "--scope": True, "-n": True}
TEXTS = [
    ("don't use  tabs", [], "don't use  tabs"),
    ('--pin -s global don\'t  "x"', ["--pin", "-s", "global"], 'don\'t  "x"'),
    ("-- --pin x", [], "--pin x"),
    ("-5 degrees", [], "-5 degrees"),
    ("- item", [], "- item"),
    ("--scope=workspace text --pin", ["--scope=workspace"], "text --pin"),
    ('"--pin" x', [], '"--pin" x'),
    ("-n3 x", ["-n3"], "x"),
    ("-s 'my scope' x", ["-s", "my scope"], "x"),
    ("", [], ""),
]


@pytest.mark.parametrize(("line", "options", "text"), TEXTS)
def test_free_text_of_a_magic_line(line: str, options: list[str], text: str) -> None:
    """Options come first; from the first other word on, everything is the text, as typed."""
    assert split_text(line, TAKES) == (options, text)


@pytest.mark.parametrize("line", ["--pinn x", "-x y", "-s"])
def test_slips_in_options_are_not_remembered(line: str) -> None:
    """An unknown option, or one without its value, is an error rather than the start of a note."""
    with pytest.raises(UsageError):
        split_text(line, TAKES)


def test_columns_are_aligned_in_every_script() -> None:
    """Widths count terminal cells: two for Chinese, none for combining marks; cuts show an ellipsis."""
    assert (width("abc"), width("深色"), width("तारीख"), width("e\u0301")) == (3, 4, 5, 1)
    assert pad("深", 4) == "深  "
    assert pad("7", 3, right=True) == "  7"
    assert clip("深色主题", 5) == "深色…"
    assert clip("short", 10) == "short"
    lines = table(("id", "note"), [("a", "深色"), ("bb", "x" * 50)], limit=30).split("\n")
    assert lines[0] == "id  note"
    assert lines[1] == "a   深色"
    assert lines[2] == "bb  " + "x" * 25 + "…"


def test_text_for_terminals_obeys_nobody() -> None:
    """Escape sequences, control and bidirectional characters of a note never reach the terminal."""
    hostile = "\x1b[31mred\x1b[0m \x07 \u202eevil\u202c \x1b]0;title\x07 tab\tend"
    shown = plain(hostile)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\x07" not in shown
    assert one_line("first\n\n second \nthird") == "first (+2 lines)"
    assert one_line("\n") == ""


def test_hostile_note_in_every_listing(run: Run) -> None:
    """No command prints a control sequence of a note."""
    run("remember", "--", "\x1b[2J\x1b]0;own\x07 cleared \u202etxt\u202c\rover")
    note = run("list").data["notes"][0]["id"]
    for name, words in (("list", []), ("search", ["cleared"]), ("get", [note]), ("view", []), ("journal", [])):
        text = as_text(run(name, *words), width=None)
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text), name


def test_scopes_are_named_as_people_call_them() -> None:
    """A workspace is called by its label, without one by a short form of its id."""
    assert scope_name("global", {}) == "global"
    assert scope_name("workspace/" + "3f" * 32, {"workspace/" + "3f" * 32: "acme/penguins"}) == "acme/penguins"
    assert scope_name("workspace/" + "3f" * 32, {}) == "workspace/3f3f3f3f…"


def test_json_keeps_every_script_readable(run: Run) -> None:
    """JSON holds the characters themselves, and parses."""
    run("remember", "图表 तारीख")
    text = as_json(run("list"))
    assert "图表 तारीख" in text
    assert json.loads(text)["notes"][0]["text"] == "图表 तारीख"


def test_view_says_why_every_note_is_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that is empty because of a cap names the number of notes and the setting."""
    for text in ("one", "two"):
        run("remember", text)
    monkeypatch.setenv("MEMORY_MAGIC_NOTES_ENTRIES", "0")
    said = as_text(run("view"))
    assert "all 2 notes left out, because the setting notes_entries is 0" in said
    assert "no memory" not in said
    monkeypatch.delenv("MEMORY_MAGIC_NOTES_ENTRIES")
    monkeypatch.setenv("MEMORY_MAGIC_NOTES_CHARACTERS", "10")
    assert "notes_characters = 10 leaves no room" in as_text(run("view"))


def test_journal_tells_kinds_of_changes_apart(run: Run, root: Path) -> None:
    """Added, removed, changed and pinned notes read differently, also when an editor did it."""
    run("remember", "one")
    run("pin", "one")
    file = root / "global" / "MEMORY.md"
    for text in ("- two\n", "- three\n", ""):
        file.write_text(file.read_text().replace("- two\n", "").replace("- three\n", "") + text)
        run("list")
    said = as_text(run("journal"), width=None)
    assert "pinned: one" in said
    assert "+ two" in said
    assert "two -> three" in said
    assert "- three" in said


def test_note_that_never_fits_is_told_at_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reply to a note that is longer than a block says that nobody gets to see it."""
    monkeypatch.setenv("MEMORY_MAGIC_NOTES_CHARACTERS", "400")
    assert "too long for a block (notes_characters = 400)" in as_text(run("remember", "long " * 100))
    assert "too long" not in as_text(run("remember", "short"))


def test_scope_is_checked_whatever_the_command(run: Run) -> None:
    """An empty scope is wrong use; a name that is no scope is refused also where no scope is needed."""
    with pytest.raises(UsageError, match="scope's name is empty"):
        run("remember", "-s", "", "x")
    with pytest.raises(ScopeError, match="nope"):
        run("view", "-s", "nope")


def test_unknown_option_is_called_so(run: Run) -> None:
    """An option that does not exist is not advised to be put in quotes."""
    with pytest.raises(UsageError, match="there is no option --nope") as caught:
        run("list", "--nope")
    assert "quotes" not in caught.value.hint
