"""Commands on single notes: remember, search, get, list, revise, retire, pin, unpin.

Each returns an `Outcome` whose data are the JSON keys that programs rely on: ids in full, times as ISO 8601 in UTC,
every text redacted once more (a secret that was typed into a file by hand must not come out here). What only people
need (the scope's label, sentences of the store, short ids) stands in `extra`.

Headroom is what a write leaves of the notes part of the next block. It is computed here, from the same pure
`text.budget.choose` that the block uses, so that the reply after a write and the block never disagree.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from memory_magic.commands_base import Outcome
from memory_magic.errors import NoteError, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Sequence

    from memory_magic.commands_base import Context
    from memory_magic.store.records import Hit, Note, Written
    from memory_magic.store.store import Store

LONG_NOTE: Final = 600
"""Characters from which a note is more likely an instruction that belongs in AGENTS.md (codewhale.md 3)."""

LONG_NOTE_ADVICE: Final = (
    "That is a long note ({count:,} characters). Instructions of more than a few sentences work better in AGENTS.md "
    "or a skill; a note should be one fact or preference."
)
SHORT: Final = 10
FEW: Final = 64
ALL_SCOPES: Final = "all"
_OPTION_LAST: Final = re.compile(r"\s(--pin|(?:-s|--scope)[\s=]\S+)\s*\Z")


def redacted(text: str) -> str:
    """Return *text* without secrets."""
    from memory_magic.text.redact import redact

    return redact(text).text


def note_json(
    note: Note, score: float | None = None, *, with_score: bool = True, suspicious: str | None = None
) -> dict[str, Any]:
    """Return a note as programs see it; *suspicious* is why it is kept out of every block."""
    data: dict[str, Any] = {"id": note.id, "text": redacted(note.text), "scope": note.scope}
    data |= {"path": note.path, "line": note.line}
    if with_score:
        data["score"] = score
    data |= {"created": note.created, "by": note.by and redacted(note.by), "pinned": note.pinned}
    return data | {"suspicious": suspicious or None}


def reasons(store: Store, notes: Iterable[Note]) -> dict[str, str]:
    """Return by id why notes look like attacks on the assistant, but for those that a person approved."""
    from memory_magic.store.reviewing import suspicious

    return suspicious(store, notes)


def remember(context: Context, args: Namespace) -> Outcome:
    """Save one note, or say that it is there already."""
    text = args.text if isinstance(args.text, str) else " ".join(args.text)
    if text == "-":
        text = _from_stdin()
    if not text.strip():
        hint = f"write a text: {context.typed or context.run('remember')} TEXT"
        # no word at all is wrong use; a text that is empty (a variable, an empty file) is a note that cannot be
        raise (
            NoteError("the note is empty", hint=hint)
            if args.text
            else UsageError("there is nothing to remember", hint=hint)
        )
    _no_reading_scope(args.scope)
    store = context.store()
    written = store.remember(text, scope=args.scope, pin=args.pin)
    notices = list(written.notices)
    if len(text) > LONG_NOTE:
        notices.append(LONG_NOTE_ADVICE.format(count=len(text)))
    if never := _never_fits(store, written):
        notices.append(never)
    if slip := _OPTION_LAST.search(text):
        notices.append(f"“{slip[1]}” is part of the note: options come before the text.")
    suspicious = _suspicion(store, written)
    if suspicious:
        notices.append(kept_out(suspicious, context, store.short_id(written.id)))
    data = {
        "id": written.id,
        "scope": written.scope,
        "path": written.path,
        "line": written.line,
        "status": "saved" if written.status == "saved" else "duplicate",
        "suspicious": suspicious or None,
        "redacted": dict(written.redacted),
        "headroom": headroom(store, written.scope),
    }
    extra = {"text": _as_kept(store, written), "pinned": args.pin, "notices": notices, **_people(store, written)}
    return Outcome("remembered", data, extra)


def kept_out(reason: str, context: Context, short: str) -> str:
    """Return the sentence that says why a note reaches no assistant, and what to do about it."""
    approve, reject = context.run(f"approve {short}"), context.run(f"reject {short} --evidence WHY")
    return (
        f"▲ Suspicious: it {reason}. It is kept and reaches no assistant until you look at it: {approve}, or {reject}"
    )


def _suspicion(store: Store, written: Written) -> str:
    """Return why the note that was just written looks like an attack, or an empty text."""
    try:
        return reasons(store, [store.get(written.id)]).get(written.id, "")
    except LookupError:  # somebody retired it in this instant
        return ""


def _as_kept(store: Store, written: Written) -> str:
    """Return the note's text as it was saved: the reply must not repeat what was taken out."""
    try:
        return redacted(store.get(written.id).text)
    except LookupError:  # somebody retired it in this instant
        return ""


def _from_stdin() -> str:
    """Read the note's text from standard input."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("- reads the text from standard input, and nothing is piped in")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except (UnicodeDecodeError, AttributeError) as error:
        raise UsageError("the text from standard input is not UTF-8") from error


def _no_reading_scope(scope: str | None) -> None:
    """Refuse `--scope all` for a write."""
    if scope == ALL_SCOPES:
        raise UsageError("a note is written to one scope", hint="use --scope global or --scope workspace")


def headroom(store: Store, scope: str) -> dict[str, object]:
    """Return what is used of the notes part of the next block and which note the next one would push out."""
    from memory_magic.prompt.block import choose_notes, renderer

    notes = store.headroom_notes()
    return choose_notes(notes, renderer(store.short_id), settings=store.settings, coming=scope).headroom()


def _never_fits(store: Store, written: Written) -> str:
    """Return a sentence when the note alone is longer than the notes part of a block, else an empty text."""
    from memory_magic.prompt.block import choose_notes, renderer

    try:
        note = store.get(written.id)
    except LookupError:  # somebody retired it in this instant
        return ""
    if not choose_notes([note], renderer(store.short_id), settings=store.settings).too_long:
        return ""
    cap = store.settings.notes_characters
    return f"It is too long for a block (notes_characters = {cap:,}): no assistant gets to see it. Shorten it."


def _people(store: Store, written: Written) -> dict[str, Any]:
    """Return what a reply to a person adds: the short id and names of scopes."""
    return {
        "short": store.short_id(written.id),
        "labels": labels(store),
    }


def labels(store: Store) -> dict[str, str]:
    """Return a name for each visible scope, as a person calls it."""
    return {scope.id: scope.label or scope.id for scope in store.scopes}


def search(context: Context, args: Namespace) -> Outcome:
    """Find notes by their words, best first."""
    from memory_magic.text.words import query as read_query

    query = args.query if isinstance(args.query, str) else " ".join(args.query)
    store = context.store()
    limit = args.limit or store.settings.search_limit
    result = store.search(query, limit=limit, scope=args.scope)
    why = reasons(store, (hit.note for hit in result.hits))
    data = {
        "query": redacted(result.query),
        "hits": [note_json(hit.note, hit.score, suspicious=why.get(hit.note.id)) for hit in result.hits],
        "fallback": result.fallback,
    }
    extra = _listing(store, [hit.note for hit in result.hits], args.scope)
    extra |= {"explain": args.explain, "limit": limit, "words": query.split()}
    extra |= {"terms": list(read_query(query).wanted), "why": [_why_found(hit) for hit in result.hits]}
    return Outcome("hits", data, extra)


def _why_found(hit: Hit) -> str:
    """Say in words what a hit has of the query."""
    tiers = ("some words", "every word", "the very phrase")
    return f"{tiers[hit.tier]}: {' '.join(hit.terms)}"


def list_notes(context: Context, args: Namespace) -> Outcome:
    """List the notes that are visible here."""
    store = context.store()
    notes = store.list(args.scope)
    why = reasons(store, notes)
    data = {"notes": [note_json(note, with_score=False, suspicious=why.get(note.id)) for note in notes]}
    return Outcome("notes", data, _listing(store, notes, args.scope))


def short_ids(store: Store, notes: Sequence[Note], scope: str | None) -> dict[str, str]:
    """Return the short id of each note; of a long listing only ids that begin alike are looked up."""
    if len(notes) <= FEW:
        return {note.id: store.short_id(note.id) for note in notes}
    begun = Counter(note.id[:SHORT] for note in (store.list() if scope else notes))
    return {note.id: store.short_id(note.id) if begun[note.id[:SHORT]] > 1 else note.id[:SHORT] for note in notes}


def _listing(store: Store, notes: Sequence[Note], scope: str | None) -> dict[str, Any]:
    """Return what tables of notes show to people beside the JSON."""
    return {
        "short": short_ids(store, notes, scope),
        "labels": labels(store),
        "scope_notice": "" if scope else store.scope_notice,
        "scope": scope,
    }


def get(context: Context, args: Namespace) -> Outcome:
    """Show one note with all that is known about it."""
    store = context.store()
    note = store.get(_joined(args.target), scope=args.scope)
    extra = _listing(store, [note], note.scope)
    extra |= {"section": [redacted(name) for name in note.section], "note_kind": note.kind, "n": note.n}
    why = reasons(store, [note]).get(note.id, "")
    extra["kept_out"] = kept_out(why, context, extra["short"][note.id]) if why else ""
    return Outcome("note", note_json(note, suspicious=why), extra)


def _joined(words: str | list[str]) -> str:
    return words if isinstance(words, str) else " ".join(words)


def revise(context: Context, args: Namespace) -> Outcome:
    """Replace a note's text; the old one stays in the journal. A note that reads so already is left, as is said."""
    _no_reading_scope(args.scope)
    store = context.store()
    new = _joined(args.new)
    written = store.revise(args.target, new, evidence=args.evidence, scope=args.scope)
    return _changed(store, written, "worded like that" if written.status == "duplicate" else "revised", text=new)


def retire(context: Context, args: Namespace) -> Outcome:
    """Take a note out of use; its history stays in the journal."""
    _no_reading_scope(args.scope)
    store = context.store()
    return _changed(store, store.retire(args.target, evidence=args.evidence, scope=args.scope), "retired")


def pin(context: Context, args: Namespace) -> Outcome:
    """Put a note first in every block."""
    _no_reading_scope(args.scope)
    store = context.store()
    return _changed(store, store.pin(_joined(args.target), scope=args.scope), "pinned")


def unpin(context: Context, args: Namespace) -> Outcome:
    """Let a note take its place by age again."""
    _no_reading_scope(args.scope)
    store = context.store()
    return _changed(store, store.unpin(_joined(args.target), scope=args.scope), "unpinned")


def _changed(store: Store, written: Written, action: str, *, text: str = "") -> Outcome:
    """Return the outcome of a change to a note that exists."""
    data = {
        "id": written.id,
        "old_id": written.old_id,
        "scope": written.scope,
        "path": written.path,
        "line": written.line,
        "n": written.n,
    }
    notices = list(written.notices)
    if len(text) > LONG_NOTE:
        notices.append(LONG_NOTE_ADVICE.format(count=len(text)))
    if text and (why := _suspicion(store, written)):
        notices.append(f"▲ Suspicious: it {why}. It is kept and reaches no assistant until you approve it.")
    extra: dict[str, Any] = {"action": action, "status": written.status, "notices": notices}
    extra |= {"text": _as_kept(store, written) if text else "", "redacted": dict(written.redacted)}
    extra |= _people(store, written)
    return Outcome("changed", data, extra)
