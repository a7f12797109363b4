"""Kill -9 at every single step of a purge, of a move between scopes and of an undo: the next command sets it right.

`kills/steps.py` does the change once for each step that it takes on the disk, each time in a copy of the same root and
in a process that really dies there; here each of these roots is opened and judged.
"""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_magic.store import door, files
from memory_magic.store.archive import Archive
from memory_magic.store.ids import note_id
from memory_magic.store.purge import intent
from memory_magic.store.purge.search import Needles
from memory_magic.store.replay import replay
from memory_magic.store.store import Store

GitRepo = Callable[..., Path]
HERE = Path(__file__).parent
STEPS, PURGER = HERE / "kills" / "steps.py", HERE / "kills" / "purger.py"
EDITOR = HERE / "campaign" / "editor.py"
FRIDAYS = "Deploys run on Fridays at noon"
TUESDAYS = "Deploys run on Tuesdays at noon"
OTHER = "The cat is called Mimi"
QUOTES = f"Ana says: {TUESDAYS}, always"

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def killed(tmp_path: Path, git_repo: GitRepo) -> Callable[..., list[Path]]:
    """Do a change in copies of a root, killed at each step; give the roots, that of the change that lived last."""

    def kill(template: Path, *words: str) -> list[Path]:
        place = tmp_path / "killed"
        place.mkdir()
        command = [sys.executable, str(STEPS), str(template), str(place), str(tmp_path / "lab"), *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [place / str(number) for number in range(1, int(done.stdout) + 1)]

    git_repo("lab")
    return kill


def opened(roots: list[Path], cwd: Path) -> Iterator[tuple[str, Path, Store]]:
    """Give each root with a store that has brought it to rest, and that is sound."""
    for root in roots:
        with Store(root, cwd) as store:
            store.observe()
            assert store.observe() == [], root
            store.remember("life goes on")  # cuts what a killed append left at the end of the journal
            verdict = store.verify()
            assert verdict.ok, (root, verdict.faults)
            state = replay(store.journal())
            assert {(scope, one.id, one.pinned) for scope, notes in state.items() for one in notes.values()} == {
                (note.scope, note.id, note.pinned) for note in store.list("all")
            }, root
            left = [path.name for path in root.rglob("*") if re.search(r"\.(tmp|new|part|kept)$", path.name)]
            assert left == [], root
            yield root.name, root, store


def holding(root: Path, *texts: str) -> list[str]:
    """Return the files that hold one of the texts or an id of one, named by path and line."""
    needles = Needles(texts, frozenset(note_id("global", text) for text in texts))
    found = []
    for path in sorted(root.rglob("*")):
        if path.is_file():
            found += [f"{path.name}:{line}" for line in needles.lines_in(path.read_bytes())]
    return found


def filled(root: Path, cwd: Path) -> str:
    """Fill a root with a note whose text stands in every place that a purge reaches; return the note's id."""
    with Store(root, cwd) as store:
        first = store.remember(FRIDAYS)
        store.remember(OTHER)
        store.remember(FRIDAYS, scope="workspace")
        store.retire(FRIDAYS, scope="workspace", evidence="nobody deploys here")
        one = store.revise(first.id, TUESDAYS, evidence=f"no more: {FRIDAYS}").id
    stage = root / "global" / "stage_one"
    stage.mkdir()
    for name in ("2026-01-01T00-00-00-0123abcd", "2026-01-02T00-00-00-4567abcd-deploys-run-on-fridays-at-noon"):
        text = f'---\nsession: "x"\nslug: "deploys-run-on-fridays-at-noon"\n---\n\n{FRIDAYS}\nrest\n'
        (stage / f"{name}.md").write_text(text)
    blocks = root / "ledger" / "blocks"
    blocks.mkdir(parents=True)
    block = f"# Memory\n- [{one[:10]} global] {TUESDAYS}\n- other\n".encode()
    (blocks / f"{files.sha256(block)}.md").write_bytes(block)
    (root / "ledger" / "2026-01.jsonl").write_text(f'{{"block":"{files.sha256(block)}"}}\n{{"said":"{FRIDAYS}"}}\n')
    return one


@pytest.mark.slow
@pytest.mark.parametrize("words", [("purge",), ("purge-text", "Deploys run on")], ids=["by id", "by text"])
def test_purge_killed_at_every_step(
    killed: Callable[..., list[Path]], root: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Before its record nothing happened; from its record on everything goes, and what is not meant stays."""
    one = filled(root, tmp_path / "lab")
    roots = killed(root, *words, *([one] if words == ("purge",) else []))
    outcomes = []
    for name, place, store in opened(roots, tmp_path / "lab"):
        purged = "purge" in {record.action for record in store.journal()}
        outcomes.append(purged)
        kept = {OTHER, "life goes on"}
        assert {note.text for note in store.list()} == (kept if purged else kept | {TUESDAYS}), name
        assert not intent.exists(place), name
        assert (place / "tombstones.md").exists() is purged, name
        assert bool(holding(place, FRIDAYS, TUESDAYS)) is not purged, (name, holding(place, FRIDAYS, TUESDAYS))
        assert [record.action for record in store.journal()].count("purge") == purged
        assert (place / "ledger" / "2026-01.jsonl").read_text().count("\n") == 2
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {False, True}


@pytest.mark.slow
def test_who_finishes_a_purge_proves_it_and_says_what_is_left(
    killed: Callable[..., list[Path]], root: Path, tmp_path: Path
) -> None:
    """The next holder of the lock has no text of it, and still names each place that holds it, with its line."""
    one = filled(root, tmp_path / "lab")
    with Store(root, tmp_path / "lab") as store:
        store.remember(QUOTES)
    (root / "memory.md").write_text(f"# Me\n\n{FRIDAYS.replace(' ', chr(10), 1)}\n")
    (root / "prompts").mkdir()
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in TUESDAYS)
    (root / "prompts" / "mine.md").write_text(f'{{"said": "{escaped}"}}\n')
    said = []
    for place in killed(root, "purge", one):
        with Store(place, tmp_path / "lab") as store:
            pending = intent.exists(place)
            recorded = "purge" in {record.action for record in store.journal()}
            notices = [one for one in store.remember("life goes on").notices if "interrupted" in one]
            assert bool(notices) is (pending and recorded), place
            line = store.get(QUOTES).line
            said += [(notice, line, place) for notice in notices]
    assert len(said) > 20
    for notice, line, place in said:
        assert "is finished: it still stands in" in notice, place
        for where in ("memory.md:3", "prompts/mine.md:1", f"global/MEMORY.md:{line}", "JOURNAL.md:"):
            assert where in notice, (place, notice)
        assert "Deploys" not in notice


def test_promote_killed_at_every_step(killed: Callable[..., list[Path]], root: Path, tmp_path: Path) -> None:
    """A note on its way from one scope to the other is at each moment seen, and in the end stands in one of them."""
    cwd = tmp_path / "lab"
    with Store(root, cwd) as store:
        store.remember("global one")
        store.remember_many(["moves", "stays"], scope="workspace")
    roots = killed(root, "promote", "moves", "global")
    for place in roots:  # before anybody recovers: a reader without the lock
        with Store(place, cwd, read_only=True) as reader:
            assert "moves" in {note.text for note in reader.list()}, place
    outcomes = []
    for name, _, store in opened(roots, cwd):
        records = [record for record in store.journal() if record.action == "promote"]
        outcomes.append(bool(records))
        assert len(records) <= 1, name
        stands = [note.scope.partition("/")[0] for note in store.list() if note.text == "moves"]
        assert stands == ["global" if records else "workspace"], name
        assert {note.text for note in store.list()} == {"global one", "stays", "moves", "life goes on"}, name
        assert len(store.journal()) == 4 + len(records), name
        for scope in store.scopes:
            assert scope.memory_file.read_text().count("moves") == (scope.id.partition("/")[0] == stands[0]), name
            assert [temp.state for temp in door.temps(str(scope.memory_file)) if temp.state != "old"] == [], name
        if records:
            Archive(store).undo(records[0].n)
            assert store.get("moves").scope != "global", name
    assert outcomes == sorted(outcomes)
    assert set(outcomes) == {False, True}


def test_undo_killed_at_every_step(killed: Callable[..., list[Path]], root: Path, tmp_path: Path) -> None:
    """An undo is done whole or not at all, and one that was not done can be asked for again."""
    with Store(root, tmp_path / "lab") as store:
        store.remember_many([FRIDAYS, OTHER])
        n = store.revise(FRIDAYS, TUESDAYS, evidence="they moved").n
    for name, place, store in opened(killed(root, "undo", str(n)), tmp_path / "lab"):
        undone = any(record.fields.get("undoes") == str(n) for record in store.journal())
        expected = FRIDAYS if undone else TUESDAYS
        assert {note.text for note in store.list()} == {OTHER, expected, "life goes on"}, name
        if not undone:
            Archive(store).undo(n)
            assert (place / "global" / "MEMORY.md").read_text().count(FRIDAYS) == 1, name


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["rename", "truncate", "in-place"])
def test_purges_beside_an_editor_lose_nothing_but_the_purged_text(
    mode: str, root: Path, tmp_path: Path, git_repo: GitRepo
) -> None:
    """20 purges, half of them killed, beside an editor that logs what it saves: every line of it is there or told of.

    A buffer that was read before a purge may bring the text back into the file: it then stands in the file alone,
    is no note, and no other file under the root holds it, but for the predecessors of that file.
    """
    cwd = git_repo("lab")
    with Store(root, cwd) as store:
        store.remember("the first note")
        file = store.scopes[0].memory_file
    stop, log, saves_log = tmp_path / "stop", tmp_path / "purger.log", tmp_path / "editor.log"
    editor = subprocess.Popen([sys.executable, str(EDITOR), *map(str, (file, saves_log, stop, mode, 7))])
    purger = subprocess.Popen([sys.executable, str(PURGER), *map(str, (root, cwd, log, 7, 20))])
    try:
        assert purger.wait(400) == 0
    finally:
        purger.kill()
        stop.touch()
        assert editor.wait(60) == 0
    rounds, saves = ([json.loads(line) for line in path.read_text().splitlines()] for path in (log, saves_log))
    ((_, _, store),) = opened([root], cwd)
    text = file.read_text(encoding="utf-8", errors="replace")
    judge = runpy.run_path(str(EDITOR.with_name("check.py")))
    assert judge["lost_saves"](saves, store.journal(), text) == []
    purged = [one["text"] for one in rounds if one["purged"]]
    assert purged  # how many depends on the machine: a busy one gives an editor more time between look and exchange
    listed = {note.text for note in store.list()}
    for one in purged:
        assert one not in listed
        where = {
            re.sub(r"^\.MEMORY\.md\..+\.old$", "MEMORY.md", found.rpartition(":")[0]) for found in holding(root, one)
        }
        stale = any(f"- {one}" in save["lines"] for save in saves)
        assert where <= ({"MEMORY.md"} if stale else set()), (one, where)
    print(f"{mode}: {len(purged)} of {len(rounds)} purged, {len(saves)} saves")
