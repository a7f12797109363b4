"""Purge and unpurge as a person asks for them: look first, then do exactly what was shown, then prove it.

`look` lists what goes and changes nothing but what an observation journals. `purge` takes the lock again, looks
again, and refuses when more would go than was shown. Order: lock, recover, observe, plan file, purge record, then the
steps of `recover.carry_out`, proof, plan removed (store_rules 1).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from memory_magic.errors import ChangedMeanwhileError, NoSuchNoteError, UsageError
from memory_magic.store import gate
from memory_magic.store import journal_format as form
from memory_magic.store.bench import document_of, resolved
from memory_magic.store.files import read
from memory_magic.store.index import Source
from memory_magic.store.note import encode
from memory_magic.store.purge import erase, intent, lines, notes, places, proof, recover
from memory_magic.store.purge import tombstones as stones
from memory_magic.store.purge.plan import Live, Plan, Request, check, scopes_of_root, survey
from memory_magic.store.purge.sealed import seal
from memory_magic.store.replay import number_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memory_magic.store.access import Access
    from memory_magic.store.bench import Bench

    Progress = Callable[[int, int], None]

CONTAINS_COST: Final = (
    "every new text is compared piece by piece with what is forbidden (a moment for a long text), and whoever owns the"
    " root can test guesses against it quickly"
)
_SHARED: Final = 0.6
_WORDS: Final = 5


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge did: number of its record (0: nothing was there), what went, what the proof found."""

    n: int
    plan: Plan
    proof: proof.Proof
    notices: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Tell whether nothing under the root, and nothing beside it that can be seen, holds the text."""
        return not self.proof.traces and not self.plan.quoting


@dataclass(frozen=True, slots=True)
class Unpurged:
    """What an unpurge did: number of its record, how many texts are allowed again."""

    n: int
    marks: int


@dataclass(slots=True)
class _Held:
    """What came out of work under the lock."""

    plan: Plan | None = None
    n: int = 0
    proof: proof.Proof = field(default_factory=lambda: proof.Proof(0))
    notices: list[str] = field(default_factory=list)


def request_for(access: Access, target: str, *, scope: str | None = None, **options: Any) -> Request:
    """Return the request for the note that *target* means: an id (also of a note long gone) or its exact text."""
    from memory_magic.store.past import history

    found = history(access, target, scope=scope)
    if found.id.startswith(erase.PREFIX):
        raise NoSuchNoteError("this text was purged already", hint="the command journal shows when")
    return Request(one=found.id, **options)


def look(access: Access, request: Request) -> Plan:
    """Return what a purge of *request* would destroy."""
    access.require_writable()
    check(request)
    held = _Held()

    def work(bench: Bench) -> None:
        _observe(access, bench)
        held.plan = survey(access, bench, request)

    access.run(work)
    return held.plan or Plan(request, survey_nothing())


def survey_nothing() -> Any:
    """Return needles that find nothing."""
    from memory_magic.store.purge.search import Needles

    return Needles(())


def _observe(access: Access, bench: Bench) -> None:
    for scope in scopes_of_root(access.root):
        access.writer.observe(bench, scope)


def purge(
    access: Access,
    request: Request,
    *,
    shown: Plan | None = None,
    by: str | None = None,
    progress: Progress | None = None,
) -> Purged:
    """Destroy what *request* means; *shown* is what a person agreed to: `ChangedMeanwhileError` when more would go."""
    access.require_writable()
    check(request)
    held = _Held()
    author = access.signed(by, None)["by"]

    def work(bench: Bench) -> None:
        _observe(access, bench)
        plan = held.plan = survey(access, bench, request)
        held.notices = bench.notices
        if shown is not None and not plan.is_covered_by(shown):
            raise ChangedMeanwhileError("there is more to purge now than was shown", hint="look again, then say yes")
        if plan:
            held.n = _destroy(access, bench, plan, author, progress)
            held.plan = replace(plan, quoting=_as_they_stand(access, plan))
        held.proof = proof.search(access.root, plan.needles, beside(access))
        if plan:
            intent.drop(access.root)

    access.run(work)
    if held.plan is None:
        raise UsageError("nothing was purged")
    return Purged(held.n, held.plan, held.proof, tuple(held.notices))


def nothing(access: Access, plan: Plan) -> Purged:
    """Return the outcome where nothing is to be purged: what was asked for is searched for all the same."""
    return Purged(0, plan, proof.search(access.root, plan.needles, beside(access)))


def _destroy(access: Access, bench: Bench, plan: Plan, author: str, progress: Progress | None) -> int:
    root = access.root
    tried = _tried(plan)
    salt, marks = _marks(root, plan, progress)
    todo = _intent(root, bench.tail.n + 1, plan, stones.for_record(salt, marks) if marks else "")
    intent.write(root, todo)
    fields = {"erases": todo.erases, "tombstone": todo.tombstones, "by": _unquoting(plan, author)}
    record = bench.record([form.Draft("purge", {name: value for name, value in fields.items() if value})])[0]
    recover.carry_out(bench, root, todo, record, tried)
    return record.n


def _as_they_stand(access: Access, plan: Plan) -> tuple[Live, ...]:
    """Return the notes that stay though they quote the text, with the lines that they have now."""
    if not plan.quoting:
        return ()
    lines_now: dict[tuple[str, str], int] = {}
    for scope in scopes_of_root(access.root):
        path = resolved(scope.memory_file)
        document = document_of(scope, path, read(path))
        lines_now |= {(scope.id, one): note.block.line for one, note in document.notes.items()}
    return tuple(replace(note, line=lines_now.get((note.scope, note.id), note.line)) for note in plan.quoting)


def _unquoting(plan: Plan, author: str) -> str:
    """Return who asks, unless that holds the purged text itself."""
    return "" if plan.needles.is_held_by(author) else author


def _tried(plan: Plan) -> dict[str, notes.Tried]:
    """Return what becomes of each memory file; raise, before anything is destroyed, where one cannot be written so."""
    found = {}
    for scope, document in plan.documents.items():
        ids = frozenset(note.id for note in plan.live if note.scope == scope)
        if ids:
            document.require_writable()
            after = notes.Forget(scope, ids, whole=plan.request.scope == scope).apply(document)
            found[scope] = notes.Tried(encode(document.text), encode(after.text))
    return found


def _marks(root: Path, plan: Plan, progress: Progress | None) -> tuple[str, list[stones.Mark]]:
    """Return the root's salt and the tombstones of this purge."""
    salt = stones.load(root).salt or stones.new_salt()
    marks = []
    for at, text in enumerate(plan.forbidden, start=1):
        marks.append(stones.text_mark(salt, stones.normal(text)))
        if progress is not None:
            progress(at, len(plan.forbidden))
    if plan.request.forbid:
        marks.append(stones.contains_mark(salt, stones.normal(plan.request.text)))
    if plan.request.session and plan.request.tombstone:
        marks.append(stones.session_mark(salt, plan.request.session))
    return salt, list(dict.fromkeys(marks))


def _intent(root: Path, n: int, plan: Plan, tombstone: str) -> intent.Intent:
    key = os.urandom(16)
    live: dict[str, list[str]] = {}
    for note in plan.live:
        live.setdefault(note.scope, []).append(note.id)
    marks = [erase.mark_of(key, piece) for piece in plan.finds.loose]
    names = []
    for one in plan.lines:
        name = one.path.relative_to(root).as_posix().encode("utf-8", "surrogateescape")
        if one.whole:
            names.append(erase.mark_of(key, name))
        else:
            marks += lines.marks_in(one.path, plan.needles, key)
    names += [
        lines.RENAME + erase.mark_of(key, found.relative.encode("utf-8", "surrogateescape"))
        for found in places.walk(root)
        if found.place.kind == places.LINES and lines.name_without_text(found.path, plan.needles)
    ]
    copies = [
        erase.mark_of(key, path.relative_to(root).as_posix().encode("utf-8", "surrogateescape")) for path in plan.copies
    ]
    return intent.Intent(
        n=n,
        key=key.hex(),
        ids=erase.aliases(n, sorted(plan.finds.ids)),
        live=live,
        scopes=[plan.request.scope] if plan.request.scope else [],
        erases=erase.as_list(plan.finds.fields),
        tombstones=tombstone,
        lines=marks,
        files=names,
        copies=copies,
        needles=seal(plan.needles, key),
    )


def beside(access: Access) -> list[Path]:
    """Return files outside the root that hold memory, too, and can be seen from here."""
    folder = access.store.settings.cwd_dir
    here = [access.store.cwd, *access.store.cwd.parents]
    return [path for place in here if (path := place / folder / "memory.md").is_file()]


def similar(plan: Plan, live: list[tuple[str, str]]) -> list[tuple[str, int, int]]:
    """Return the notes of *live* (id, text) that share most words with a purged text: id, shared, all words."""
    found = []
    for one, text in live:
        words = set(text.casefold().split())
        for gone in plan.needles.texts:
            wanted = set(gone.casefold().split())
            shared = len(words & wanted)
            if len(wanted) >= _WORDS and shared >= _SHARED * len(wanted):
                found.append((one, shared, len(wanted)))
                break
    return found


# -- unpurge --------------------------------------------------------------------------------------------------------


def unpurge(access: Access, target: str, *, evidence: str | None = None, by: str | None = None) -> Unpurged:
    """Allow a purged text again: *target* is that text, a session's id, or `#n`, the number of a purge record."""
    access.require_writable()
    if not target.strip():
        raise UsageError("say which text may come back, or #n: the number of the purge")
    done: list[Unpurged] = []

    def work(bench: Bench) -> None:
        recover.heal(bench, access.root)
        there = stones.load(access.root)
        marks = _named(there, target.strip())
        if not marks:
            raise NoSuchNoteError(
                "no purge forbids this text", hint="the command journal shows the purges; unpurge #n takes one of them"
            )
        extra = {name: value for name, value in access.signed(by, evidence).items() if value}
        record = bench.record([form.Draft("unpurge", {"tombstone": stones.for_record(there.salt, marks)} | extra)])[0]
        bench.tell(_doubting)
        stones.save(access.root, there.without(marks))
        done.append(Unpurged(record.n, len(marks)))

    access.run(work)
    return done[-1]


def _doubting(index: Any) -> None:
    """Let every file be read anew: a text that was kept out of sight may be a note again."""
    for scope in index.scopes():
        source = index.source(scope)
        if source is not None:
            index.put_source(Source(scope, source.path, source.signature, "", source.place))


def _named(there: stones.Tombstones, target: str) -> list[stones.Mark]:
    number = target.removeprefix("#")
    if target.startswith("#") and number.isdecimal():
        return [mark for mark, n in there.marks.items() if n == number_of(number)]
    if not there:
        return []
    cleaned = {stones.normal(target), stones.normal(gate.clean(target).text)}
    wanted = {stones.text_mark(there.salt, text) for text in cleaned}
    wanted |= {stones.contains_mark(there.salt, text) for text in cleaned}
    wanted.add(stones.session_mark(there.salt, target))
    return [mark for mark in there.marks if mark in wanted]
