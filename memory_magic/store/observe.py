"""The difference between what the journal knows of a file and what stands in it, as `observe` records.

People edit MEMORY.md in editors; the file wins and the journal follows (DESIGN 1.1). One record a change. An old note
is linked to a new one only where one hunk replaces exactly one note by one; everything else is removed and added,
since a guess would rewrite history. Pure: known notes and a document in, drafts out.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from memory_magic.store.journal_format import Draft, join_titles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from memory_magic.store.note import Document, Parsed
    from memory_magic.store.replay import Known


def differences(
    known: Mapping[str, Known], order: Sequence[str], document: Document, redact: Callable[[str], str]
) -> list[Draft]:
    """Return drafts that lead from *known* (ids in file *order*) to *document*; texts pass *redact*."""
    notes = document.notes
    drafts = [
        _pin_change(document.scope, notes[one])
        for one in notes
        if one in known and known[one].pinned != notes[one].pinned
    ]
    gone = [one for one in order if one not in notes]
    come = [one for one in notes if one not in known]
    if not gone and not come:
        return drafts
    links = _links(order, list(notes)) if gone and come else {}
    drafts += [_taken(document.scope, known[one], notes.get(links.get(one, "")), redact) for one in gone]
    linked = set(links.values())
    drafts += [_added(document.scope, notes[one], redact) for one in come if one not in linked]
    return drafts


def _links(before: Sequence[str], after: Sequence[str]) -> dict[str, str]:
    """Return old id -> new id for each hunk of exactly one note against one."""
    old, new = set(before), set(after)
    return {
        before[a]: after[b]
        for tag, a, a_end, b, b_end in _hunks(before, after)
        if tag == "replace" and a_end - a == 1 and b_end - b == 1 and before[a] not in new and after[b] not in old
    }


def _hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Compare with equal ends left out: a file of 10,000 notes with one edit costs two scans, not a matrix."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    matcher = SequenceMatcher(None, before[start : len(before) - end], after[start : len(after) - end], autojunk=False)
    for tag, a, a_end, b, b_end in matcher.get_opcodes():
        yield tag, a + start, a_end + start, b + start, b_end + start


def _pin_change(scope: str, note: Parsed) -> Draft:
    return Draft("observe", {"scope": scope, "id": note.id, "pinned": "yes" if note.pinned else "no"})


def _taken(scope: str, old: Known, new: Parsed | None, redact: Callable[[str], str]) -> Draft:
    fields = {"scope": scope, "id": old.id, "before": old.text or "(text not known)"}
    if new is not None:
        fields |= {"new_id": new.id, "after": redact(new.text)} | _details(new, redact)
    return Draft("observe", fields)


def _added(scope: str, note: Parsed, redact: Callable[[str], str]) -> Draft:
    return Draft("observe", {"scope": scope, "id": note.id, "after": redact(note.text)} | _details(note, redact))


def _details(note: Parsed, redact: Callable[[str], str]) -> dict[str, str]:
    fields = {"pinned": "yes"} if note.pinned else {}
    if note.section:
        fields["section"] = redact(join_titles(note.section))
    if note.kind != "item":
        fields["kind"] = note.kind
    return fields
