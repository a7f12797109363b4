"""The command ledger: what was told when and where, one block and what changed since, from here and from elsewhere."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from memory_magic import commands
from memory_magic.commands_base import Context
from memory_magic.commands_ledger import PRINTERS, ROWS
from memory_magic.errors import MemoryMagicError, NoSuchNoteError, UsageError
from memory_magic.prompt.block import Block, Report, memory_block
from memory_magic.prompt.ledger import record
from memory_magic.store import anchors, ledger_files
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from memory_magic.commands_base import Outcome

(LEDGER,) = ROWS
FRIDAYS = "Deploys run on Fridays at noon"


def tell(store: Store, text: str | None = None, **other: object) -> None:
    """Let an assistant be told what is remembered."""
    block = memory_block(store, settings=store.settings) if text is None else Block(text, Report(1, ()))
    scopes = tuple(scope.id for scope in store.scopes)
    values: dict[str, object] = {"assistant": "claude-code", "cwd": store.cwd, "scopes": scopes}
    values |= {"head": anchors.head(store.root)} | other
    assert record(store.root, block, **values) == ""  # type: ignore[arg-type]


def say(root: Path, *words: str, cwd: Path | None = None) -> tuple[Outcome, str]:
    """Run the command; return its outcome and what a person reads."""
    context = Context(root, cwd=cwd)
    try:
        outcome, _ = commands.run_words(LEDGER, words, context)
    finally:
        context.close()
    json.dumps(outcome.data)
    return outcome, PRINTERS[outcome.kind](outcome, 140, "memory-magic")


@pytest.fixture
def store(root: Path) -> Store:
    """Give a store with one note."""
    made = Store(root)
    made.remember(FRIDAYS)
    return made


def test_lines_have_the_keys_of_the_contract(store: Store) -> None:
    """Programs get exactly what the ledger keeps, newest first."""
    tell(store, conversation="one")
    tell(store, conversation="two", notebook="analysis.ipynb")
    outcome, text = say(store.root)
    assert list(outcome.data) == ["lines"]
    first = outcome.data["lines"][0]
    assert list(first) == [
        "time", "kind", "assistant", "conversation", "notebook", "cwd", "scopes", "sections", "block", "head",
    ]  # fmt: skip
    assert {"name", "cap", "used", "unit", "entries", "omitted"} <= set(first["sections"][0])
    assert [line["conversation"] for line in outcome.data["lines"]] == ["two", "one"]
    assert first["head"] == {"n": 1, "chain": anchors.head(store.root)[1]}
    assert "analysis.ipynb" in text
    assert first["block"][:12] in text
    assert "memory-magic ledger show N" in text


def test_an_empty_ledger_says_so(store: Store) -> None:
    """No line, no error, and where to look else."""
    outcome, text = say(store.root)
    assert outcome.data == {"lines": []}
    assert "no such entry here" in text
    assert "--scope all" in text
    assert "--scope all" not in say(store.root, "--scope", "all")[1]


def test_options_choose(store: Store) -> None:
    """By assistant, conversation, moment, record of the journal, and how many."""
    hour = 3_600
    tell(store, conversation="one", now=lambda: time.time() - 50 * hour)
    tell(store, conversation="two", assistant="codex", now=lambda: time.time() - hour)
    store.remember("another")
    tell(store, conversation="three")

    def conversations(*words: str) -> list[str]:
        return [line["conversation"] for line in say(store.root, *words)[0].data["lines"]]

    assert conversations() == ["three", "two", "one"]
    assert conversations("--assistant", "codex") == ["two"]
    assert conversations("--conversation", "one") == ["one"]
    assert conversations("--since", "1d") == ["three", "two"]
    assert conversations("--since", "#2") == ["three"]
    assert conversations("-n", "2") == ["three", "two"]
    with pytest.raises(UsageError, match="no moment"):
        say(store.root, "--since", "soon")


def test_show_prints_the_block_and_what_changed(store: Store) -> None:
    """By number or hash: the very bytes, and as lines with + and - what would be told now."""
    tell(store)
    outcome, text = say(store.root, "show", "1")
    assert outcome.data["now"] == ""
    assert outcome.data["text"] == memory_block(store, settings=store.settings).text
    assert "told the same there now" in text
    store.revise(FRIDAYS, "Deploys run on Tuesdays", evidence="said so")
    outcome, text = say(store.root, "show", outcome.data["line"]["block"][:8])
    assert FRIDAYS in text
    changed = outcome.data["now"].split("\n")
    assert [line[0] for line in changed] == ["-", "+"]
    assert "Tuesdays" in changed[1]
    assert "Tuesdays" in text


def test_show_is_friendly_about_what_is_not_there(store: Store) -> None:
    """A number too high, a hash of nobody, one that is too short, no word at all; a block that is gone."""
    tell(store)
    with pytest.raises(NoSuchNoteError, match="no entry 2"):
        say(store.root, "show", "2")
    with pytest.raises(NoSuchNoteError, match="no entry 0"):
        say(store.root, "show", "0")
    with pytest.raises(NoSuchNoteError, match="no such block"):
        say(store.root, "show", "abcdef12")
    for words in (("show",), ("show", "xyz"), ("show", "ab"), ("show", "1", "2"), ("erase",)):
        with pytest.raises(UsageError):
            say(store.root, *words)
    (path,) = (store.root / "ledger" / "blocks").iterdir()
    path.write_text("changed by hand")
    outcome, text = say(store.root, "show", "1")
    assert (outcome.data["text"], outcome.data["now"]) == (None, None)
    assert "not kept any more" in text


def test_two_blocks_that_begin_alike_are_not_guessed_between(store: Store) -> None:
    """More digits are asked for."""
    (store.root / "ledger" / "blocks").mkdir(parents=True)
    tell(store)
    (path,) = (store.root / "ledger").glob("*.jsonl")
    line = json.loads(path.read_text())
    other = line["block"][:32] + "0" * 32
    with path.open("a") as file:
        file.write(json.dumps(line | {"block": other}) + "\n")
    with pytest.raises(UsageError, match="2 blocks begin so"):
        say(store.root, "show", other[:10])


def test_a_repository_shows_nothing_of_another(root: Path, git_repo: object) -> None:
    """In B neither list nor show knows of A, not even by its hash; a person may look everywhere."""
    assert callable(git_repo)
    a, b = git_repo("a"), git_repo("b")
    with Store(root, a) as in_a:
        in_a.remember("the launch is in May", scope="workspace")
        tell(in_a, conversation="secret talk")
    with Store(root, b) as in_b:
        in_b.remember("b builds with make", scope="workspace")
        tell(in_b, conversation="open talk")
    everything = say(root, "--scope", "all", cwd=b)[0].data["lines"]
    assert [line["conversation"] for line in everything] == ["open talk", "secret talk"]
    outcome, text = say(root, cwd=b)
    assert [line["conversation"] for line in outcome.data["lines"]] == ["open talk"]
    assert "secret" not in text
    for words in (("show", "2"), ("show", everything[1]["block"][:12]), ("--conversation", "secret talk")):
        try:
            told = say(root, *words, cwd=b)[1]
        except MemoryMagicError as error:
            told = str(error)
        assert "May" not in told
        assert "/a" not in told
    there, shown = say(root, "show", "2", "--scope", "all", cwd=b)
    assert there.data["now"] == ""  # compared with what would be told in A, where that line is from
    assert "May" in shown


def test_a_fault_is_shown_once(store: Store) -> None:
    """The sentence that an entry left behind is shown to the first who looks."""
    tell(store)
    ledger_files.keep_problem(store.root, "the ledger missed an entry: No space left on device")
    assert "▲ the ledger missed an entry: No space left" in say(store.root)[1]
    assert "▲" not in say(store.root)[1]


def test_looking_lets_old_entries_go(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the setting, at most once a day; damaged lines are counted."""
    tell(store, now=lambda: time.time() - 40 * 86_400)
    tell(store)
    assert len(say(store.root)[0].data["lines"]) == 2
    monkeypatch.setenv("MEMORY_MAGIC_LEDGER_DAYS", "30")
    with max((store.root / "ledger").glob("*.jsonl")).open("a") as file:
        file.write("torn")
    outcome, text = say(store.root)
    assert len(outcome.data["lines"]) == 1
    assert "1 damaged line passed over" in text


def test_a_fault_of_retention_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link in the ledger's place: the command answers, and says what is wrong."""
    tell(store)
    (store.root / "ledger").rename(store.root / "elsewhere")
    (store.root / "ledger").symlink_to(store.root / "elsewhere")
    monkeypatch.setenv("MEMORY_MAGIC_LEDGER_DAYS", "30")
    outcome, text = say(store.root)
    assert outcome.data == {"lines": []}
    assert "a link stands in the place" in text


def test_what_a_terminal_would_obey_is_taken_out(store: Store) -> None:
    """A block, a notebook's name and an assistant's cannot recolour a screen; secrets of old lines stay hidden."""
    tell(store, "# Memory\n\x1b[31mred\x1b[0m", assistant="a\x1b[2J", notebook="n\x1b]0;x\x07.ipynb")
    assert "\x1b" not in say(store.root)[1]
    assert "\x1b" not in say(store.root, "show", "1")[1]
