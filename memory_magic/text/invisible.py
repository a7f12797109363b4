"""Characters that a reader cannot see: taken out of untrusted text, except where a script or an emoji needs them.

One pass of one regular expression finds the candidates; each is judged by its neighbours in the original text:

* line breaks of every kind become a newline, terminal colour and title sequences go whole;
* controls (tab and newline stay), bidirectional controls, tag characters, zero-width and filler characters go;
* ZWJ and ZWNJ stay after a virama, between letters of scripts that join, and between emoji; a variation selector stays
  behind one visible character that can vary; tag characters stay in the flag of a region.

Invariants: a kept character leans only on characters that are kept as well, so `visible(visible(t)) == visible(t)`;
time is linear (possessive repeats, one look to each side); a lone surrogate becomes U+FFFD, so the result can always be
written as UTF-8.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

HIDDEN: Final = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
) + "".join(rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(1, 17))
"""Inside of a character class: Unicode's default-ignorable, control and non-characters, but for tab and newline."""

_BLACK_FLAG = "\U0001f3f4"
_FLAG_TAGS = r"[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,4}\U000e007f"
_BREAKS = frozenset("\r\x0b\x0c\x85\u2028\u2029")
_ZWNJ, _ZWJ, _EMOJI_LOOK = "\u200c", "\u200d", "\ufe0f"
_VIRAMA = 9  # the combining class behind which RFC 5892 (internationalised names) allows both joiners
_KEYCAPS = frozenset("0123456789#*")

_JOINING = (
    (0x0590, 0x109F),
    (0x1780, 0x18AF),
    (0x1900, 0x1CFF),
    (0xA800, 0xABFF),
    (0xFB50, 0xFEFC),
    (0x10A00, 0x11FFF),
)
_EMOJI = ((0x2190, 0x2BFF), (0x1F000, 0x1FAFF))
_HAN = ((0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFD))
_MONGOLIAN = ((0x1820, 0x18AA),)
_SELECTORS = ((0xFE00, 0xFE0F),)
_IDEOGRAPHIC_SELECTORS = ((0xE0100, 0xE01EF),)
_MONGOLIAN_SELECTORS = ((0x180B, 0x180F),)

# Each alternative looks back at the character just read: `re` finds a pattern that begins with one set of characters
# in a C loop, ten times faster than by trying every alternative everywhere. What a terminal swallows goes whole.
_CANDIDATE = (
    rf"[{HIDDEN}\ud800-\udfff{_BLACK_FLAG}](?:(?<=\r)\n|(?<={_BLACK_FLAG}){_FLAG_TAGS}"
    r"|(?:(?<=\x1b)\[|(?<=\x9b))[0-?]*+[ -/]*+[@-~]"
    r"|(?:(?<=\x1b)\]|(?<=\x9d))[^\x07\x1b\x9c\r\n]*+(?:\x07|\x1b\\|\x9c)|)"
)


@cache
def _candidate() -> re.Pattern[str]:
    """Compile late: a process that shows no untrusted text does not pay for it."""
    return re.compile(_CANDIDATE)


def visible(text: str) -> str:
    """Return *text* with nothing in it that a reader cannot see, and one kind of line break.

    Joiners, variation selectors and flag sequences stay where they change what is shown. Idempotent and linear.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _candidate().sub(_decide, text)


def _decide(match: re.Match[str]) -> str:
    """Return what stands in the result for one candidate."""
    char = match.string[match.start()]
    if char in _BREAKS:
        return "\n"
    if "\ud800" <= char <= "\udfff":
        return "\ufffd"
    return match[0] if char == _BLACK_FLAG or _is_needed(match.string, match.start()) else ""


def _is_needed(text: str, at: int) -> bool:
    """Tell whether the invisible character at *at* changes how its visible neighbours are shown."""
    char, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if not before:
        return False
    if char in {_ZWNJ, _ZWJ}:
        return _joins(before, after) or (char == _ZWJ and _joins_emoji(text[max(at - 2, 0) : at], after))
    if _within(char, _SELECTORS):
        return before in _KEYCAPS or not (before.isascii() or before.isspace() or _is_hidden(before))
    if _within(char, _IDEOGRAPHIC_SELECTORS):
        return _within(before, _HAN)
    return _within(char, _MONGOLIAN_SELECTORS) and _within(before, _MONGOLIAN)


def _joins(before: str, after: str) -> bool:
    """Tell whether a joiner stands behind a virama or inside of a word whose script uses joiners."""
    if unicodedata.combining(before) == _VIRAMA:
        return True
    return all(_within(char, _JOINING) and _is_of_a_word(char) for char in (before, after))


def _joins_emoji(before: str, after: str) -> bool:
    base = before[:-1] if before.endswith(_EMOJI_LOOK) else before[-1:]
    return _within(base, _EMOJI) and _within(after, _EMOJI)


def _is_of_a_word(char: str) -> bool:
    return unicodedata.category(char)[0] in "LM" and not _is_hidden(char)


def _is_hidden(char: str) -> bool:
    """Tell whether *char* is itself a candidate: nothing may lean on what may go."""
    return char != _BLACK_FLAG and _candidate().match(char) is not None


def _within(char: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return bool(char) and any(low <= ord(char) <= high for low, high in ranges)
