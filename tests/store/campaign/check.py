"""The verdict after a campaign: `check.py ROOT CWD WRITER_LOG EDITOR_LOG` prints {"faults": […], "figures": {…}}.

The judge uses the store only to bring it to rest and to ask for its own opinion. Replay, comparison with the files and
the hunt for lost saves are written anew here, from the journal's fields and the bytes on disk.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_magic import Store

if TYPE_CHECKING:
    from memory_magic.store.records import JournalRecord

MARK = "- editor "
# clocks of two processes and the moment between a save and its log line
SLACK = 1.0
Entry = dict[str, Any]
State = dict[tuple[str, str], bool]


def entries(path: Path) -> list[Entry]:
    """Read a log of JSON lines; a killed writer may have left no log at all."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def replayed(records: list[JournalRecord]) -> State:
    """Return (scope, id) -> pinned as the journal tells it, cancelled records left out."""
    cancelled = {record.fields["cancels"] for record in records if record.action == "cancel"}
    state: State = {}
    for record in records:
        if record.n and str(record.n) not in cancelled:
            follow(state, record)
    return state


def follow(state: State, record: JournalRecord) -> None:
    """Apply one record."""
    old, new = (record.scope, record.id or ""), (record.scope, record.new_id or record.id or "")
    marked = record.fields.get("pinned") == "yes"
    if record.action in {"pin", "unpin"}:
        state[old] = record.action == "pin"
    elif record.action == "retire":
        state.pop(old, None)
    elif record.action == "observe" and not {"before", "after"} & set(record.fields):
        state[old] = marked
    elif record.action in {"remember", "revise", "observe"}:
        was = state.pop(old, False) if record.action == "revise" or "before" in record.fields else False
        if "after" in record.fields:
            carried = was and record.action == "revise"
            state[new] = marked or carried or state.get(new, False)


def compare_replay(store: Store, records: list[JournalRecord]) -> list[str]:
    """Compare the journal's state with what the store lists."""
    told = replayed(records)
    listed = {(note.scope, note.id): note.pinned for note in store.list("all")}
    return [
        f"journal and list differ at {key}: {told.get(key)} against {listed.get(key)}"
        for key in sorted(told.keys() | listed.keys())
        if told.get(key) != listed.get(key)
    ]


def compare_files(store: Store) -> list[str]:
    """Compare the first line of each listed note with the top-level items of the files."""
    faults = []
    for scope in store.scopes:
        text = scope.memory_file.read_text("utf-8", errors="replace") if scope.memory_file.exists() else ""
        there = Counter(line[2:].strip() for line in text.splitlines() if re.match(r"- \S", line))
        listed = Counter(note.text.splitlines()[0].strip() for note in store.list(scope.id))
        faults += [f"{scope.id}: only in the file: {line}" for line in there - listed]
        faults += [f"{scope.id}: only in the list: {line}" for line in listed - there]
        faults += [f"{scope.id}: {count} times in the file: {line}" for line, count in there.items() if count > 1]
        rest = [path.name for path in scope.path.glob(".MEMORY.md.*") if not path.name.endswith(".old")]
        faults += [f"{scope.id}: left behind: {name}" for name in rest]
    return faults


def lost_changes(log: list[Entry], records: list[JournalRecord]) -> list[str]:
    """List the acknowledged changes that the journal does not have, or has cancelled."""
    cancelled = {record.fields["cancels"] for record in records if record.action == "cancel"}
    numbered = {record.n: record for record in records}
    faults = []
    for entry in log:
        if "error" in entry:
            faults.append(f"unexpected error of writer {entry['seed']}: {entry['error']}")
        if "op" not in entry or not entry["n"]:
            continue
        record = numbered.get(entry["n"])
        ids = (record.id, record.new_id) if record else ()
        if record is None or record.action != entry["op"] or entry["id"] not in ids:
            faults.append(f"acknowledged but not in the journal: {entry}")
        elif str(record.n) in cancelled:
            faults.append(f"acknowledged and then cancelled: {entry}")
    return faults


def first_line(record: JournalRecord, name: str) -> str:
    """Return the first line of a field as it stands in the file."""
    return "- " + (record.fields.get(name, "").splitlines() or [""])[0]


def lost_saves(saves: list[Entry], records: list[JournalRecord], text: str) -> list[str]:
    """List lines that the editor saved and that are neither in the file nor journalled as gone, and the reverse.

    What the editor itself took out again may have come and gone without the store ever seeing it.
    """
    there = set(text.splitlines())
    came = {first_line(record, "after") for record in records if "after" in record.fields}
    gone = {first_line(record, "before") for record in records if "before" in record.fields}
    held: dict[str, int] = {}
    removed: dict[str, int] = {}
    for save in saves:
        held |= dict.fromkeys((line for line in save["lines"] if line.startswith(MARK)), save["k"])
        removed |= dict.fromkeys(save["removed"], save["k"])
    faults = []
    for line, k in held.items():
        if removed.get(line, 0) < k:
            faults += [f"saved ({k}) and lost: {line}"] if line not in there | gone else []
        elif line in there:
            faults.append(f"taken out ({removed[line]}) and back again: {line}")
        elif line in came - gone:
            faults.append(f"taken out ({removed[line]}) without a record: {line}")
    return faults


def unexplained(saves: list[Entry], records: list[JournalRecord], edited: str) -> list[tuple[bool, str]]:
    """List `observe` records that no save explains, each with whether it is the last word on its note.

    An editor that truncates may be seen half-way: what is journalled as gone and found again a moment later is noise.
    A note that stays away, or a line that stays, without anybody's doing is a fault of the store's.
    """
    last: dict[tuple[str, str], int] = {}
    for record in records:
        last |= {(record.scope, one): record.n for one in (record.id, record.new_id) if one}
    times = [save["saved"] for save in saves]
    held = [frozenset(save["lines"]) for save in saves]
    first_held: dict[str, float] = {}
    for when, lines in zip(times, held, strict=True):
        for line in lines:
            first_held.setdefault(line, when)
    made: dict[str, float] = {}
    found = []
    for record in records:
        when = dt.datetime.fromisoformat(record.time).timestamp()
        if record.action == "observe" and "before" in record.fields:
            line, born = first_line(record, "before"), made.get(record.id or "", 0.0)
            window = slice(bisect_left(times, born - SLACK), bisect_right(times, when + SLACK))
            if record.scope != edited or all(line in lines for lines in reversed(held[window])):
                ends = last[record.scope, record.id or ""] == record.n
                found.append((ends, f"record {record.n} takes out what nobody took out: {line}"))
        if record.action == "observe" and "after" in record.fields:
            line = first_line(record, "after")
            if record.scope != edited or first_held.get(line, when + 2 * SLACK) > when + SLACK:
                ends = last[record.scope, record.new_id or record.id or ""] == record.n
                found.append((ends, f"record {record.n} finds what nobody wrote by hand: {line}"))
        made[record.new_id or record.id or ""] = when
    return found


def main(root: Path, cwd: Path, writer_log: Path, editor_log: Path) -> dict[str, object]:
    """Bring the store to rest, then judge it."""
    log, saves = entries(writer_log), entries(editor_log)
    with Store(root, cwd) as store:
        settled = len(store.observe())
    store = Store(root, cwd)
    faults = [f"observe is not at rest: {record.n} {record.action}" for record in store.observe()]
    verdict = store.verify()
    faults += [] if verdict.ok else [f"chain: {fault}" for fault in verdict.faults]
    records = store.journal()
    faults += [f"number {record.n} at place {place}" for place, record in enumerate(records, 1) if record.n != place]
    faults += compare_replay(store, records) + compare_files(store) + lost_changes(log, records)
    edited = store.scopes[0]
    text = edited.memory_file.read_text("utf-8", errors="replace") if edited.memory_file.exists() else ""
    oddities = unexplained(saves, records, edited.id)
    faults += lost_saves(saves, records, text) + [oddity for ends, oddity in oddities if ends]
    before = store.list("all")
    store.close()
    for path in root.glob("index.sqlite3*"):
        path.unlink()
    with Store(root, cwd) as fresh:
        pairs = zip(before, fresh.list("all"), strict=False)
        faults += [f"a new index lists {new} instead of {old}" for old, new in pairs if old != new][:3]
        faults += [f"a new index observes: {record.action} {record.fields}" for record in fresh.observe()]
    figures = {
        "settled": settled,
        "kills": sum(entry.get("kills", 0) for entry in log),
        "records": len(records),
        "acknowledged": sum("op" in entry for entry in log),
        "refused": Counter(entry["refused"] for entry in log if "refused" in entry),
        "actions": Counter(record.action for record in records),
        "noise": sum(not ends for ends, _ in oddities),
        "saves": len(saves),
        "notes": len(before),
    }
    return {"faults": faults, "figures": figures}


if __name__ == "__main__":
    print(json.dumps(main(*map(Path, sys.argv[1:5])), ensure_ascii=False))
