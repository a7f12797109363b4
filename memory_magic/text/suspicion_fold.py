"""See through disguise: one text becomes the readings that a model could make of it.

The first reading is the text as the eye has it: invisible characters out, compatibility forms and letter case folded,
accents and look-alike letters of other alphabets brought to plain Latin, emphasis marks inside of words gone. Further
readings are made only where there is a sign of them: letters set apart (`i g n o r e`), text in Unicode's tag
characters, Base64 or hexadecimal digits that decode to words, words written backwards or in ROT13.

Pure and linear: each step looks at a character a fixed number of times; what is decoded is shorter than what it came
from and is not decoded again.
"""

from __future__ import annotations

import binascii
import contextlib
import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final

from memory_magic.text.invisible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

_ACCENT: Final = dict.fromkeys(range(0x300, 0x370))
_ALIKE: Final = str.maketrans(
    "аеоруѕхсіјԁһⅼԛԝɡɑʏαεοριντυχκμηɩωᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡᴢвкмнтгӏʟıøđłŧћьу",
    "aeopysxcijdhlqwgayaeopivtuxkmniwabcdefghijklmnoprstuvwzbkmhtrllıodlthby".replace("ı", "i"),
)
_MARKS: Final = dict.fromkeys(map(ord, "*`~'’‘ʼ´^\\\u0640"))
_HARAKAT: Final = dict.fromkeys([*range(0x64B, 0x660), 0x670, 0x93C])
_ALEF: Final = str.maketrans("أإآٱىة", "اااايه")
_SQUARED: Final = {
    base + at: chr(97 + at) for base in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6) for at in range(26)
}  # letters in boxes and circles, and those that flags are made of, have no compatibility form
_LEET: Final = str.maketrans("013456789@$!|+€£", "oleasgtbgasiltel")
_LEET_I: Final = str.maketrans("1", "i")
_TAGS: Final = re.compile(r"[\U000e0020-\U000e007e]{8,}")
_APART: Final = re.compile(r"(?<!\w)\w(?:[ ._\-/|]{1,4}+\w(?!\w)){4,}")
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}+={0,2}")
_HEX: Final = re.compile(r"[0-9a-f]+", re.IGNORECASE)
_BACKWARDS: Final = ("erongi", "snoitcurtsni", "tpmorp", "drowssap", "yebo", "rebmemer", "dneterp", "dragersid")
_ROT13: Final = ("vtaber", "vafgehpgvba", "cebzcg", "cnffjbeq", "qvfertneq", "erzrzore guvf", "cergraq")
_LONGEST: Final = 65_536


def readings(text: str) -> Iterator[str]:
    """Yield *text* folded, and then what else could be read out of it."""
    seen = visible(text)
    first = fold(seen)
    yield first
    for run in _APART.finditer(first):
        yield "\x00" + run[0]
    if not text.isascii():
        for tags in _TAGS.finditer(text):
            yield fold("".join(chr(ord(char) - 0xE0000) for char in tags[0]))
    for found in _ENCODED.finditer(seen):
        if decoded := _decoded(found[0]):
            yield fold(decoded)
    if any(word in first for word in _BACKWARDS):
        yield fold(seen[::-1])
    if any(word in first for word in _ROT13):
        yield fold(_rotated(seen))


def fold(text: str) -> str:
    """Return *text* in lower case, without accents, emphasis marks and look-alike letters."""
    if not text.isascii():
        plain = unicodedata.normalize("NFKD", text).translate(_ACCENT).translate(_SQUARED)
        text = unicodedata.normalize("NFKC", plain).translate(_HARAKAT).translate(_ALEF).casefold()
        text = _mixed().sub(lambda word: word[0].translate(_ALIKE), text)
    return text.translate(_MARKS).lower()


@cache
def _mixed() -> re.Pattern[str]:
    """Match a word that holds both a Latin letter and one of another alphabet that looks like it."""
    other = r"\u0370-\u052f\u0250-\u02af\u1d00-\u1d7f\ua730-\ua7ff\u2c60-\u2c7fıøđł"
    return re.compile(
        rf"(?<![a-z{other}])(?:[a-z]+[{other}]|[{other}]+[a-z]|[\u0250-\u02af\u1d00-\u1d7f\ua730-\ua7ff]{{2}})[a-z{other}]*+"
    )


def unleet(word: str) -> tuple[str, str]:
    """Return *word* with digits and signs read as letters: a 1 as l, and as i."""
    return word.translate(_LEET), word.translate(_LEET_I).translate(_LEET)


def _decoded(chunk: str) -> str:
    """Return the words that *chunk* hides in Base64 or hexadecimal digits, or an empty text."""
    if len(chunk) > _LONGEST:
        return ""
    bare = chunk.replace("-", "+").replace("_", "/").rstrip("=")
    attempts: list[bytes] = []
    if len(chunk) % 2 == 0 and _HEX.fullmatch(chunk):
        attempts.append(bytes.fromhex(chunk))
    with contextlib.suppress(binascii.Error):
        attempts.append(binascii.a2b_base64(bare + "=" * (-len(bare) % 4)))
    for attempt in attempts:
        found = attempt.decode("utf-8", "replace")
        if found.replace("\n", " ").isprintable() and " " in found and "\ufffd" not in found:
            return found
    return ""


def _rotated(text: str) -> str:
    shifted = {base + at: base + (at + 13) % 26 for base in (65, 97) for at in range(26)}
    return text.translate(shifted)
