"""The one place that every text passes on its way to disk.

`<private>` spans, memory blocks of ours and secrets are taken out, control characters dropped, line ends made newlines,
trailing blanks cut.
Text, evidence, label, author and file name all pass here; kinds and counts of what was taken out are reported, values
never.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from memory_magic.errors import EvidenceError, NoteError
from memory_magic.text import own_block, private
from memory_magic.text.invisible import visible
from memory_magic.text.redact import redact

LIMIT_BYTES: Final = 65_536  # CodeWhale's limit for one note
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f]")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text that may be kept, and how many secrets of each kind were taken out of it."""

    text: str
    redacted: dict[str, int] = field(default_factory=dict)


def clean(text: str) -> Cleaned:
    """Return *text* without private spans, secrets and control characters."""
    if not text.isprintable():
        text = _SURROGATE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
        text = _CONTROL.sub("", text)  # before the spans are cut: dropping one could make a tag
    if "<" in text:
        text = own_block.cut(private.cut(text))
    found = redact(text)
    lines = [line.rstrip() for line in found.text.split("\n")]
    return Cleaned("\n".join(lines).strip("\n").strip(" \t"), dict(found.kinds))


def clean_note(text: str) -> Cleaned:
    """Return a note's *text* cleaned; raise `NoteError` where nothing is left or it is over 65,536 bytes."""
    cleaned = clean(text)
    if not _shows(cleaned.text):
        left = "the note is empty"
        if cleaned.text:
            left = "the note holds only characters that nobody can see"
        elif text.strip():
            left = "nothing is left of this note once private spans and memory blocks are taken out"
        raise NoteError(left, hint="write what should be remembered")
    size = len(cleaned.text.encode("utf-8", "replace"))
    if size > LIMIT_BYTES:
        raise NoteError(
            f"the note has {size:,} bytes, more than the {LIMIT_BYTES:,} that one note may have",
            hint="long instructions belong in AGENTS.md or a skill; remember where they are",
        )
    return cleaned


def _shows(text: str) -> bool:
    """Tell whether a reader sees anything of *text*: a note of zero-width characters would be an empty line."""
    return (text.isprintable() and not text.isspace() and bool(text)) or bool(visible(text).strip())


def clean_line(text: str) -> str:
    """Return a short field (author, label, file name) cleaned, on one line."""
    return " ".join(clean(text).text.split())


def require_evidence(evidence: str | None) -> str:
    """Return *evidence* cleaned; raise `EvidenceError` where there is none."""
    cleaned = clean(evidence or "").text
    if not cleaned.strip():
        raise EvidenceError(
            "say why the note changes", hint="add --evidence with a sentence, for example where it was said"
        )
    return cleaned
