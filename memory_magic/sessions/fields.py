"""Values of foreign records, taken with care: every field of every file may be missing or of another type.

Pure functions, shared by the readers. None of them raises; what cannot be used becomes None or nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

# the hosts that a model provider's plain name stands for; a name that is not here tells no host
_PROVIDER_HOSTS = {
    "anthropic": "api.anthropic.com",
    "openai": "api.openai.com",
    "llama.cpp": "localhost",
    "lm-studio": "localhost",
    "lm_studio": "localhost",
    "lmstudio": "localhost",
    "ollama": "localhost",
    "ollama_chat": "localhost",
    "oss": "localhost",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def first_text(*values: object) -> str | None:
    """Return the first value that is a text with something in it."""
    return next((value for value in values if isinstance(value, str) and value), None)


def moment(stamp: object) -> datetime | None:
    """Return an RFC 3339 time in UTC, None for anything else."""
    if not isinstance(stamp, str):
        return None
    try:
        time = datetime.fromisoformat(stamp)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # no time, or one at the edge of the calendar
        return None


def epoch(seconds: object) -> datetime | None:
    """Return a time given in seconds since 1970, None for anything else."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except (ValueError, OverflowError):  # NaN, infinity, or outside the calendar
        return None


def modified(file: Path) -> datetime | None:
    """Return when a file was last written, None when it has gone."""
    try:
        return epoch(file.stat().st_mtime)
    except OSError:
        return None


def texts(content: object) -> list[str]:
    """Return the texts of a message's content parts, in order."""
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return []
    return [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]


def output_text(output: object) -> str:
    """Return an output as text: a string as it is, parts joined by line feeds, anything else as JSON."""
    if output is None or isinstance(output, str):
        return output or ""
    if isinstance(output, dict) and "content" in output:  # {"content": …, "success": …}
        return output_text(output["content"])
    if isinstance(output, list) and any(isinstance(part, dict) and "text" in part for part in output):
        return "\n".join(texts(output))
    return msgspec.json.encode(output).decode()


def part_texts(content: object) -> str:
    """Return a tool's answer as text: each part that is no text is only named, never quoted."""
    if not isinstance(content, list):
        return output_text(content)
    return "\n".join(_part_text(part) for part in content)


def _part_text(part: object) -> str:
    """Return one part of a tool's answer."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return msgspec.json.encode(part).decode()
    text = part.get("text")
    return text if isinstance(text, str) else f"[{first_text(part.get('type')) or 'part'}]"


def decoded(given: object) -> object:
    """Return what a JSON text says; a text that is no JSON stays as it is."""
    if not isinstance(given, str):
        return given
    try:
        return msgspec.json.decode(given)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):  # the model wrote no JSON: its words are meant
        return given


def without_colours(text: str) -> str:
    """Return a terminal's text without its escape sequences."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def provider_host(provider: object) -> str | None:
    """Return the host that a model provider's name stands for, None when it tells none."""
    return _PROVIDER_HOSTS.get(provider.lower()) if isinstance(provider, str) else None


def common_host(hosts: Iterable[str | None]) -> str | None:
    """Return the one host that all answers came from; this machine wins, because one local answer makes all local."""
    found = set(hosts)
    if "localhost" in found:
        return "localhost"
    return found.pop() if len(found) == 1 else None


def id_of_path(file: Path) -> str:
    """Return an id for a file that carries none: its name, and a hash of where it lies."""
    real = os.path.realpath(file)
    return f"{file.stem}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:16]}"


def folder_of(file: Path) -> str:
    """Return the absolute folder of a file: the working directory of a record that states none."""
    return os.path.dirname(os.path.abspath(file))  # noqa: PTH100, PTH120 -- resolve() would follow links
