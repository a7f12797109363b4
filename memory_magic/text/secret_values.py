"""Secrets that are called by name: `password: …`, `API_KEY=…`, `Authorization: Bearer …`, "the password is …".

The stem of a name is found first, then the whole name is read, graded, and the value behind it taken: an assignment in
any of the common spellings (settings, JSON, YAML, XML, code, tables, name and value in two fields), a header, a flag of
a command, or a sentence. What stands between the name and the value is kept; the value goes.

Invariants: a name is read once, however many stems it holds; what follows it is read up to a fixed distance, so time
is linear on any input.
"""

from __future__ import annotations

from binascii import Error as Base64Error
from binascii import a2b_base64
from functools import cache
from typing import TYPE_CHECKING, Final

from memory_magic.text import secret_kinds as kinds
from memory_magic.text.secret_judge import (
    Grade,
    Style,
    grade,
    is_placeholder,
    is_random,
    is_secret,
    is_uuid,
    is_wordy,
    pattern,
)
from memory_magic.text.secret_places import find_in_manifest
from memory_magic.text.secret_tokens import KIND_OF_GRADE, end_of, prefixed

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from memory_magic.text.secret_tokens import Found, Page

_LONGEST_NAME = 100
_LONGEST_VALUE = 4096
_LONGEST_WORD = 24
_SHORTEST_CREDENTIAL = 6

_NAME_REST: Final = r"[A-Za-z0-9_ñ-]*+(?:\.[A-Za-z0-9_-]++){0,8}+"
_ANNOTATION: Final = (
    r"(?::[ \t]*+(?:Optional\[)?(?:str|bytes|string|SecretStr|SecretBytes|[Aa]ny)\]?(?:[ \t]*+\|[ \t]*+None)?"
    r"[ \t]*+(?==)|(?<=[ \t])(?:string|str|text)[ \t]*+(?==))?"
)
_PAIR: Final = r"(?P<pair>[ \t]*+,?\s{0,40}+\\{0,4}[\"']?[vV]alue\\{0,4}[\"']?[ \t]*+[=:])"
_ASSIGN: Final = (
    r"(?P<close>[\\\"'`*\[\])]{0,6}+)"
    rf"(?:{_PAIR}|[ \t]{{0,8}}+{_ANNOTATION}(?P<op>:=|\?=|\+=|\.=|=>|->|={{1,3}}+|!=|::?|：|[,|(]|>(?=[^\s<>])))"
    r"(?P<space>[ \t*]{0,8}+)"
    r"(?P<quote>(?:(?:@|[rRbBuUfF]{1,2}+)(?=[\"']))?\\{0,4}+(?:\"{3}|'{3}|[\"'`“‘«]))?"
)
_CLOSERS: Final = {"“": "”", "‘": "’", "«": "»"}

_LINE_START: Final = r"(?:[ \t>*+\-#/;|$!%&{\"'`]|(?:export|setx?|ENV|ARG|env|declare|-[xeE])[ \t]|env:|[0-9]+[.)])*+"
_LINE_VALUE: Final = r"(?:[^\s\"'`\\;&,<>]|\\(?![nrt\"'])|[;&](?![\w.-]{1,40}=)|,(?![\w.-]{1,40}=|\s|$)){1,4096}+"
# a sign inside ends the value: what follows it has a name of its own
_QUERY_VALUE: Final = r"[^\s\"'`\\;&#<>?=]{1,4096}+={0,2}+"
_BARE_VALUE: Final = r"[^\s\"'`<>(){}\[\],;|&\\=]{1,4096}+={0,2}+"
_TRAILING: Final = ".,;:!?)]}\"'`*»”’。，、"

_HEADER: Final = r"(?:(?P<scheme>[A-Za-z][A-Za-z-]{1,19})(?::[ \t]*+|[ \t]++))?(?P<value>[^\s\"'`,;<>\\]{4,4096}+)"
_BEARER: Final = r"[ \t]{1,4}+(?P<value>[A-Za-z0-9._~+/=-]{16,4096}+)"

_TALK: Final = (
    r"[\"'`*]{0,3}+[ \t]{1,3}+(?P<gap>(?:[^\s.!?;:=()\[\]{}<>]{1,30}+[ \t]{1,3}+){0,8}?)"
    r"(?:(?:is|was|are|be|been|becomes|ist|lautet|war|est|es|era|é|è|är)(?![\w-]):?|(?:set|changed|reset) to(?![\w-])"
    r"|(?P<last>[^\s.!?;:=()\[\]{}<>]{0,30}+)[ \t]?(?:[:=]|->))[ \t]{1,3}+"
    r"(?:(?:now|still|just|again|currently|simply|actually|set|changed|reset|updated|to)[ \t]++){0,4}+"
    r"(?P<quote>[\"'`“‘«*]{0,2}+)(?P<value>[^\s\"`“”«»]{4,200})"
)
_BESIDE: Final = r"[ \t]{1,3}+(?P<quote>[\"'`]?)(?P<value>[^\s\"'`]{6,400})"
_FOREIGN: Final = r"[^\n。！？!?A-Za-z0-9]{0,16}?(?P<value>[!-;=?-~]{6,200})"
_FOREIGN_OPENERS: Final = ":=\"'`([<"


def find_named(page: Page) -> Iterator[Found]:
    """Yield each secret that a name in front of it gives away."""
    done = manifest = 0
    for at in _stems(page):
        if at < done:
            continue
        start, done = _name_around(page, at)
        if done - start > _LONGEST_NAME:
            continue
        if page.low[start:done] == b"secret" and start >= manifest:
            manifest, entries = find_in_manifest(page, start)
            yield from entries
        found = _after_name(page, start, done)
        if found:
            done = found[1]
            yield found
    if not page.text.isascii():
        yield from _find_foreign(page.text)


def _stems(page: Page) -> list[int]:
    """List where a stem of a name stands, in order."""
    found: list[int] = []
    find = page.low.find
    stems = kinds.STEMS if page.text.isascii() else kinds.STEMS + kinds.ACCENTED_STEMS
    for stem in stems:
        needle = stem.encode()
        at = find(needle)
        while at >= 0:
            found.append(at)
            at = find(needle, at + len(needle))
    return sorted(found)


def _name_around(page: Page, at: int) -> tuple[int, int]:
    """Return the bounds of the name that holds the stem at *at*, parts joined by dots included."""
    start = page.word_start(at)
    for _ in range(3):
        if not start or page.text[start - 1] != "." or not page.shape[start - 2 : start - 1].strip():
            break
        start = page.word_start(start - 1)
    rest = pattern(_NAME_REST).match(page.text, at)
    return start, rest.end() if rest else at


def _after_name(page: Page, start: int, end: int) -> Found | None:
    """Return the secret behind the name from *start* to *end*, whichever way it is given."""
    text = page.text
    name = text[start:end]
    low_name = name.lower()
    if low_name == "bearer" or low_name.endswith("authorization"):
        found = _bearer(text, end) if low_name == "bearer" else _header(text, end)
        if found:
            return *found, "header"
    rank = grade(_with_word_before(text, start, name))
    if rank == Grade.NONE:
        return None
    sign = pattern(_ASSIGN).match(text, end)
    found = _assigned(page, start, sign, rank) if sign else _said(text, start, end, rank)
    if not found:
        return None
    low, high = found
    if high - low >= _LONGEST_VALUE:  # only so much was judged: the rest of it goes as well
        high = end_of(r"[A-Za-z0-9_+/=.-]*+", text, high)
    return low, high, KIND_OF_GRADE[rank]


def _with_word_before(text: str, start: int, name: str) -> str:
    """Return "API key" for the *key* of a sentence: the word before says what it opens."""
    if text[start - 1 : start] != " " or not name.isalpha():
        return name
    before = pattern(r"[A-Za-z]++(?= \Z)").search(text, max(start - _LONGEST_WORD, 0), start)
    return f"{before[0]}_{name}" if before else name


def _assigned(page: Page, start: int, sign: re.Match[str], rank: Grade) -> tuple[int, int] | None:
    """Return the bounds of the value behind the assignment *sign*, if it is a secret."""
    if sign["quote"]:
        span = _quoted(page.text, sign)
        if span and _sign_fits(page.text, sign, span, rank):
            style = Style.MARKUP if sign["pair"] else Style.QUOTED
            return span if is_secret(page.text[slice(*span)], rank, style) else None
        if span:
            return None
    span, style = _bare(page, start, sign)
    return span if is_secret(page.text[slice(*span)], rank, style) else None


def _sign_fits(text: str, sign: re.Match[str], span: tuple[int, int], rank: Grade) -> bool:
    """Refuse a mere comma or bracket as an assignment, unless it stands between strings and the value has a digit."""
    if sign["op"] == ",":
        return bool(sign["close"].strip("*)]")) and pattern("[0-9]").search(text, *span) is not None
    if sign["op"] == "(":
        return rank >= Grade.TOKEN and pattern("[0-9]").search(text, *span) is not None
    return sign["op"] not in {"|", ">"}


def _quoted(text: str, sign: re.Match[str]) -> tuple[int, int] | None:
    """Return the bounds of the quoted value, None when its quote is not closed on the line."""
    mark = sign["quote"].lstrip("@rRbBuUfF")
    closer = _CLOSERS.get(mark, mark)
    low = sign.end()
    high = text.find(closer, low, low + _LONGEST_VALUE)
    while high > low and text[high - 1] == "\\" and closer[0] != "\\":
        high = text.find(closer, high + 1, low + _LONGEST_VALUE)
    is_one_line = mark.strip("\\") not in {'"' * 3, "'" * 3}
    if high <= low or (is_one_line and text.find("\n", low, high) >= 0):
        return None
    return low, high


def _bare(page: Page, start: int, sign: re.Match[str]) -> tuple[tuple[int, int], Style]:
    """Return the bounds of a value without quotes, and how surely it is a value and no expression."""
    text, low, op = page.text, sign.end(), sign["op"]
    if op in {",", "("}:
        return (low, low), Style.CODE
    if op == ">":
        return (low, end_of(r"[^<\s]{1,4096}+(?=</)", text, low)), Style.MARKUP
    if text[start - 1 : start] in set("?&;"):
        return (low, _trimmed(text, low, end_of(_QUERY_VALUE, text, low), _TRAILING)), Style.LINE
    style = _style(text, start, sign)
    high = end_of(_LINE_VALUE if style == Style.LINE else _BARE_VALUE, text, low)
    if pattern(_EXPRESSION).match(text, low, high) or (style != Style.LINE and text[high : high + 1] in {"(", "["}):
        return (low, low), style
    if style == Style.LINE and op != "=" and not pattern(_END_OF_LINE).match(text, high):
        style = Style.TALK
    return (low, _trimmed(text, low, high, ",;" if style == Style.LINE else _TRAILING)), style


_EXPRESSION: Final = r"[A-Za-z_][\w.]*+[\[(][^\])]*+(?:[\])]|\Z)"
_END_OF_LINE: Final = r"[ \t,;]*+(?:#|$|\n|\r|\\n)"


def _trimmed(text: str, low: int, high: int, characters: str) -> int:
    """Return where the value ends without the closing *characters* of what stands around it."""
    return low + len(text[low:high].rstrip(characters))


def _style(text: str, start: int, sign: re.Match[str]) -> Style:
    """Tell a line of a settings file from an expression of a program and from a sentence."""
    is_first = _is_first_on_line(text, start)
    if sign["op"] and "=" in sign["op"]:
        tight = not sign["space"] and text[sign.start("op") - 1] != " "
        if is_first:
            return Style.LINE if tight else Style.TALK
        is_argument = text[max(start - _LONGEST_WORD, 0) : start].rstrip()[-1:] in {"(", ",", "[", "{"}
        return Style.TALK if tight and not is_argument else Style.CODE
    return Style.LINE if is_first and sign["op"] == ":" else Style.TALK


def _is_first_on_line(text: str, start: int) -> bool:
    """Tell whether nothing but a list mark or a word like `export` stands before *start* on its line."""
    floor = max(start - _LONGEST_NAME, 0)
    line = text.rfind("\n", floor, start) + 1
    if not line and floor:
        return False
    return pattern(_LINE_START).fullmatch(text, line, start) is not None


def _bearer(text: str, end: int) -> tuple[int, int] | None:
    """Return the bounds of the credential in `Bearer …`, wherever that stands."""
    value = pattern(_BEARER).match(text, end)
    if value and is_random(value["value"]) and not is_placeholder(value["value"]):
        return value.span("value")
    return None


def _header(text: str, end: int) -> tuple[int, int] | None:
    """Return the bounds of the credential in `Authorization: Basic …`."""
    sign = pattern(_ASSIGN).match(text, end)
    value = pattern(_HEADER).match(text, sign.end()) if sign else None
    if not value:
        return None
    scheme, credential = (value["scheme"] or "").lower(), value["value"]
    if is_placeholder(credential) or (scheme and scheme not in kinds.SCHEMES):
        return None
    good = _is_credential(scheme, credential) if scheme else is_secret(credential, Grade.TOKEN, Style.LINE)
    return value.span("value") if good else None


def _is_credential(scheme: str, value: str) -> bool:
    if scheme == "basic":
        try:
            return b":" in a2b_base64(value + "=" * (-len(value) % 4)) or is_random(value)
        except Base64Error:
            return is_random(value)
    if value.lower() in kinds.STOP_VALUES or len(value) < _SHORTEST_CREDENTIAL:
        return False
    return pattern("[0-9]").search(value) is not None and not is_wordy(value)


def _said(text: str, start: int, end: int, rank: Grade) -> tuple[int, int] | None:
    """Return the bounds of the secret of a sentence: "the password for the staging database is …"."""
    if rank < Grade.WEAK:
        return None
    talk = pattern(_TALK).match(text, end)
    if not talk:
        return _beside(text, start, end, rank)
    gap = talk["gap"] + (talk["last"] or "")
    if _is_about(gap) or (gap and text[start:end].lower() == "pass"):  # "pass the hooks to …" is a verb
        return None
    low = talk.start("value")
    value = talk["value"].rstrip(_TRAILING)
    style = Style.QUOTED if talk["quote"].strip("*") else Style.TALK
    good = is_secret(value, rank, style) or (rank >= Grade.TOKEN and _is_short_key(text, low))
    return (low, low + len(value)) if good else _beside(text, start, end, rank)


def _is_about(gap: str) -> bool:
    """Tell whether the words behind the name make it another name: "password reset flow is", "key takeaways:"."""
    words = pattern("[a-z]+").findall(gap.lower())
    return bool(words) and (words[0] in kinds.BENIGN_LAST or words[-1] in kinds.BENIGN_LAST)


_SHORT_KEY: Final = r"(?:sk|pk|rk|api|key|tok)[-_](?=[a-z]*[0-9])[A-Za-z0-9]{5,15}(?![\w-])"
_LOGIN: Final = r"(?i)\b(?:user(?:name)?|login|account|konto)\b"


def _is_short_key(text: str, at: int) -> bool:
    """Tell whether a key stands at *at* that is too short for its prefix alone: "key sk-abc123"."""
    return pattern(_SHORT_KEY).match(text, at) is not None


def _beside(text: str, start: int, end: int, rank: Grade) -> tuple[int, int] | None:
    """Return the bounds of a secret that follows its name without a sign: `%env API_KEY …`, `--password …`."""
    beside = pattern(_BESIDE).match(text, end)
    if not beside:
        return None
    low = beside.start("value")
    value = beside["value"].rstrip(_TRAILING)
    if text[start : start + 2] == "--" or (text[start:end].isupper() and _is_first_on_line(text, start)):
        good = is_secret(value, rank, Style.TALK)
    elif rank == Grade.PASSWORD:
        good = _is_password_of_a_user(text, start, value)
    else:
        good = is_secret(value, rank if rank >= Grade.TOKEN and is_uuid(value) else Grade.WEAK, Style.TALK)
        good = good or _is_short_key(text, low) or prefixed(text, low) is not None
    return (low, low + len(value)) if good else None


def _is_password_of_a_user(text: str, start: int, value: str) -> bool:
    """Tell whether *value* is the password in "user ana password …" and not the next word of a sentence."""
    if not is_secret(value, Grade.PASSWORD, Style.CODE) or value[:4].isdigit():
        return False
    is_login = pattern(_LOGIN).search(text, max(start - _LONGEST_NAME, 0), start)
    return not is_wordy(value) if is_login else is_random(value)


@cache
def _foreign_stems() -> dict[str, list[str]]:
    """Order the foreign stems by their first letter: most texts hold none of these letters."""
    stems: dict[str, list[str]] = {}
    for stem in kinds.FOREIGN_STEMS:
        stems.setdefault(stem[0], []).append(stem)
    return stems


def _find_foreign(text: str) -> Iterator[Found]:
    """Yield what looks like a password behind a word for it in another script."""
    for first, stems in _foreign_stems().items():
        if first in text:
            for stem in stems:
                yield from _behind(text, stem)


def _behind(text: str, stem: str) -> Iterator[Found]:
    at = text.find(stem)
    while at >= 0:
        value = pattern(_FOREIGN).match(text, at + len(stem))
        if value:
            bare = value["value"].lstrip(_FOREIGN_OPENERS)
            low = value.end("value") - len(bare)
            high = low + len(bare.rstrip(_TRAILING))
            if is_secret(text[low:high], Grade.PASSWORD, Style.TALK):
                yield low, high, "password"
        at = text.find(stem, at + len(stem))
