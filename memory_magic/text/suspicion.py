"""Say of a note that it looks like an attack on the assistant, and why, in plain words.

A note is told to assistants in every prompt, so a text that gives *them* orders must not get there unseen. Five kinds
are looked for: setting earlier instructions aside, another role, handing over what is private, a standing rule to keep
or obey, orders that a tool, a web page or a file is said to give. Notes that tell a person or a project what to do
("always run ruff before committing") are what a memory is for and pass.

How: `suspicion_fold` makes the readings of the text; each is cut into words, the words become letters of their class
(`suspicion_words`, `suspicion_tongues`), and `suspicion_rules` are searched in that string. The verdict is a hint
for a person, who approves or rejects: nothing is changed here. Pure; standard library; time is linear in the text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from memory_magic.text.suspicion_fold import fold, readings, unleet
from memory_magic.text.suspicion_orders import ORDERS_AND_ORIGINS
from memory_magic.text.suspicion_rules import fitting
from memory_magic.text.suspicion_tongues import SPACED, UNSPACED
from memory_magic.text.suspicion_weights import weighed
from memory_magic.text.suspicion_words import PRIVATE_AND_ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["codes", "suspicion"]

_UNKNOWN: Final = "_"
_CODE: Final = "\x01"  # before the letter of what is no word
_CJK: Final = "\u3005\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PIECES: Final = re.compile(
    rf"(?P<cjk>[{_CJK}]+)"
    r"|(?P<url>(?<![a-z0-9])(?:h(?:tt|xx)ps?|ftp|wss?)://[^\s<>\"\)\]]{1,2000}+|(?<![\w.])www\.[^\s<>\"\)\]]{1,500}+)"
    rf"|(?P<chunk>[^\s<>\"“”„«»‹›\(\)\[\]{{}}=,;:!?…。、，：；！？।॥؟؛•—–{_CJK}]+|[!](?=[a-z0-9]))"
    r"|(?P<stop>[.!?…。！？।॥؟\n])|(?P<colon>[:：])|(?P<comma>[,;、，；؛\(\)\[\]—–<>\"“”„«»])"
)
_INTERNAL: Final = re.compile(
    r"\w+://(?:[^/\s]*@)?(?:localhost|127\.|10\.|192\.168\.|[^/:\s]*\.(?:internal|local|corp|lan|intranet|localdomain)\b)"
)
_NUMBERED: Final = re.compile(r"\w+://\d{1,3}(?:\.\d{1,3}){3}")
_PRIVATE_FILE: Final = (
    r"(?:.*[/@~.])?(?:\.?env(?:\.local|\.prod\w*)?|id_(?:rsa|ed25519|ecdsa)|\.ssh|\.netrc|\.npmrc|\.pypirc|\.aws"
    r"|\.kube|\.gnupg|shadow|passwd|credentials(?:\.json)?|secrets?\.\w+|\.bash_history|\.zsh_history)(?:/\S*)?"
)
_THINGS: Final = tuple(
    (re.compile(pattern), code)
    for pattern, code in (
        (_PRIVATE_FILE, "%"),
        (r"[^@\s]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}", "e"),
        (r"\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:/.*)?", "U"),
        (
            r"(?:[\w-]{1,63}\.){1,6}(?:com|net|org|io|dev|app|xyz|info|biz|example|ru|cn|top|site|online)(?:/.*)?",
            "U",
        ),
        (r"\$\w*(?:key|token|secret|passw)\w*", "K"),
    )
)
_IN_CODE: Final = {"requests.post": "X", "os.environ": "%", "process.env": "%", "httpx.post": "X", "smtplib": "X"}
_INNER: Final = re.compile(r"[-_/&+#%$@.|]+")
_LEETS: Final = frozenset("013456789@$!|+")
_NAME_LIKE: Final = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]{5,})+")
_GLUED: Final = 14
_GAP: Final = re.compile(r"[ ._\-/|]{2,}")
_ONE_GAP: Final = re.compile(r"[ ._\-/|]")
_LONGEST_RUN: Final = 2_000
_LONGEST_WORD: Final = 18


class _Lexicon(NamedTuple):
    """Phrase -> class, beginnings of words -> class, and how long a phrase may be that begins with a word."""

    phrases: dict[str, str]
    stems: dict[str, str]
    lengths: dict[str, int]


def suspicion(text: str) -> str:
    """Return why *text* looks like an attack on the assistant, in plain words; an empty text when it does not."""
    for reading in readings(text):
        letters = codes(reading)
        if reason := fitting(letters) or weighed(letters):
            return reason
    return ""


def codes(reading: str) -> str:
    """Return the class letters of a folded *reading*, one for each word, phrase or sign."""
    foreign = not reading.isascii()
    words = list(_apart(reading)) if reading.startswith("\x00") else list(_words(reading, foreign))
    lexicon = _lexicon(foreign)
    found, at = [], 0
    while at < len(words):
        step, code = _longest(words, at, lexicon)
        found.append(code)
        at += step
    return "".join(found)


def _longest(words: list[str], at: int, lexicon: _Lexicon) -> tuple[int, str]:
    """Return how many words from *at* on make the longest known phrase, and its class."""
    word = words[at]
    if word.startswith(_CODE):
        return 1, word[1:]
    for length in range(min(lexicon.lengths.get(word, 1), len(words) - at), 0, -1):
        code = lexicon.phrases.get("_".join(words[at : at + length]))
        if code:
            return length, code
    return 1, _by_stem(word, lexicon) or _UNKNOWN


def _by_stem(word: str, lexicon: _Lexicon) -> str:
    for length in range(min(len(word), 12), 3, -1):
        if code := lexicon.stems.get(word[:length]):
            return code
    return ""


# -- words -----------------------------------------------------------------------------------------------------------


def _words(reading: str, foreign: bool) -> Iterator[str]:  # noqa: FBT001 -- one of two lexica
    """Yield the words of *reading*, and signs as `_CODE` with a letter."""
    for piece in _PIECES.finditer(reading):
        kind, text = piece.lastgroup, piece[0]
        if kind == "chunk":
            yield from _chunk(text, _lexicon(foreign))
        elif kind == "cjk":
            yield from _unspaced(text)
        elif kind == "url":
            yield from _address(text)
        else:
            yield _CODE + {"stop": ".", "colon": ":"}.get(kind or "", ",")


def _address(url: str) -> Iterator[str]:
    """Yield the class of a web address: inside the house, with a command in it, at a bare number, or any other."""
    if _INTERNAL.match(url):
        yield _CODE + _UNKNOWN
        return
    if "$(" in url or "`" in url:
        yield _CODE + "K"
    yield _CODE + ("O" if _NUMBERED.match(url) else "U")


def _chunk(chunk: str, lexicon: _Lexicon) -> Iterator[str]:
    """Yield what stands in a piece without blanks: an address, a file, or words joined by signs."""
    bare = chunk.strip(".-_|&")
    if not bare:
        if "." in chunk:
            yield _CODE + "."
        return
    if chunk[0] == "." and len(bare) + 1 == len(chunk.rstrip(".")):
        bare = "." + bare
    if code := _thing(bare):
        yield _CODE + code
    elif bare.isalpha():
        yield from _word(bare, lexicon)
    elif not _LEETS.isdisjoint(bare) and any(map(str.isalpha, bare)) and (word := _read_leet(bare, lexicon)):
        yield word
    else:
        yield from _joined(bare, lexicon)
    if chunk.endswith("."):
        yield _CODE + "."


def _thing(bare: str) -> str:
    """Return the class of a file with secrets, an e-mail address, a network address or a file; else an empty text."""
    if bare.isalpha():
        return ""
    for pattern, code in _THINGS:
        if pattern.fullmatch(bare):
            return code
    if bare in _IN_CODE:
        return _IN_CODE[bare]
    if "." in bare[1:-1] and not _NAME_LIKE.fullmatch(bare):
        return "f" if any(map(str.isalpha, bare)) else _UNKNOWN
    return "f" if bare[0] in "/~" and len(bare) > 1 else ""


def _word(word: str, lexicon: _Lexicon) -> Iterator[str]:
    """Yield *word*, or the known words that it is glued together from."""
    if len(word) >= _GLUED and word not in lexicon.phrases and word.isascii():
        parts = _segmented(word[:_LONGEST_RUN], lexicon)
        if _UNKNOWN not in parts:
            yield from parts
            return
    yield word


def _joined(bare: str, lexicon: _Lexicon) -> Iterator[str]:
    for part in _INNER.split(bare):
        if part in {"n", "s", "t"} or not part:
            continue
        if part.isdigit():
            yield _CODE + "§"
        elif part.isalpha() or _LEETS.isdisjoint(part):
            yield part
        else:
            yield _read_leet(part, lexicon) or _CODE + "#"  # a rule's or a version's name: E501, v2


def _read_leet(piece: str, lexicon: _Lexicon) -> str:
    """Return the known word that *piece* is when digits are read as letters, else an empty text."""
    return next((word for word in unleet(piece) if word in lexicon.phrases or _by_stem(word, lexicon)), "")


def _apart(run: str) -> Iterator[str]:
    """Yield the words of letters that were set apart; wider gaps part words, else the known words do."""
    lexicon = _lexicon(False)  # noqa: FBT003 -- English
    run = run[1 : _LONGEST_RUN + 1].strip()
    for piece in _GAP.split(run):
        word = "".join(one for one in unleet(_ONE_GAP.sub("", piece))[:1])
        if word in lexicon.phrases:
            yield word
        else:
            yield from _segmented(word, lexicon)


def _segmented(word: str, lexicon: _Lexicon) -> list[str]:
    """Return the known words that cover most letters of *word*; what is left over is one unknown sign each."""
    best: list[tuple[int, int]] = [(0, 0)]  # letters left uncovered and number of pieces, up to each place
    come_from = [0]
    for end in range(1, len(word) + 1):
        begins = [at for at in range(max(end - _LONGEST_WORD, 0), end - 1) if word[at:end] in lexicon.phrases]
        one_more = (best[end - 1][0] + 1, best[end - 1][1] + 1)
        cost, start = min([(one_more, end - 1), *(((best[at][0], best[at][1] + 1), at) for at in begins)])
        best.append(cost)
        come_from.append(start)
    parts, end = [], len(word)
    while end:
        start = come_from[end]
        parts.append(word[start:end] if end - start > 1 or word[start:end] in {"a", "i"} else _UNKNOWN)
        end = start
    return parts[::-1]


def _unspaced(text: str) -> Iterator[str]:
    """Yield the classes of a stretch of Chinese or Japanese; two unknown characters count as one word."""
    known, longest = _unspaced_lexicon()
    at = unknown = 0
    while at < len(text):
        for length in range(min(longest, len(text) - at), 0, -1):
            if code := known.get(text[at : at + length]):
                yield _CODE + code
                at += length
                unknown = 0
                break
        else:
            unknown += 1
            if unknown % 2:
                yield _CODE + _UNKNOWN
            at += 1


# -- lexica ----------------------------------------------------------------------------------------------------------


@cache
def _lexicon(foreign: bool) -> _Lexicon:  # noqa: FBT001 -- one of two
    """Return the words of texts in ASCII, or of all."""
    phrases: dict[str, str] = {}
    stems: dict[str, str] = {}
    for table in (PRIVATE_AND_ROLES, ORDERS_AND_ORIGINS, SPACED):
        _add(table, phrases, stems, foreign=foreign)
    lengths: dict[str, int] = {}
    for phrase in phrases:
        first, _, rest = phrase.partition("_")
        if rest:
            lengths[first] = max(lengths.get(first, 1), rest.count("_") + 2)
    return _Lexicon(phrases, stems, lengths)


def _add(table: Mapping[str, str], phrases: dict[str, str], stems: dict[str, str], *, foreign: bool) -> None:
    for code, words in table.items():
        for word in words.split():
            if not foreign and not word.isascii():
                continue
            # as texts are folded, which takes the star; what is ASCII stands so already
            key = word.rstrip("*") if word.isascii() else fold(word)
            (stems if word.endswith("*") else phrases).setdefault(key, code)


@cache
def _unspaced_lexicon() -> tuple[dict[str, str], int]:
    known: dict[str, str] = {}
    for code, words in UNSPACED.items():
        for word in words.split():
            known.setdefault(fold(word), code)
    return known, max(map(len, known))
