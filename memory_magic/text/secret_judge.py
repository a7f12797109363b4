"""Whether a value is a secret, judged by what it looks like and by the name that stands before it.

`grade` reads a name (`OPENAI_API_KEY`, `clientSecret`, `token_limit`) into one of five grades; `is_secret` asks of a
value what its grade demands: behind a password's name almost anything, behind a token's name what mixes letters and
digits as no word does, behind a mere `key` only what is clearly random. Placeholders, references and words that speak
about a secret are none at any grade, because documentation without its examples is useless.

Invariants: pure functions; the marker is never a secret; time is linear in the value (possessive repeats).
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cache
from typing import Final

from memory_magic.text import secret_kinds as kinds

LONGEST_JUDGED: Final = 512
"""How many characters of a value decide what it is."""

_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_RUN_OF_ALPHABET: Final = 10
_WINDOWS: Final = tuple(_ALPHABET[at : at + _RUN_OF_ALPHABET] for at in range(len(_ALPHABET) - _RUN_OF_ALPHABET + 1))

# Shortest values that count, by what stands in front of them. A password of four characters is one; a key of an
# interface has eight at least; where only `key` stands, chance produces random-looking values up to a dozen.
_FEW_CHARACTERS: Final = 8
_SHORTEST_PASSWORD: Final = 4
_SHORTEST_MIXED_PASSWORD: Final = 6
_SHORTEST_WORDY_PASSWORD: Final = 6
_SHORTEST_TOKEN: Final = 8
_SHORTEST_PHRASE: Final = 12
_SHORTEST_WEAK: Final = 14
_SHORTEST_PLAIN_TOKEN: Final = 16
_SHORTEST_LETTERS: Final = 20
_WORDS_OF_A_PHRASE: Final = 3

# How often letters and digits alternate in what no person named.
_MANY_CHANGES: Final = 3
_SOME_CHANGES: Final = 2


class Grade(IntEnum):
    """What the name before a value says about it, from nothing to everything."""

    NONE = 0
    VENDOR = 1
    WEAK = 2
    TOKEN = 3
    SECRET = 4
    PASSWORD = 5


class Style(IntEnum):
    """How a value is written, from the most careless context to the surest."""

    CODE = 0  # bare, inside of an expression: may be a variable
    TALK = 1  # bare, in a sentence or behind a colon
    LINE = 2  # bare, alone on the line of a settings file or in the query of an address
    QUOTED = 3
    MARKUP = 4  # value="…" in XML, <password>…</password>


@cache
def pattern(source: str) -> re.Pattern[str]:
    """Compile *source* once, and not before a text holds a candidate: importing costs nothing."""
    return re.compile(source)


@cache
def grade(name: str) -> Grade:
    """Tell what *name* says of the value that it names; case and style of writing do not matter."""
    words = [word.lower() for word in pattern(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])").findall(name)]
    if len(words) > 1 and words[-1] in kinds.HOLDERS:
        del words[-1]
    if not words or words[-1] in kinds.BENIGN_LAST or kinds.BENIGN_WORDS.intersection(words):
        return Grade.NONE
    if words[-2:] == ["session", "id"]:
        return Grade.NONE  # of a chat or a log; what a browser keeps is a `sessionid`
    return _grade_of_end(words) or _grade_of_rest(words)


def _grade_of_end(words: list[str]) -> Grade:
    joined, last = "".join(words[-3:]), words[-1]
    if words[0] == "bundle" and last in {"com", "org", "io", "net", "dev"}:
        return Grade.SECRET  # how Bundler is told the password of a gem server
    if joined.endswith(kinds.PASSWORD_ENDS) or last in kinds.PASSWORD_WORDS:
        return Grade.PASSWORD
    if joined.endswith(kinds.SECRET_ENDS):
        return Grade.SECRET
    if joined.endswith(kinds.TOKEN_ENDS):
        return Grade.TOKEN
    if last == "key" and any(word in kinds.KEY_QUALIFIERS or word in kinds.VENDORS for word in words[:-1]):
        return Grade.TOKEN
    return Grade.NONE


def _grade_of_rest(words: list[str]) -> Grade:
    """Grade a name whose end says nothing: `private_key_id`, `PASSWORD_PROD`, `dropbox`."""
    joined = "".join(words)
    if any(end in joined for end in ("password", "passwd")):
        return Grade.PASSWORD
    named = any(part in joined for part in ("secret", "token", "apikey", "accesskey", "privatekey", "accessid"))
    if named or words[-1] in {"key", "keys"} or any(word in kinds.WEAK_WORDS for word in words):
        return Grade.WEAK
    return Grade.VENDOR if any(word in kinds.VENDORS for word in words) else Grade.NONE


def is_secret(value: str, rank: Grade, style: Style) -> bool:
    """Tell whether *value* is a secret when its name has the grade *rank* and it is written in *style*."""
    value = value[:LONGEST_JUDGED]
    if rank == Grade.PASSWORD:
        return _is_password(value, style) and not is_placeholder(value)
    if rank == Grade.NONE or " " in value:
        return False
    if rank <= Grade.WEAK:
        good = len(value) >= _SHORTEST_WEAK and is_random(value) and not _is_id(value, rank)
    else:
        good = _is_token(value, style) or (rank == Grade.SECRET and _is_phrase(value, style))
    return good and not is_placeholder(value)


def _is_token(value: str, style: Style) -> bool:
    if len(value) < _SHORTEST_TOKEN:
        return False
    is_whole = style >= Style.LINE and len(value) >= _SHORTEST_PLAIN_TOKEN and value.isalnum()
    if is_whole and (value.isdigit() or _mixes(value)):
        return True
    return is_random(value) or is_uuid(value)


def _is_phrase(value: str, style: Style) -> bool:
    """Tell whether *value* is words and numbers as a person invents them for a secret, or `user:password`."""
    user, colon, password = value.partition(":")
    if colon and user.isalnum() and (_mixes(password) or _is_hexadecimal(password)):
        return len(password) >= _SHORTEST_MIXED_PASSWORD
    words = pattern(r"[^A-Za-z0-9]+").split(value)
    if style < Style.LINE or len(value) < _SHORTEST_PHRASE or len(words) < _WORDS_OF_A_PHRASE:
        return False
    return _mixes(value) and not _speaks_of_secrets(value)


def _is_password(value: str, style: Style) -> bool:
    if len(value) < _SHORTEST_PASSWORD or "://" in value or value.lower().strip(".!?") in kinds.STOP_VALUES:
        return False
    if " " in value:
        return style >= Style.QUOTED and _is_passphrase(value)
    if value.isdigit():
        return style >= Style.LINE or len(value) >= _SHORTEST_MIXED_PASSWORD
    if _mixes(value):
        return len(value) >= _SHORTEST_MIXED_PASSWORD and _is_mixed_password(value, style)
    if not value.isascii():
        return style >= Style.QUOTED and len(value) >= _SHORTEST_WORDY_PASSWORD
    return style >= Style.LINE and _is_wordy_password(value, style)


_DATE: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"


def _is_mixed_password(value: str, style: Style) -> bool:
    if style >= Style.QUOTED:
        return True
    if value.lower().startswith(kinds.TECH_WORDS) or _speaks_of_secrets(value) or pattern(_DATE).match(value):
        return False
    return style > Style.CODE or not is_wordy(value)


def _is_wordy_password(value: str, style: Style) -> bool:
    """Judge a value without digits: `TestSource%Password` in a settings file, `correct-horse-battery` in quotes."""
    if len(value) < _SHORTEST_WORDY_PASSWORD and value.isalpha():
        return False
    if style == Style.MARKUP:
        return True
    if pattern(r"[^A-Za-z0-9_.:\-]").search(value):
        return pattern("[A-Za-z]").search(value) is not None and not (_is_path(value) or _is_file(value))
    words = pattern(r"[_.:\-]").split(value)
    if len(words) == 1:
        return not (value.istitle() or value.isupper() or _speaks_of_secrets(value))
    return len(words) >= _WORDS_OF_A_PHRASE and "." not in value and not _speaks_of_secrets(value)


def _is_passphrase(value: str) -> bool:
    """Tell whether a quoted sentence is a password: one of its words must mix letters and digits, `Gr33n tea`."""
    words = value.split()
    return any(pattern(r"[A-Za-z]+\d+[A-Za-z]+").search(word) for word in words) and not value.endswith((".", ":"))


def _speaks_of_secrets(value: str) -> bool:
    return (
        pattern(r"(?i)pass(?:w|phrase|code)|pwd|secret|token|key|cred|auth|user|login|name\b").search(value) is not None
    )


def _mixes(value: str) -> bool:
    return pattern(r"[A-Za-z][^A-Za-z0-9]*+[0-9]|[0-9][^A-Za-z0-9]*+[A-Za-z]").search(value) is not None


def _is_id(value: str, rank: Grade) -> bool:
    """Tell whether *value* is a UUID, a file or, where only a provider is named, the hash of a commit."""
    if is_uuid(value) or _is_file(value):
        return True
    return rank == Grade.VENDOR and pattern(r"[0-9a-f:]+").fullmatch(value) is not None


def is_uuid(value: str) -> bool:
    """Tell whether *value* is a UUID in its usual spelling."""
    return pattern(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}").fullmatch(value) is not None


def is_random(value: str) -> bool:
    """Tell whether *value* mixes its characters as no word, name or number does."""
    value = value[:LONGEST_JUDGED]
    if "://" in value or _is_path(value):
        return False
    mixed_case = mixes_case(value)
    if not _mixes(value):
        return mixed_case and len(value) >= _SHORTEST_LETTERS and value.isalnum() and not is_wordy(value)
    unpronounceable = len(value) >= _SHORTEST_PHRASE and _is_unpronounceable(value)
    if unpronounceable or is_wordy(value):
        return unpronounceable
    changes = len(pattern(r"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]").findall(value))
    if changes >= _MANY_CHANGES or (changes >= _SOME_CHANGES and mixed_case):
        return True
    return len(value) >= _SHORTEST_PLAIN_TOKEN and (mixed_case or _is_hexadecimal(value))


def _is_hexadecimal(value: str) -> bool:
    return pattern("[0-9A-Fa-f]+").fullmatch(value) is not None


def _is_unpronounceable(value: str) -> bool:
    """Tell whether five consonants follow each other, as in few words and most random strings."""
    return pattern("(?i)[bcdfghjklmnpqrstvwxz]{5}").search(value) is not None


def _is_file(value: str) -> bool:
    """Tell whether *value* ends like the name of a file in a folder."""
    return pattern(r".*/[^/]*\.[A-Za-z]\w{0,7}").fullmatch(value) is not None


def _is_path(value: str) -> bool:
    """Tell whether *value* begins like a path and one of its parts is a plain word."""
    if not pattern(r"(?:\.{0,2}|~)/[\w./-]*+").fullmatch(value):
        return False
    return pattern(r"(?<![A-Za-z0-9])[a-z]{3,}+(?![A-Za-z0-9])").search(value) is not None


def mixes_case(value: str) -> bool:
    """Tell whether *value* holds small and capital ASCII letters."""
    return bool(pattern("[a-z]").search(value) and pattern("[A-Z]").search(value))


_WORDS = (
    r"(?:(?:[A-Z]?[a-z]+[0-9]{0,4}+(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]+[0-9]{0,4}+(?![A-Za-z0-9])"
    r"|[0-9]{1,10}+(?![A-Za-z0-9]))[^A-Za-z0-9]{0,3}+)++"
)
_LETTERS_OF_A_WORD = 3.0
_LETTERS_OF_A_HUMP = 3.8


def is_wordy(value: str) -> bool:
    """Tell whether *value* is made of words and short numbers: `resnet50-fpn-coco`, `apiKeyRotationInterval`."""
    if not pattern(_WORDS).fullmatch(value.lstrip("_-./")):
        return False
    words = pattern(r"[A-Z]?[a-z]+|[A-Z]+").findall(value)
    return sum(map(len, words)) >= (_LETTERS_OF_A_HUMP if mixes_case(value) else _LETTERS_OF_A_WORD) * len(words)


def is_placeholder(value: str) -> bool:
    """Tell whether *value* stands for a secret: `<your key>`, `${TOKEN}`, `xxxx…`, the marker, a documented example."""
    value = value[:LONGEST_JUDGED]
    return (
        pattern(_PLACEHOLDER).search(value) is not None
        or _is_monotonous(value)
        or _is_alphabet(value)
        or _is_published(value)
    )


_PLACEHOLDER: Final = (
    r"^[<\[{*(]|^\$[A-Za-z_]|^%[^%]*+%$|^&lt;|\.\.\.|…|\*{3}|#{4}|\$\{|\$\(|\{\{|\{[A-Za-z_][\w.]*+\}|<[A-Za-z]|[xX]{6}"
    r"|REDACTED|EXAMPLE(?:KEY)?$|^(?i:your|enter|insert|replace|put|add)[-_ ]"
    r"|(?i:redacted|changeme|change[-_]me|placeholder|example[-_.]|^example|dummy|[-_]here$|^null$|^none$|^undefined$)"
)


def _is_monotonous(value: str) -> bool:
    """Tell whether two thirds of few-lettered *value* repeat what stands before: `aaaaaaaaaa1111111111`, `--------`."""
    if 3 * len(set(value)) > len(value) + 3 or len(value) < _SHORTEST_PASSWORD:
        return False
    repeats = sum(len(run[0]) - 1 for run in pattern(r"(?s)(.)\1+").finditer(value))
    return 3 * (len(value) - 1 - repeats) < len(value) and len(set(value)) <= _FEW_CHARACTERS


def _is_alphabet(value: str) -> bool:
    """Tell whether a quarter of *value* is the alphabet in its order, as people fill in a sample."""
    low = value.lower()
    if not any(window in low for window in _WINDOWS):
        return False
    longest = max(length for length in range(_RUN_OF_ALPHABET, len(_ALPHABET) + 1) if _holds_alphabet(low, length))
    return 4 * longest >= len(low)


def _holds_alphabet(low: str, length: int) -> bool:
    return any(_ALPHABET[at : at + length] in low for at in range(len(_ALPHABET) - length + 1))


def _is_published(value: str) -> bool:
    """Tell whether *value* is a key from its provider's own samples."""
    if not value.startswith(kinds.PUBLISHED_PREFIX):
        return False
    from hashlib import sha256  # loads OpenSSL, which one text in a thousand needs

    digest = sha256(value.encode("utf-8", "replace")).hexdigest()
    return digest[: kinds.DIGEST_DIGITS] in kinds.DOCUMENTATION_KEYS
