"""`scope.toml`: what a person can recognise a workspace by, beside its MEMORY.md.

Four keys: `label`, `origin` (canonical, so without credentials), `aliases` (further origins, or hex ids, that mean
this workspace: a renamed or moved repository) and `created`. The file is a help, never the truth: the directory's name
is the identity, so a damaged file counts as absent and is reported. Comments and unknown keys of a hand edit last
until we write.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memory_magic.store.files import make_directory, replace
from memory_magic.store.origin_url import canonical_origin, workspace_id
from memory_magic.store.project_file import clean_label, parse_toml, quoted, safe_label
from memory_magic.store.small_files import read_small

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "scope.toml"
_NO_ALIASES = re.compile(rb"""["']?\s*=\s*\[\s*\]""")
_HEX_ID = re.compile(r"[0-9a-f]{64}")
# the longest address that origin_url reads
_ADDRESS_LENGTH = 4096


@dataclass(frozen=True, slots=True)
class ScopeFile:
    """The content of a `scope.toml`; *created* is ISO 8601 in UTC, or empty when it is not known."""

    label: str = ""
    origin: str = ""
    aliases: tuple[str, ...] = ()
    created: str = ""


def read_scope_file(scope_dir: Path) -> tuple[ScopeFile | None, str]:
    """Return (content, ""), (None, "") when there is no file, (None, what is wrong) when it cannot be understood."""
    path = scope_dir / FILE_NAME
    try:
        data = read_small(path)
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except OSError:
        return None, f"{path} cannot be read"
    return _understood(path, data)


def _understood(path: Path, data: bytes) -> tuple[ScopeFile | None, str]:
    """Check the four keys."""
    table, fault = parse_toml(data)
    if fault:
        return None, f"{path} {fault}"
    aliases = table.get("aliases", [])
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        return None, f'{path}: "aliases" has to be a list of texts'
    label, origin, created = (table.get(key, "") for key in ("label", "origin", "created"))
    if not isinstance(label, str) or not isinstance(origin, str):
        return None, f'{path}: "label" and "origin" have to be texts'
    # a hand edit may hold an address with a password, or a TOML date instead of a text
    shown = clean_label(_without_credentials(origin), _ADDRESS_LENGTH)
    when = created if isinstance(created, str) else getattr(created, "isoformat", str)()
    return ScopeFile(clean_label(label), shown, tuple(aliases), when), ""


def write_scope_file(scope_dir: Path, content: ScopeFile) -> Path:
    """Write `scope.toml` (mode 0600, directories 0700) at once; the caller holds the store's lock.

    Every value passes redaction; a `StoreAccessError` says that the disk refused.
    """
    aliases = ", ".join(quoted(_safe(alias)) for alias in content.aliases)
    text = (
        f"label = {quoted(safe_label(content.label))}\n"
        f"origin = {quoted(_safe(content.origin))}\n"
        f"aliases = [{aliases}]\n"
        f"created = {quoted(clean_label(content.created))}\n"
    )
    path = scope_dir / FILE_NAME
    make_directory(scope_dir)
    replace(path, text.encode("utf-8"))
    return path


def alias_id(alias: str) -> str:
    """Return the workspace id that an entry of `aliases` stands for, however the person wrote the address."""
    text = alias.strip()
    if _HEX_ID.fullmatch(text):
        return text
    return workspace_id(canonical_origin(text) or text)


def alias_holders(workspaces: Path, identity: str, last_word: str) -> list[str]:
    """Return the ids of the workspaces whose `scope.toml` lists *identity* as an alias, in order.

    *last_word* is the end of the canonical origin: only a file that holds it, the id or an escape is parsed.
    """
    try:
        names = sorted(os.listdir(workspaces))  # noqa: PTH208 - a hook passes here: half of pathlib's time
    except OSError:
        return []
    words = [identity, "%"] + ([last_word] if last_word and "%" not in last_word else [])
    needles = [word.encode("utf-8", "surrogateescape") for word in words]
    return [
        name
        for name in names
        if name != identity and _HEX_ID.fullmatch(name) and _lists(workspaces, name, identity, needles)
    ]


def _lists(workspaces: Path, name: str, identity: str, needles: list[bytes]) -> bool:
    """Tell whether one workspace lists the alias, ruling out most files without parsing them."""
    try:
        data = read_small(f"{workspaces}/{name}/{FILE_NAME}")
    except OSError:
        return False
    if not _may_list(data, needles):
        return False
    content, _ = _understood(workspaces / name / FILE_NAME, data)
    return content is not None and identity in map(alias_id, content.aliases)


def _may_list(data: bytes, needles: list[bytes]) -> bool:
    """Rule out a file without an alias, or with others only, by a look at its bytes."""
    if b"\\" in data:
        return True
    _, key, rest = data.partition(b"aliases")
    if not key or (_NO_ALIASES.match(rest) and b"aliases" not in rest):
        return False
    return any(needle in rest for needle in needles)


def _safe(text: str) -> str:
    """Return one line of text that may stand on disk: no credentials, no secrets, no control characters."""
    if _HEX_ID.fullmatch(text):
        return text
    from memory_magic.text.redact import redact

    return clean_label(redact(_without_credentials(text)).text, _ADDRESS_LENGTH)


def _without_credentials(text: str) -> str:
    """Return an address in canonical form; one that cannot be read and may hold a password becomes empty."""
    if canonical := canonical_origin(text):
        return canonical
    return "" if "://" in text or "@" in text.partition("/")[0] else text
