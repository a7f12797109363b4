"""The words by which the rule-based extractor tells one kind of sentence from another, language by language.

English, Chinese and Hindi are complete; the others carry the core cues. A language is known by its script, and among
those in Latin letters by its small words; an unknown one is read with English cues, of which only numbers will match.
Each language is a table of plain patterns, compiled when the first text in it comes by.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from memory_magic.pipeline.cues.arabic import ARABIC
from memory_magic.pipeline.cues.asian import CHINESE, HINDI, JAPANESE, KOREAN
from memory_magic.pipeline.cues.english import ENGLISH
from memory_magic.pipeline.cues.european import FRENCH, GERMAN, ITALIAN, PORTUGUESE, RUSSIAN, SPANISH

if TYPE_CHECKING:
    from memory_magic.pipeline.cues.lexicon import Lexicon

_BY_SCRIPT = (
    (re.compile(r"[\u3040-\u30ff]"), JAPANESE),  # before Chinese: Japanese is full of Han
    (re.compile(r"[\uac00-\ud7af]"), KOREAN),
    (re.compile(r"[\u3400-\u9fff]"), CHINESE),
    (re.compile(r"[\u0900-\u097f]"), HINDI),
    (re.compile(r"[\u0600-\u06ff]"), ARABIC),
    (re.compile(r"[\u0400-\u04ff]"), RUSSIAN),
)
_LATIN = (ENGLISH, SPANISH, FRENCH, GERMAN, PORTUGUESE, ITALIAN)
_WORD = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"`[^`\n]*`")
_SAMPLE = 4000  # characters of a text that decide its language
_SCRIPT_SHARE = 8  # one letter in eight: technical prose in Hindi or Chinese is full of English names


def lexicon_of(text: str) -> Lexicon:
    """Return the table of the language that a text is in."""
    sample = _CODE.sub(" ", text[:_SAMPLE])
    words = _WORD.findall(sample)
    letters = sum(map(len, words))
    for script, lexicon in () if sample.isascii() else _BY_SCRIPT:
        if len(script.findall(sample)) * _SCRIPT_SHARE > letters > 0:
            return lexicon
    counts = Counter(word.lower() for word in words)
    return max(_LATIN, key=lambda lexicon: sum(counts[word] for word in lexicon.small_words.split()))


def found(pattern: str, text: str) -> re.Match[str] | None:
    """Search a text for one of a lexicon's patterns."""
    return _compiled(pattern).search(text)


def without(pattern: str, text: str) -> str:
    """Return a text without what one of a lexicon's patterns matches."""
    return _compiled(pattern).sub("", text)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
