"""One journal record as Markdown, and the salted chain that holds the records together (DESIGN 3.3, store_rules 1).

A record reads like a list of changes and ends with its machine fields:

    - **revise** `2026-11-30T18:35:00.123456Z` global
      - id: 7k2m9q4tzc… -> 0b8x1v5ncd…
      - before: Deploys run on Fridays
      - after: Deploys run on Tuesdays
      - evidence: said in the stand-up notebook
      - n: 412, prev: 9d02…, salt: 5a…, chain: 1f0c…

A value of several lines stands as an indented code block, so that no value can forge a field or a record.
The chain runs over *salted commitments of the parsed fields*, not over lines: trimmed blanks and CRLF change nothing, a
purge may take a value away and leave its commitment, and an erased text cannot be guessed from what is left.

Formats:
1  2026-11  as above. CodeWhale's records (epoch seconds, a path, no chain) are read as foreign ones, with n = 0.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import re
from dataclasses import dataclass, field
from functools import lru_cache
from json.encoder import encode_basestring_ascii as _quoted
from typing import TYPE_CHECKING, Final

from memory_magic.store.records import JournalRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HEADING: Final = (
    "<!-- memory-magic journal, format 1: every change, oldest first; checked by `memory-magic verify` -->\n\n"
)
GENESIS: Final = "0" * 64
PREV_SHOWN: Final = 16
FIELDS: Final = (
    *(
        "scope",
        "id",
        "new_id",
        "before",
        "after",
        "to",
        "section",
        "pinned",
        "kind",
        "copies",
        "merged",
        "mtime",
        "clock",
    ),
    *("session", "created", "author", "lines", "undoes", "cancels", "erases", "tombstone", "evidence", "by"),
)
_ORDER: Final = {name: at for at, name in enumerate(FIELDS)}
_HEADER: Final = re.compile(r"- \*\*([a-z]+)\*\* `(\d{4}-\d\d-\d\dT[0-9:.]+Z)`(?: (.+))?$")
_FOREIGN: Final = re.compile(r"- \*\*(revise|retire)\*\* `(\d{9,11})` (.+)$")
_FIELD: Final = re.compile(r"  - ([a-z_]+):(?: (.*))?$")
_MACHINE: Final = re.compile(
    r"  - n: ([1-9]\d{0,17}), prev: ([0-9a-f]{16})(?:, salt: ([0-9a-f]{32}))?, chain: ([0-9a-f]{64})$"
)
_WORKSPACE: Final = re.compile(r"workspace[/\\]([0-9a-f]{64})[/\\]")
_BLOCK: Final = " " * 8
BETWEEN_TITLES: Final = " / "


@dataclass(frozen=True, slots=True)
class Draft:
    """A record that has no number yet."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)


def join_titles(titles: Sequence[str]) -> str:
    """Return a path of headings as one field value; a slash in a title is told from the one between two."""
    return BETWEEN_TITLES.join(title.replace("\\", "\\\\").replace("/", "\\/") for title in titles)


def split_titles(value: str) -> tuple[str, ...]:
    """Return the path of headings that `join_titles` wrote."""
    parts = (part.replace("\\/", "/").replace("\\\\", "\\") for part in value.split(BETWEEN_TITLES))
    return tuple(part for part in parts if part)


def clean_value(value: str) -> str:
    """Return *value* as it is kept and committed: line ends as newlines, no trailing blanks, no outer empty lines."""
    if value.isprintable():
        return value.rstrip()
    lines = value.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n").replace("\0", "\ufffd")


def ordered(fields: Iterable[str]) -> tuple[str, ...]:
    """Return the names of *fields* in the order in which they are written and committed."""
    return _ordered(tuple(fields))


@lru_cache(maxsize=1024)  # a journal has few kinds of records: sorting each anew took a tenth of a verify
def _ordered(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (_ORDER.get(name, len(_ORDER)), name)))


def field_salt(salt: str, name: str) -> str:
    """Return the salt of one field, 32 hexadecimal digits."""
    return hashlib.sha256(f"{salt}{name}".encode()).hexdigest()[:32]


def commitment(salt: str, value: str) -> str:
    """Return the commitment to one field's value under its own salt."""
    return hashlib.sha256(f"{salt}{value}".encode("utf-8", "surrogatepass")).hexdigest()


def chain_value(previous: str, record: JournalRecord) -> str:
    """Return what the chain must show for *record* after *previous*."""
    names = ordered({**record.fields, **record.erased} if record.erased else record.fields)
    pairs = [(name, _commitment_of(record, name)) for name in names]
    return _chain(previous, record.n, record.action, record.time, pairs)


def _chain(previous: str, n: int, action: str, time: str, commitments: Iterable[tuple[str, str]]) -> str:
    # canonical JSON put together by hand: a general encoder took longer than the hashing
    pairs = ",".join([f"[{_quoted(name)},{_quoted(digest)}]" for name, digest in commitments])
    body = f"[{_quoted(previous)},{n},{_quoted(action)},{_quoted(time)},[{pairs}]]"
    return hashlib.sha256(body.encode()).hexdigest()


def _commitment_of(record: JournalRecord, name: str) -> str:
    if name in record.erased:
        return record.erased[name]
    salt = field_salt(record.salt, name) if record.salt is not None else record.salts.get(name, "")
    return commitment(salt, record.fields[name])


def finish(draft: Draft, n: int, time: str, previous: str) -> JournalRecord:
    """Give *draft* its number, time, salt and chain."""
    fields = {name: cleaned for name in ordered(draft.fields) if (cleaned := clean_value(draft.fields[name]))}
    salt = os.urandom(16).hex()
    commitments = [(name, commitment(field_salt(salt, name), value)) for name, value in fields.items()]
    chain = _chain(previous, n, draft.action, time, commitments)
    return JournalRecord(n, draft.action, time, fields, salt, previous[:PREV_SHOWN], chain)


def placed(record: JournalRecord, offset: int, length: int) -> JournalRecord:
    """Return a new *record* with the place at which it was written."""
    one = record
    return JournalRecord(
        one.n, one.action, one.time, one.fields, one.salt, one.prev, one.chain, one.salts, one.erased, offset, length
    )


def render(record: JournalRecord) -> str:
    """Return the Markdown of a record, an empty line after it."""
    scope = record.fields.get("scope", "")
    lines = [f"- **{record.action}** `{record.time}`" + (f" {scope}" if scope else "")]
    for name in ordered(record.fields):
        if name == "id" and record.new_id:
            lines.append(f"  - id: {record.id} -> {record.new_id}")
        elif name not in {"scope", "new_id"}:
            lines.append(_render_field(name, record.fields[name]))
    for name, digests in (("salts", record.salts), ("erased", record.erased)):
        if digests:
            lines.append(f"  - {name}: " + " ".join(f"{key}={digests[key]}" for key in ordered(digests)))
    salt = f", salt: {record.salt}" if record.salt else ""
    lines.append(f"  - n: {record.n}, prev: {record.prev}{salt}, chain: {record.chain}")
    return "\n".join(lines) + "\n\n"


def _render_field(name: str, value: str) -> str:
    if "\n" not in value and not value.startswith((" ", "\t")):
        return f"  - {name}: {value}"
    block = "\n".join(_BLOCK + line if line else "" for line in value.split("\n"))
    return f"  - {name}:\n\n{block}"


def is_our_header(line: str) -> bool:
    """Tell whether *line* begins a record of ours (or the torn beginning of one)."""
    return _HEADER.match(line.rstrip()) is not None or (
        line.startswith("- **") and _FOREIGN.match(line.rstrip()) is None
    )


def parse(chunk: str, offset: int = 0, length: int = 0) -> JournalRecord | None:
    """Return the record in *chunk* (from its header line on), or None: a record counts only when it is whole."""
    header, *lines = [line.rstrip() for line in chunk.replace("\r\n", "\n").split("\n")]
    head = _HEADER.match(header)
    if head is None:
        return _parse_foreign(header, lines, offset, length)
    fields = {"scope": head[3]} if head[3] else {}
    blocks: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        if line.startswith("  - "):
            if line.startswith("  - n: ") and (machine := _MACHINE.match(line)):
                return _assemble(head, fields, blocks, machine, (offset, length))
            found = _FIELD.match(line)
            if found is None:
                return None
            name = found[1]
            fields[name] = found[2] or ""
            blocks.pop(name, None)
        elif line and not (name and line.startswith(_BLOCK)):
            return None
        elif name:
            blocks.setdefault(name, [fields[name]]).append(line[len(_BLOCK) :])
    return None


def _assemble(
    head: re.Match[str],
    fields: dict[str, str],
    blocks: dict[str, list[str]],
    machine: re.Match[str],
    place: tuple[int, int],
) -> JournalRecord:
    for name, lines in blocks.items():
        fields[name] = "\n".join(lines).strip("\n")
    salts, erased = (_read_digests(fields.pop(name, "")) for name in ("salts", "erased"))
    one, arrow, other = fields.get("id", "").partition(" -> ")
    if arrow:
        fields |= {"id": one, "new_id": other}
    n, prev, salt, chain = machine.groups()
    return JournalRecord(int(n), head[1], head[2], fields, salt, prev, chain, salts, erased, *place)


def _read_digests(text: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in text.split())
    return {name: digest for name, _, digest in pairs}


def _parse_foreign(header: str, lines: list[str], offset: int, length: int) -> JournalRecord | None:
    head = _FOREIGN.match(header)
    if head is None:
        return None
    time = dt.datetime.fromtimestamp(int(head[2]), tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
    workspace = _WORKSPACE.search(head[3])
    fields = {"scope": f"workspace/{workspace[1]}" if workspace else "global"}
    for line in lines:
        if found := _FIELD.match(line):
            fields[found[1]] = found[2] or ""
    fields["by"] = "CodeWhale"
    return JournalRecord(0, head[1], time, fields, None, "", "", offset=offset, length=length)
