"""Carrying a purge out, and finishing one that a crash interrupted: the same steps, each of which may be repeated.

Order (store_rules 1): tombstones, notes, journal, lines of other files, left-overs, copies, index. The purge record
is in the journal before any of them; the plan file goes after all of them, and after the proof: who finishes the purge
of somebody else has no text of it, and proves it by what the plan holds sealed.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from memory_magic.errors import MemoryMagicError
from memory_magic.store import files
from memory_magic.store.bench import resolved
from memory_magic.store.follow import follow_from_start
from memory_magic.store.index import DamagedIndexError
from memory_magic.store.purge import erase, intent, ledger, lines, notes, places, proof
from memory_magic.store.purge import tombstones as stones
from memory_magic.store.purge.plan import scopes_of_root
from memory_magic.store.purge.sealed import SealedNeedles

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from memory_magic.store.bench import Bench
    from memory_magic.store.purge.intent import Intent
    from memory_magic.store.records import JournalRecord

_healed: dict[str, tuple[files.Signature, list[tuple[int, int]]]] = {}
_NAMED: Final = 5
STALE: Final = 60.0  # seconds after which a temp file of another process counts as left over


def settle(bench: Bench, root: Path) -> None:
    """Finish or drop an interrupted purge, and let tombstones.md hold what the purge records hold; under the lock."""
    if intent.exists(root):
        _settle_plan(bench, root)
    purges = bench.index.purges()
    now = files.stat_file(f"{root}/{stones.FILE_NAME}"), purges
    if purges and _healed.get(str(root)) != now:
        heal(bench, root)
        _healed[str(root)] = files.stat_file(f"{root}/{stones.FILE_NAME}"), purges


def _settle_plan(bench: Bench, root: Path) -> None:
    try:
        plan = intent.read(root)
    except intent.UnreadableIntentError:
        return  # doctor tells of it; a new purge replaces it
    if plan is None:
        return
    record = record_of(bench, plan)
    if record is None:
        intent.drop(root)
        return
    try:
        carry_out(bench, root, plan, record)
    except MemoryMagicError as error:
        bench.notices.append(f"the purge of record {plan.n} is not finished: {error}")
        return
    follow_from_start(bench)
    found = proof.search(root, SealedNeedles(plan.needles, plan.key_bytes, plan.ids))
    intent.drop(root)
    bench.notices.append(f"the purge of record {plan.n}, which was interrupted, is finished: {_outcome(root, found)}")


def _outcome(root: Path, found: proof.Proof) -> str:
    """Return what the proof of a purge found, in words."""
    if not found.traces:
        return f"none of {found.files:,} files under the root holds it any more"
    places_left = list(dict.fromkeys(_where(root, trace) for trace in found.traces))
    more = len(places_left) - _NAMED
    rest = f" and {more:,} more places" if more > 0 else ""
    return f"it still stands in {', '.join(places_left[:_NAMED])}{rest}"


def _where(root: Path, trace: proof.Trace) -> str:
    path = trace.path.removeprefix(f"{root}/")
    return f"{path}:{trace.line}" if trace.line else path


def record_of(bench: Bench, plan: Intent) -> JournalRecord | None:
    """Return the purge record that *plan* belongs to, if it was written."""
    found = (record for record in bench.journal.read(bench.index.purges()) if record.n == plan.n)
    return next((one for one in found if one.action == "purge" and one.fields.get("erases", "") == plan.erases), None)


def heal(bench: Bench, root: Path) -> None:
    """Write tombstones.md anew where it lacks what the purge records hold, or holds what was unpurged."""
    there = stones.load(root)
    together = stones.united(there, bench.journal.read(bench.index.purges()))
    if together.salt and together != there:
        stones.save(root, together)


def carry_out(
    bench: Bench, root: Path, plan: Intent, record: JournalRecord, tried: Mapping[str, notes.Tried] | None = None
) -> None:
    """Do every step of a purge whose record is written; done steps are found done.

    *tried*: what taking the notes out made of each scope's file before the record was written.
    """
    _bury(root, record)
    for scope in scopes_of_root(root):  # of each, for a predecessor beside any file may hold the text
        ids = frozenset(plan.live.get(scope.id, ()))
        operation = notes.Forget(scope.id, ids, whole=scope.id in plan.scopes)
        notes.take_out(bench, scope, operation, record, (tried or {}).get(scope.id))
    key, marks = plan.key_bytes, frozenset(plan.lines)
    listed = erase.from_list(plan.erases)
    path = resolved(bench.journal.path)
    erase.rewrite(path, listed, plan.ids, lambda piece: bool(marks) and erase.mark_of(key, piece) in marks)
    lines.carry_out(root, marks, frozenset(plan.files), key)
    ledger.carry_out(root, marks, plan.scopes, key)
    _sweep(root, plan)
    _delete_caches(bench, root)


def _bury(root: Path, record: JournalRecord) -> None:
    salt, marks = stones.in_record(record)
    if not marks:
        return
    there = stones.load(root)
    stones.save(root, stones.Tombstones(there.salt or salt, there.marks).with_marks(marks, record.n))


def _sweep(root: Path, plan: Intent) -> None:
    """Remove left-overs of crashed writers, which may hold anything, and the copies that a person let go."""
    key = plan.key_bytes
    for found in list(places.walk(root)):
        if (found.place.kind == places.TEMP and _is_left_over(found)) or (
            plan.copies and erase.mark_of(key, _name(found)) in plan.copies
        ):
            files.remove(str(found.path))
    for one in plan.scopes:
        folder = root / one
        for path in sorted(folder.rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
                path.rmdir()
        if one != "global" and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _name(found: places.Found) -> bytes:
    return found.relative.encode("utf-8", "surrogateescape")


def _is_left_over(found: places.Found) -> bool:
    """Tell whether nobody is at work on a temp file: the lock is ours, so those of writers are left over."""
    import time

    name = found.path.name
    ends = (".part", ".kept", lines.TEMP_END)
    if name.startswith((".JOURNAL.md.", ".tombstones.md.")) or name.endswith(ends):
        return True
    try:
        age = time.time() - found.path.lstat().st_mtime
    except OSError:
        return False
    return name.endswith(".tmp") and age > STALE


def _delete_caches(bench: Bench, root: Path) -> None:
    """Delete index and job queue; what the journal was known to have reached is kept, for verify."""
    try:
        anchor = bench.index.meta("anchor")
    except (sqlite3.Error, DamagedIndexError):
        anchor = None
    bench.index.delete()
    for found in list(places.walk(root)):
        if found.place.kind == places.CACHE:
            files.remove(str(found.path))
    bench.pending.clear()
    bench.tail = bench.journal.tail()
    if anchor is not None:
        with bench.index.transaction():
            bench.index.set_meta("anchor", anchor)
