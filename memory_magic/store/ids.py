"""Ids of notes: derived from scope and text, never stored in the file (DESIGN 3.1, store_rules 3).

An id is lower-case Crockford base32 of SHA-256(scope directory + newline + normalised text), 26 characters (130 bits:
the 10 shown ones alone collide within a minute of searching). Normalised: NFC; whitespace collapsed in prose, while
inside a fenced block lines stay and only their trailing blanks go, because there indentation carries meaning. Whoever
compares texts compares *normalised texts*, whoever looks a note up may give any unique prefix of six characters, with
the aliases that Crockford's alphabet allows (i and l for 1, o for 0).
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache

LENGTH = 26
SHOWN = 10
SHORTEST_PREFIX = 6

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ALIASES = str.maketrans({"i": "1", "l": "1", "o": "0"})
_FENCE = re.compile(r"^ *(`{3,}|~{3,})")
_PREFIX = re.compile(r"[0-9a-hjkmnp-tv-z]{6,26}")


def normalise(text: str) -> str:
    """Return *text* as it is compared and hashed: NFC, whitespace collapsed outside fenced blocks."""
    text = unicodedata.normalize("NFC", text)
    if "```" not in text and "~~~" not in text:
        return " ".join(text.split())
    return _normalise_fenced(text)


def _normalise_fenced(text: str) -> str:
    parts: list[str] = []
    prose: list[str] = []
    fence = ""
    for line in re.split(r"\r\n|\n|\r", text):
        opened = _FENCE.match(line)
        if fence:
            parts.append(line.rstrip())
            if opened and opened[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opened:
            parts.extend([" ".join(" ".join(prose).split()), line.rstrip()])
            prose, fence = [], opened[1]
        else:
            prose.append(line)
    parts.append(" ".join(" ".join(prose).split()))
    return "\n".join(parts).strip("\n")


@lru_cache(maxsize=64)  # a write asks for the same few again and again
def note_id(scope: str, normalised: str) -> str:
    """Return the id of a *normalised* text in *scope* (its directory name, `global` or `workspace/<hex>`)."""
    digest = hashlib.sha256(f"{scope}\n{normalised}".encode("utf-8", "surrogatepass")).digest()
    value = int.from_bytes(digest[:17], "big") >> 6  # 130 of the first 136 bits: 26 digits of five bits
    digits = [_ALPHABET[value >> shift & 31] for shift in range(125, -1, -5)]
    return "".join(digits)


def read_prefix(typed: str) -> str | None:
    """Return *typed* as an id prefix to look up, or None where it cannot be one."""
    folded = typed.strip().lower().translate(_ALIASES)
    return folded if _PREFIX.fullmatch(folded) else None


def shown_length(ids: list[str]) -> int:
    """Return how many characters tell all *ids* apart, at least 10."""
    length = SHOWN
    while length < LENGTH and len({one[:length] for one in ids}) < len(set(ids)):
        length += 1
    return length
