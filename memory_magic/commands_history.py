"""Commands on the past: history, undo, restore, promote, approve, reject, export, import; journal, verify, list --at.

The same rules as in `commands_notes`: an `Outcome` with the JSON that programs rely on, and beside it what only people
need. Their rows of the table of commands are in `commands_history_rows`, their printers in `commands_history_print`.
"""

from __future__ import annotations

import re
import unicodedata
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memory_magic import commands_notes as notes
from memory_magic import commands_store as plain_commands
from memory_magic.commands_base import Outcome
from memory_magic.commands_notes import labels, redacted
from memory_magic.errors import MemoryMagicError, UsageError

if TYPE_CHECKING:
    from memory_magic.commands_base import Context
    from memory_magic.store.archive import Archive
    from memory_magic.store.history import Moment
    from memory_magic.store.records import JournalRecord, Written
    from memory_magic.store.replay import Known
    from memory_magic.store.store import Store

_HEX: Final = re.compile(r"[0-9a-f]{8,64}")
_UNDO: Final = "undo"


def _archive(context: Context) -> tuple[Store, Archive]:
    from memory_magic.store.archive import Archive

    store = context.store()
    return store, Archive(store)


def _words(value: str | list[str]) -> str:
    return value if isinstance(value, str) else " ".join(value)


def _people(store: Store, *ids: str) -> dict[str, Any]:
    """Return what people see beside the JSON."""
    return {"labels": labels(store), "short": {one: store.short_id(one) for one in ids if one}}


# -- looking back ---------------------------------------------------------------------------------------------------


def history(context: Context, args: Namespace) -> Outcome:
    """Show every version of a note, who changed it and why."""
    store, archive = _archive(context)
    found = archive.history(_words(args.target), scope=args.scope)
    data = {
        "id": found.id,
        "live": list(found.live),
        "records": [
            _record_json(record) | {"cancelled": record.n in found.cancelled, "undone_by": found.undone.get(record.n)}
            for record in found.records
        ],
        "hidden": found.hidden,
    }
    return Outcome("history", data, _people(store, found.id, *found.live))


def _record_json(record: JournalRecord) -> dict[str, Any]:
    """Return a record as programs see it, with what it says of other records and scopes."""
    fields = record.fields
    more = {"to": fields.get("to"), "undoes": _number(fields.get("undoes")), "cancels": _number(fields.get("cancels"))}
    return plain_commands.record_json(record) | more | {"erased": sorted(record.erased)}


def _number(text: str | None) -> int | None:
    from memory_magic.store.replay import number_of

    return number_of(text or "") or None


def list_notes(context: Context, args: Namespace) -> Outcome:
    """List the notes that are visible here, or that were at a moment."""
    if args.at is None:
        return notes.list_notes(context, args)
    store, archive = _archive(context)
    moment = archive.state_at(args.at, scope=args.scope)
    now = {note.id for note in store.list(args.scope)}
    then = [_known_json(scope, note) for scope, note in _all(moment)]
    data = {"n": moment.n, "time": moment.time or None, "notes": then}
    extra = {"gone": sorted({note["id"] for note in then} - now), "later": len(now - {note["id"] for note in then})}
    return Outcome("moment", data, extra | _people(store, *(note["id"] for note in then)))


def _all(moment: Moment) -> list[tuple[str, Known]]:
    """Return the notes of all scopes: pinned first, then newest first."""
    found = [(scope, note) for scope, known in moment.notes.items() for note in known]
    return sorted(found, key=lambda pair: (not pair[1].pinned, -pair[1].n))


def _known_json(scope: str, note: Known) -> dict[str, Any]:
    return {
        "id": note.id,
        "text": redacted(note.text),
        "scope": scope,
        "created": note.created,
        "by": redacted(note.by),
        "pinned": note.pinned,
        "n": note.n,
    }


def journal(context: Context, args: Namespace) -> Outcome:
    """Show who changed what, when and why, as far as the options ask for it."""
    everything = plain_commands.journal(context, Namespace(**(vars(args) | {"limit": None})))
    records = everything.data["records"]
    if args.since or args.action or args.by or args.grep:
        records = _chosen(context, records, args)
    limited = records[-args.limit :] if args.limit else records
    data = everything.data | {"records": limited}
    asked = bool(args.limit or args.since or args.action or args.by or args.grep)
    return Outcome("journal", data, everything.extra | {"limit": asked or None}, everything.status)


def _fold(text: str) -> str:
    """Return *text* as --by and --grep compare it."""
    return unicodedata.normalize("NFKC", text).casefold()


def _chosen(context: Context, records: list[dict[str, Any]], args: Namespace) -> list[dict[str, Any]]:
    """Return the records that fit all options."""
    from memory_magic.store.history import read_moment
    from memory_magic.store.journal import utc_now

    since = read_moment(args.since, utc_now()) if args.since else ""
    actions = {word for words in args.action or [] for word in words.split(",")}
    by, sought = _fold(args.by or ""), _fold(args.grep or "")
    undone = set()
    if _UNDO in actions:
        from memory_magic.store.history import undoes

        undone = {record.n for record in context.store().journal() if undoes(record)}

    def fits(record: dict[str, Any]) -> bool:
        reached = record["n"] >= since if isinstance(since, int) else record["time"] >= since
        acted = not actions or record["action"] in actions or record["n"] in undone
        texts = (record["before"], record["after"], record["evidence"], record["by"], record["id"], record["new_id"])
        return (
            reached
            and acted
            and by in _fold(record["by"] or "")
            and (not sought or any(sought in _fold(text) for text in texts if text))
        )

    return [record for record in records if fits(record)]


def verify(context: Context, args: Namespace) -> Outcome:
    """Check every record of the journal against its chain, and whether it still has a head that was noted before."""
    outcome = plain_commands.verify(context, args)
    if args.head is None:
        return outcome
    head = args.head.strip().lower()
    if not _HEX.fullmatch(head):
        raise UsageError("a head is 8 to 64 hexadecimal digits", hint="the command verify shows the present one")
    _, archive = _archive(context)
    n = archive.number_of_head(head)
    faults = list(outcome.data["faults"])
    if n is None:
        faults.append(
            f"the journal has no record with the head {head[:16]}: its end was cut off after that head was noted, "
            "or it is the journal of another store"
        )
    data = outcome.data | {"ok": not faults, "faults": faults, "anchor": {"head": head, "n": n}}
    data["verified"] = outcome.data["verified"] | {"ok": not faults}
    return Outcome("verified", data, outcome.extra, status=1 if faults else 0)


# -- changing -------------------------------------------------------------------------------------------------------


def undo(context: Context, args: Namespace) -> Outcome:
    """Take changes back, the newest first; what was taken back before a refusal stays so."""
    store, archive = _archive(context)
    numbers = sorted({_record_number(word) for word in args.n}, reverse=True)
    done: list[tuple[int, Written]] = []
    failed: dict[str, Any] | None = None
    for n in numbers:
        try:
            done.append((n, archive.undo(n, evidence=args.evidence, scope=args.scope)))
        except MemoryMagicError as error:
            if not done:
                raise
            failed = {"n": n, "why": redacted(str(error))}
            break
    data = {"undone": [{"undoes": n, **_written_json(written)} for n, written in done], "failed": failed}
    notices = list(dict.fromkeys(notice for _, written in done for notice in written.notices))
    extra = _people(store, *(written.id for _, written in done)) | {"notices": notices}
    texts = {one.id: _text(store, one) for _, one in done}
    return Outcome("undone", data, extra | {"texts": texts}, status=1 if failed else 0)


def _record_number(word: str) -> int:
    """Return the number that a person wrote: 412 or #412."""
    from memory_magic.store.replay import number_of

    number = number_of(word.removeprefix("#"))
    if not number:
        raise UsageError(f"{redacted(word)!r} is no record's number", hint="they stand in the first column of journal")
    return number


def _written_json(written: Written) -> dict[str, Any]:
    return {
        "id": written.id,
        "old_id": written.old_id,
        "scope": written.scope,
        "path": written.path,
        "line": written.line or None,
        "n": written.n or None,
    }


def _text(store: Store, written: Written) -> str:
    """Return what the note reads now; nothing where it is out of use."""
    try:
        return redacted(store.get(written.id, scope=written.scope).text)
    except LookupError:
        return ""


def _changed(store: Store, written: Written, action: str, sentence: str) -> Outcome:
    data = _written_json(written)
    extra = _people(store, written.id) | {
        "action": action,
        "said": sentence,
        "status": written.status,
        "text": _text(store, written),
        "notices": list(written.notices),
    }
    return Outcome("turned", data, extra)


def restore(context: Context, args: Namespace) -> Outcome:
    """Bring a retired note back."""
    store, archive = _archive(context)
    written = archive.restore(_words(args.target), evidence=args.evidence, scope=args.scope)
    return _changed(store, written, "restored", "Restored in {scope}")


def promote(context: Context, args: Namespace) -> Outcome:
    """Move a note to another scope."""
    store, archive = _archive(context)
    target = _words(args.target)
    before = store.get(target, scope=args.scope).scope
    written = archive.promote(target, to=args.to, evidence=args.evidence, scope=args.scope)
    outcome = _changed(store, written, "moved", "Moved from {source} to {scope}")
    return Outcome(outcome.kind, outcome.data | {"from": before}, outcome.extra | {"source": before})


def approve(context: Context, args: Namespace) -> Outcome:
    """Stand by a note."""
    store, archive = _archive(context)
    written = archive.approve(_words(args.target), evidence=args.evidence, scope=args.scope)
    return _changed(store, written, "approved", "Approved in {scope}")


def reject(context: Context, args: Namespace) -> Outcome:
    """Take a note out that nobody should be told."""
    store, archive = _archive(context)
    written = archive.reject(_words(args.target), evidence=args.evidence, scope=args.scope)
    return _changed(store, written, "rejected", "Rejected, and taken out of {scope}")


# -- out and in -----------------------------------------------------------------------------------------------------


def export(context: Context, args: Namespace) -> Outcome:
    """Write notes, or notes and history, to a file or to the screen; or an audit bundle."""
    store, archive = _archive(context)
    if args.bundle is not None:
        if args.file is not None or args.history or args.markdown:
            raise UsageError("a bundle holds notes and history already", hint="give --bundle FILE alone")
        bundle = archive.bundle(_target(context, args.bundle, yes=args.yes), scope=args.scope)
        return _exported(store, bundle, "", "bundle")
    path = _target(context, args.file, yes=args.yes) if args.file is not None else None
    style = "markdown" if args.markdown else "jsonl"
    told, text = archive.export(path, scope=args.scope, history=args.history, style=style)
    return _exported(store, told, text, style)


def _target(context: Context, name: str, *, yes: bool) -> Path:
    """Return the file to write; a file that is there is replaced only when the person says so."""
    path = Path(name).expanduser()
    if path.is_file():
        context.confirm(f"{redacted(str(path))} is there already. Replace it?", yes=yes)
    return path


def _exported(store: Store, told: Any, text: str, style: str) -> Outcome:
    data: dict[str, Any] = {
        "path": told.path or None,
        "style": style,
        "scopes": told.scopes,
        "notes": told.notes,
        "records": told.records,
        "head": told.head or None,
    }
    if not told.path:
        data["text"] = text
    return Outcome("exported", data, {"notices": list(told.notices), "root": str(store.root)})


def import_from(context: Context, args: Namespace) -> Outcome:
    """Take notes over from a file or another store."""
    store, archive = _archive(context)
    progress = context.progress

    def report(done: int, total: int) -> None:
        if progress is not None:
            progress(f"{done:,} of {total:,} notes")

    told = archive.import_from(
        Path(args.path).expanduser(),
        scope=args.scope,
        history=args.history,
        on_conflict=args.on_conflict,
        progress=report,
    )
    data = {
        "source": redacted(told.name),
        "scopes": told.scopes,
        "added": told.added,
        "same": told.same,
        "skipped": told.skipped,
        "overwritten": told.overwritten,
        "tombstoned": told.tombstoned,
        "records": told.records,
        "refused": [redacted(reason) for reason in told.refused],
        "redacted": dict(told.redacted),
    }
    extra = {"notices": [redacted(notice) for notice in told.notices], **_people(store)}
    return Outcome("imported", data, extra, status=1 if told.refused else 0)
