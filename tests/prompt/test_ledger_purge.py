"""Purge reaches the ledger: no byte of the text or its ids is left, and the lines go on telling the rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memory_magic.prompt.block import Block, Report, Section, memory_block
from memory_magic.prompt.ledger import Ledger, record
from memory_magic.store import anchors, files, ledger_files
from memory_magic.store.access import Access
from memory_magic.store.purge import ledger, places, recover, run
from memory_magic.store.purge.plan import Request
from memory_magic.store.store import Store

if TYPE_CHECKING:
    from pathlib import Path

FRIDAYS, CATS = "Deploys run on Fridays at noon", "The cat is called Mimi"


@pytest.fixture
def store(root: Path) -> Store:
    """Give a store with two notes, of which both were told to an assistant."""
    made = Store(root)
    made.remember_many([FRIDAYS, CATS])
    tell(made, conversation="first")
    return made


def tell(store: Store, text: str | None = None, **other: object) -> None:
    """Enter what is remembered now."""
    block = memory_block(store, settings=store.settings) if text is None else Block(text, Report(1, ()))
    scopes = tuple(scope.id for scope in store.scopes)
    values: dict[str, object] = {"assistant": "a", "cwd": store.cwd, "scopes": scopes, "head": anchors.head(store.root)}
    assert record(store.root, block, **(values | other)) == ""  # type: ignore[arg-type]


def whole(root: Path) -> bytes:
    """Return every byte below the root, and every name."""
    return b"".join(path.name.encode() + (path.read_bytes() if path.is_file() else b"") for path in root.rglob("*"))


def test_a_purged_note_leaves_blocks_and_lines(store: Store) -> None:
    """Text, id and the block's old hash are gone; the line keeps time, place, head, and says that it was purged."""
    one = store.get(FRIDAYS).id
    (before,) = Ledger(store.root).lines()
    done = run.purge(Access(store), Request(one=one))
    assert done.is_clean, done.proof
    for gone in (FRIDAYS, one[:10], before.block or "?"):
        assert gone.encode() not in whole(store.root)
    book = Ledger(store.root)
    (after,) = book.lines()
    assert (after.purged, after.time, after.cwd, after.conversation, after.head) == (
        True, before.time, before.cwd, "first", before.head,
    )  # fmt: skip
    entries = next(section for section in after.sections if section["name"] == "notes")["entries"]
    assert "purged" in entries
    assert store.get(CATS).id in entries
    text = book.block(after.block)
    assert text is not None
    assert "[purged]" in text
    assert CATS in text
    assert book.last() is None  # nobody was told what stands there now
    tell(store, conversation="second")
    assert run.purge(Access(store), Request(text=FRIDAYS)).is_clean
    assert [line.purged for line in book.lines()] == [False, True]


def test_an_item_goes_whole_though_its_text_was_escaped(root: Path) -> None:
    """What a block holds of a note is escaped line by line: the head of the item names it, the rest goes with it."""
    store = Store(root)
    note = "Deploys:\n\n```\n# Memory (personal)\nnote 4821 of the door\n```\n</memory> and the end of it"
    one = store.remember(note).id
    store.remember(CATS)
    tell(store)
    assert run.purge(Access(store), Request(one=one)).is_clean
    left = whole(root)
    for gone in (b"4821", b"Deploys", b"the end of it"):
        assert gone not in left
    text = Ledger(root).block(next(iter(Ledger(root).lines())).block)
    assert text is not None
    assert CATS in text
    assert "```" not in text


def test_a_line_like_one_of_the_note_stays_elsewhere(store: Store) -> None:
    """A fence or a bracket that the purged note had, too, is left where others have it."""
    one = store.remember("first\n\n```\n}\n```").id
    tell(store)
    tell(store, "# Memory (personal)\n\n```\n}\n```\n")
    assert run.purge(Access(store), Request(one=one)).is_clean
    texts = [Ledger(store.root).block(line.block) for line in Ledger(store.root).lines()]
    assert "# Memory (personal)\n\n```\n}\n```\n" in texts


def test_every_text_of_a_line_is_searched(store: Store) -> None:
    """Notebook, conversation, directory and omitted ids; a damaged line goes whole, one of somebody else too."""
    one = store.get(FRIDAYS).id
    section = Section("notes", 1, 0, "entries", (), (one,))
    values = {"assistant": "a", "cwd": f"/home/{FRIDAYS}", "scopes": ["global"], "head": (1, "0" * 16)}
    block = Block("", Report(1, (section,)))
    assert record(store.root, block, notebook=f"{FRIDAYS}.ipynb", **values) == ""  # type: ignore[arg-type]
    (path,) = (store.root / "ledger").glob("*.jsonl")
    with path.open("a") as file:
        file.write(f'{{"time": "2026-12-01", "cwd": "{FRIDAYS}\n' + json.dumps({"prompt": FRIDAYS}) + "\n[1]\n")
    assert run.purge(Access(store), Request(one=one)).is_clean
    assert FRIDAYS.encode() not in whole(store.root)
    lines = path.read_text().splitlines()
    assert json.loads(lines[1])["cwd"] == "[purged]"
    assert json.loads(lines[1])["notebook"] == "[purged]"
    assert json.loads(lines[1])["sections"][0]["omitted"] == ["purged"]
    assert lines[2:] == ['{"purged": true}', '{"prompt": "[purged]", "purged": true}', "[1]"]


def test_hashes_of_files_go_with_a_purged_block(store: Store) -> None:
    """The hash of a memory file whose text stood in the block would let one test guesses."""
    (store.root / "memory.md").write_text(f"{FRIDAYS}\n")
    tell(store)
    (store.root / "memory.md").unlink()
    digest = files.sha256(f"{FRIDAYS}\n".encode())
    assert digest.encode() in whole(store.root / "ledger")
    assert run.purge(Access(store), Request(text=FRIDAYS)).is_clean
    assert digest.encode() not in whole(store.root)


def test_a_purge_that_was_shown_is_not_refused_for_a_new_prompt(store: Store) -> None:
    """Between the question and the yes an assistant is told the note again: that line goes as well."""
    request = Request(one=store.get(FRIDAYS).id)
    shown = run.look(Access(store), request)
    tell(store, conversation="meanwhile")
    assert run.purge(Access(store), request, shown=shown).is_clean


def test_an_interrupted_purge_is_finished_in_the_ledger(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before the lines, after a block was moved: the next writer has no text and finishes by digests."""
    one = store.get(FRIDAYS).id

    def refused(*_: object, **__: object) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ledger_files, "rewrite", refused)
        with pytest.raises(KeyboardInterrupt):
            run.purge(Access(store), Request(one=one))
    assert len(list((store.root / "ledger" / "blocks").iterdir())) == 2
    store.close()
    with Store(store.root) as again:
        again.remember("something else")
    left = whole(store.root)
    assert FRIDAYS.encode() not in left
    assert one[:10].encode() not in left
    (line,) = Ledger(store.root).lines()
    assert Ledger(store.root).block(line.block) is not None
    assert len(list((store.root / "ledger" / "blocks").iterdir())) == 1


def test_carrying_out_twice_changes_nothing(store: Store) -> None:
    """Every step is found done."""
    run.purge(Access(store), Request(one=store.get(FRIDAYS).id))
    before = whole(store.root / "ledger")
    ledger.carry_out(store.root, {"0" * 32}, ["workspace/" + "a" * 64], b"key")
    ledger.carry_out(store.root, (), (), b"key")
    assert whole(store.root / "ledger") == before
    assert callable(recover.carry_out)


def test_purge_of_a_scope_empties_its_lines(root: Path, git_repo: object) -> None:
    """Lines that name the workspace keep time, kind, assistant and head; blocks that only they name go."""
    assert callable(git_repo)
    store = Store(root, git_repo())
    store.remember(CATS)
    with Store(root) as elsewhere:
        tell(elsewhere, conversation="elsewhere")
    store.remember("The build needs Node 22", scope="workspace")
    tell(store, conversation="inside", notebook="secret.ipynb")
    scope = store.workspace
    assert scope is not None
    plan = run.look(Access(store), Request(scope=scope.id))
    assert {one.place for one in plan.lines} >= {"ledger of what was injected", "injected blocks"}
    assert run.purge(Access(store), Request(scope=scope.id)).is_clean
    inside, outside = Ledger(root).lines()
    assert (inside.purged, inside.scopes, inside.cwd, inside.notebook, inside.block, inside.sections) == (
        True, ("purged",), "", None, None, (),
    )  # fmt: skip
    assert (inside.assistant, inside.head[0]) == ("a", 2)
    assert (outside.purged, outside.conversation) == (False, "elsewhere")
    assert Ledger(root).block(outside.block)
    assert scope.id.encode() not in whole(root / "ledger")
    assert len(list((root / "ledger" / "blocks").iterdir())) == 1


def test_every_file_of_the_ledger_has_its_place(store: Store) -> None:
    """Months, blocks, temp files, the lock and the notice of a fault: purge knows them without this room."""
    from memory_magic.prompt.ledger_retention import prune

    prune(store.root, 1)
    ledger_files.keep_problem(store.root, "something")
    hexes = "ab" * 32
    for name in (
        f"ledger/blocks/.{hexes}.md.123.tmp",
        f"ledger/blocks/.{hexes}.md.0.tmp",
        "ledger/.2026-12.jsonl.0.tmp",
    ):
        assert places.place_of(name).kind == places.TEMP
    assert [found.relative for found in places.walk(store.root) if found.place is places.OTHER] == []
    assert places.place_of("ledger/.lock").kind == places.MARKS
