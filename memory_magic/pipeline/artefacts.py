r"""The stage-one file: one Markdown file for each extracted session (format 1).

Front matter first, between two `---` lines: one `key: value` a line in the fixed order of `_KEYS`, each value a JSON
value on one line (valid YAML, too). A string is therefore always quoted, with control characters and all Unicode line
breaks escaped, so that no value can begin a line or forge a key. Then, only when there is an output:

    # Raw memory

    …

    # Summary

    …

A line of the texts that reads like one of the two headings gets a backslash in front (and one more for each that it
has already), which `parse` takes away. So `parse(render(x)) == x` for every text, and a result without output is
front matter alone.

A file's stem is `<started, UTC>-<8 hex of SHA-256 of source and id>[-<slug>]`. The time and the hash keep it unique and
stable, so a slug need not be: sessions may share one, in any case or normal form.

Format history: 1 (0.1.0) first.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from memory_magic.errors import FileStateError
from memory_magic.store import files

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

FORMAT = 1
FOLDER = "stage_one"

SLUG_CHARACTERS = 60  # codex' limit
SLUG_BYTES = 180  # of UTF-8: with time, hash and suffix below the 255 that a file name may have
_HASH_LENGTHS = (8, 16, 64)

_FENCE = "---"
_RAW = "# Raw memory"
_SUMMARY = "# Summary"
_HEADING = re.compile(r"^(\\*)(# (?:Raw memory|Summary)[ \t]*\r?)$", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(\\*# (?:Raw memory|Summary)[ \t]*\r?)$", re.MULTILINE)
_BREAKS = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
_UNSEEN = re.compile("[\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f]")  # joiners, marks and variation selectors
_KEY_LINE = re.compile(r"([a-z_]+): (.*)")
_DEVICE_NAMES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)  # Windows opens the device instead


@dataclass(frozen=True, slots=True)
class Artefact:
    """The content of a stage-one file; times are ISO 8601 in UTC with `Z`, *version* is the session's content hash."""

    session: str
    source: str
    path: str
    cwd: str | None
    updated: str | None
    version: str
    model: str
    input_tokens: int
    truncated: bool
    redacted: dict[str, int] = field(default_factory=dict)
    generated: str = ""
    slug: str | None = None
    raw_memory: str = ""
    rollout_summary: str = ""

    def __post_init__(self) -> None:
        """Refuse half an output, which the file could not give back."""
        if bool(self.raw_memory) != bool(self.rollout_summary):
            raise ValueError("an output has a raw memory and a summary, or neither")

    @property
    def has_output(self) -> bool:
        """Tell an output from a session of which nothing was worth keeping."""
        return bool(self.raw_memory)


_KEYS = tuple(item.name for item in fields(Artefact))[:-2]
_TYPES: dict[str, tuple[type, ...]] = {
    "cwd": (str, type(None)),
    "updated": (str, type(None)),
    "slug": (str, type(None)),
    "input_tokens": (int,),
    "truncated": (bool,),
    "redacted": (dict,),
}


def render(artefact: Artefact) -> str:
    """Return the text of a stage-one file."""
    values = {"format": FORMAT, **{key: getattr(artefact, key) for key in _KEYS}}
    front = "\n".join([_FENCE, *(f"{key}: {_quoted(value)}" for key, value in values.items()), _FENCE])
    if not artefact.has_output:
        return f"{front}\n"
    raw, summary = _escape(artefact.raw_memory), _escape(artefact.rollout_summary)
    return f"{front}\n\n{_RAW}\n\n{raw}\n\n{_SUMMARY}\n\n{summary}\n"


def parse(text: str, *, where: str = "") -> Artefact:
    """Return the content of a stage-one file; raise `FileStateError` for a text that is none."""
    try:
        values, body = _front_matter(text)
        raw, summary = _body(body)
        return Artefact(**values, raw_memory=raw, rollout_summary=summary)
    except (ValueError, KeyError, RecursionError) as error:
        reason = f"a key is missing: {error}" if isinstance(error, KeyError) else str(error)
        hint = "delete the file and extract the session again: memory-magic run --session PATH"
        raise FileStateError(f"this is no stage-one file: {reason}", where=where, hint=hint) from error


def read(path: Path) -> Artefact:
    """Read a stage-one file; raise `FileStateError` when it is none, `StoreAccessError` when the disk refuses."""
    data = files.read(str(path)).data
    if data is None:
        raise FileStateError("there is no such stage-one file", where=str(path))
    try:
        return parse(data.decode("utf-8"), where=str(path))
    except UnicodeDecodeError as error:
        raise FileStateError("this stage-one file is not UTF-8 text", where=str(path)) from error


def write(folder: Path, stem: str, artefact: Artefact) -> Path:
    """Write a stage-one file into *folder* (made if missing) by temp and rename, private whatever the umask."""
    files.make_directory(folder)
    path = folder / f"{stem}.md"
    files.replace(path, render(artefact).encode("utf-8", "replace"))
    return path


def find(folder: Path, source: str, session: str) -> Path | None:
    """Return the file that holds what was made of a session, whatever slug it got."""
    digest = _digest(source, session)
    for length in _HASH_LENGTHS:
        for path in sorted(folder.glob(f"*-{digest[:length]}*.md")):
            # a stem of ours has neither: that is a copy which a sync tool or a person made
            if not set(path.stem) & {" ", "."} and is_of(path, source, session):
                return path
    return None


def is_of(path: Path, source: str, session: str) -> bool:
    """Tell whether a file holds what was made of this session; a damaged one holds nothing."""
    try:
        found = read(path)
    except FileStateError:
        return False
    return (found.source, found.session) == (source, session)


def new_stem(folder: Path, source: str, session: str, started: datetime | None, slug: str | None) -> str:
    """Return a stem that no other session's file has, in any case or normal form."""
    taken = {_folded(path.stem) for path in folder.glob("*.md")}
    digest = _digest(source, session)
    time = started.strftime("%Y-%m-%dT%H-%M-%S") if started else "undated"
    ending = f"-{slug}" if slug else ""
    stems = [f"{time}-{digest[:length]}{ending}" for length in _HASH_LENGTHS]
    return next((stem for stem in stems if _folded(stem) not in taken), stems[-1])


def safe_slug(text: str | None) -> str | None:
    """Return a few words of a text as part of a file name, in any script; None when nothing of it can be one."""
    seen = _UNSEEN.sub("", unicodedata.normalize("NFKC", text or "").casefold())
    folded = unicodedata.normalize("NFC", seen)
    kept = "".join(char if unicodedata.category(char)[0] in "LMN" else " " for char in folded)
    slug = "-".join(word for word in kept.split() if unicodedata.category(word[0])[0] != "M")
    slug = _cut(slug).strip("-")
    if _DEVICE_NAMES.fullmatch(slug):
        return f"session-{slug}"
    return slug or None


def _cut(slug: str) -> str:
    """Shorten a slug to its limits, between words where that leaves at least half of it."""
    short = slug[:SLUG_CHARACTERS].encode()[:SLUG_BYTES].decode("utf-8", "ignore")
    if short == slug or slug[len(short)] == "-":
        return short
    whole, dash, _ = short.rpartition("-")
    return whole if dash and len(whole) * 2 >= len(short) else short


def _digest(source: str, session: str) -> str:
    return hashlib.sha256(f"{source}\n{session}".encode("utf-8", "surrogatepass")).hexdigest()


def _folded(stem: str) -> str:
    return unicodedata.normalize("NFC", stem.casefold())


def _quoted(value: object) -> str:
    """Return a value as JSON on one line, without a character that some reader takes for a line break."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escape(text: str) -> str:
    return _HEADING.sub(r"\\\1\2", text)


def _front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Return the values of the front matter and what follows it."""
    begin, end = f"{_FENCE}\n", f"\n{_FENCE}\n"
    close = text.find(end)
    if not text.startswith(begin) or close < 0:
        raise ValueError("it does not begin with front matter")
    values: dict[str, Any] = {}
    for line in text[len(begin) : close].split("\n"):
        found = _KEY_LINE.fullmatch(line)
        if found is None or found[1] in values:
            raise ValueError("its front matter has a line that is no key, or a key twice")
        values[found[1]] = json.loads(found[2])
    if values.pop("format", None) != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    return {key: _checked(key, values[key]) for key in _KEYS}, text[close + len(end) :]


def _checked(key: str, value: object) -> object:
    """Return a value of the type that its key has."""
    if not isinstance(value, _TYPES.get(key, (str,))) or (key == "input_tokens" and isinstance(value, bool)):
        raise ValueError(f"{key} has a value of another type")
    if isinstance(value, dict) and not all(type(count) is int for count in value.values()):
        raise ValueError(f"{key} has a count that is no number")
    return value


def _body(body: str) -> tuple[str, str]:
    """Return raw memory and summary, both empty when the file has neither."""
    if not body.strip("\n"):
        return "", ""
    opening, middle = f"\n{_RAW}\n\n", f"\n\n{_SUMMARY}\n\n"
    raw, found, summary = body.removeprefix(opening).partition(middle)
    if not body.startswith(opening) or not found:
        raise ValueError("its two parts are not where they should be")
    return _ESCAPED.sub(r"\1", raw), _ESCAPED.sub(r"\1", summary.removesuffix("\n"))
