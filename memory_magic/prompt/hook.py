"""The hook: a prompt is being built, and the memory block goes to the topic on which the builder waits.

The contract is capsule-memory's. The payload holds a string `response_topic`, different for every request; the answer
`{"appendSystemContext": text}` is published there once, or nothing at all when there is no memory or memory is off.
A payload without the topic is an error that lists the payload's keys and never a value: values are the conversation.

Invariants: no state between two requests, so interleaved ones cannot mix; the store is opened read-only and closed
again; standard library only, as `run_process` runs before every prompt.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Protocol

from memory_magic.errors import HookError
from memory_magic.prompt.block import NotesSettings, NotesStore, memory_block
from memory_magic.text.redact import redact
from memory_magic.text.report import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

EVENT: Final = "prompt_builder.v1.hook.before_build"
ACTION: Final = "on_before_prompt_build"
TOPIC_KEY: Final = "response_topic"
ANSWER_KEY: Final = "appendSystemContext"
FS_READ: Final = ("cwd://", "home://")

_KEYS_SHOWN, _KEY_LENGTH = 20, 60
_MANIFEST = Path(__file__).with_name("manifest.toml")


class HookSettings(NotesSettings, Protocol):
    """The settings that decide whether memory reaches a prompt, and how much."""

    @property
    def enabled(self) -> bool:
        """The main switch."""

    @property
    def use_memories(self) -> bool:
        """The switch for prompts alone."""


class HookStore(NotesStore, Protocol):
    """A store with its settings."""

    @property
    def settings(self) -> HookSettings:
        """The settings of the store's root."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What `manifest.toml` declares."""

    event: str
    action: str
    allow_prompt_injection: bool
    fs_read: tuple[str, ...]


def before_build(
    payload: Mapping[str, object] | str | bytes,
    publish: Callable[[str, dict[str, str]], object],
    store: HookStore | None = None,
) -> None:
    """Publish the memory block on the payload's `response_topic`, once, or nothing.

    *payload* is a mapping or its JSON; without a *store* the default one is opened read-only. Raises `HookError` for
    a payload without topic; what *publish* raises is passed on.
    """
    topic = _topic(payload)
    text = _block_text(store) if store is not None else _text_of_default_store()
    if text:
        publish(topic, {ANSWER_KEY: text})


on_before_prompt_build = before_build
"""The action of the manifest."""


def run_process(stdin: IO[bytes] | IO[str], stdout: IO[str]) -> None:
    """Answer one payload on *stdin* by one line `{"topic", "message"}` on *stdout*, or by nothing.

    The line is ASCII, so no locale can break it.
    """

    def publish(topic: str, message: dict[str, str]) -> None:
        stdout.write(json.dumps({"topic": topic, "message": message}) + "\n")
        stdout.flush()

    # Bytes where we can have them: JSON is UTF-8 whatever the locale says.
    before_build(getattr(stdin, "buffer", stdin).read(), publish)


def load_manifest(path: Path = _MANIFEST) -> Manifest:
    """Return the manifest, or raise `HookError` if it asks for anything but what this hook needs."""
    import tomllib

    try:
        declared = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise HookError(f"The manifest cannot be read: {type(error).__name__}", where=path.name) from error
    # TOML's 1 equals True in Python, and is not what a host reads as a right
    if declared != _DECLARATION or declared["capabilities"]["allow_prompt_injection"] is not True:
        raise HookError(
            "The manifest asks for other events or rights than this hook may have",
            where=path.name,
            hint="install memory-magic again",
        )
    return Manifest(EVENT, ACTION, allow_prompt_injection=True, fs_read=FS_READ)


_DECLARATION: Final = {
    "capabilities": {"allow_prompt_injection": True, "fs_read": list(FS_READ)},
    "interceptor": [{"event": EVENT, "action": ACTION}],
}


def _text_of_default_store() -> str:
    from memory_magic.store.store import Store

    store = Store(read_only=True)
    try:
        return _block_text(store)
    finally:
        store.close()


def _block_text(store: HookStore) -> str:
    settings = store.settings
    # `memory = "off"` in a project file; a store that knows no projects has no such switch
    off_here = getattr(store, "is_off_here", False)
    if off_here or not (settings.enabled and settings.use_memories):
        return ""
    return memory_block(store, settings=settings).text


def _topic(payload: Mapping[str, object] | str | bytes) -> str:
    """Return the topic of a payload, or raise without quoting any value."""
    fields = _parse(payload) if isinstance(payload, str | bytes) else payload
    if not isinstance(fields, Mapping):
        raise HookError("The before_build payload is not a JSON object", hint=_HINT)
    topic = fields.get(TOPIC_KEY)
    if not isinstance(topic, str) or not topic:
        raise HookError(f"The before_build payload has no text under {TOPIC_KEY}", where=_keys(fields), hint=_HINT)
    return topic


_HINT = f"the prompt builder has to send an object with {TOPIC_KEY}"


def _parse(payload: str | bytes) -> object:
    try:
        fields: object = json.loads(payload)
    except (ValueError, RecursionError):
        # Not chained: a decoding error carries the whole payload, and that is the conversation.
        raise HookError("The before_build payload is not JSON", hint=_HINT) from None
    return fields


def _keys(fields: Iterable[object]) -> str:
    """Return the top-level keys for an error, bounded and safe to print."""
    names = [redact(plain(str(key))).text for key in fields]
    shown = [name if len(name) <= _KEY_LENGTH else name[: _KEY_LENGTH - 1] + "…" for name in names[:_KEYS_SHOWN]]
    more = f" and {len(names) - _KEYS_SHOWN} more" if len(names) > _KEYS_SHOWN else ""
    return f"keys: {', '.join(shown) or 'none'}{more}"
