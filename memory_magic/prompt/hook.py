"""The hook: a prompt is being built, and the memory block goes to the topic on which the builder waits.

The contract is capsule-memory's. The payload holds a string `response_topic`, different for every request; the answer
`{"appendSystemContext": text}` is published there once, or nothing at all when there is no memory or memory is off.
A payload without the topic is an error that lists the payload's keys and never a value: values are the conversation.
A payload may name its conversation (`session_id`); then every prompt of it gets the block of the first.

Invariants: no state between two requests but that frozen block, so interleaved ones cannot mix; the store is only
read, and the one thing written is the ledger's line with its block; an error tells of the payload and of memory no
more than names; standard library only, as `run_process` runs before every prompt.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from memory_magic.errors import HookError, MemoryMagicError
from memory_magic.prompt.injection import inject
from memory_magic.prompt.place import place_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

EVENT: Final = "prompt_builder.v1.hook.before_build"
ACTION: Final = "on_before_prompt_build"
TOPIC_KEY: Final = "response_topic"
ANSWER_KEY: Final = "appendSystemContext"
FS_READ: Final = ("cwd://", "home://")

ASSISTANT: Final = "capsule"
CONVERSATION_KEYS: Final = ("session_id", "conversation_id", "conversation")
"""Keys under which a payload may name its conversation; the capsule's own has none of them."""

_KEYS_SHOWN, _KEY_LENGTH, _LONGEST_NAME = 20, 60, 200
_MANIFEST = Path(__file__).with_name("manifest.toml")


class Manifest(NamedTuple):
    """What `manifest.toml` declares."""

    event: str
    action: str
    allow_prompt_injection: bool
    fs_read: tuple[str, ...]


def before_build(
    payload: Mapping[str, object] | str | bytes,
    publish: Callable[[str, dict[str, str]], object],
    *,
    root: str | Path | None = None,
    cwd: str | Path | None = None,
) -> None:
    """Publish the memory block on the payload's `response_topic`, once, or nothing.

    *payload* is a mapping or its JSON; *root* and *cwd* are the default store and the present directory. Raises
    `HookError` for a payload without topic, `MemoryMagicError` where memory cannot be read; what *publish* raises is
    passed on.
    """
    fields = _fields(payload)
    topic = _topic(fields)
    text = _text(fields, root, cwd)
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
    # the process ends now: looking for garbage on its way out takes a tenth of its time
    gc.freeze()


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


def _text(fields: Mapping[str, object], root: str | Path | None, cwd: str | Path | None) -> str:
    """Return the block's text for a request."""
    try:
        place = place_at(root, cwd)
        if not place.is_on:
            return ""
        prompt = prompt_of(fields) if place.settings.recall == "relevant" else ""
        made = inject(place, assistant=ASSISTANT, conversation=conversation_of(fields), prompt=prompt)
    except (MemoryMagicError, OSError):
        raise
    except Exception as error:  # noqa: BLE001 -- a fault of ours may carry a note in its text: only its kind is told
        raise HookError(f"The memory block could not be made ({type(error).__name__})") from None
    return made.text


def conversation_of(fields: Mapping[str, object]) -> str:
    """Return the conversation that a payload names, empty if it names none that could be a name."""
    for key in CONVERSATION_KEYS:
        name = fields.get(key)
        if isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and name.isprintable():
            return name
    return ""


def prompt_of(fields: Mapping[str, object]) -> str:
    """Return what the person said last: `prompt`, else the last message of the role user."""
    prompt = fields.get("prompt")
    if isinstance(prompt, str):
        return prompt
    messages = fields.get("messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, Mapping) and message.get("role") == "user":
            return _said(message.get("content"))
    return ""


def _said(content: Any) -> str:
    """Return the text of a message: a string, or a list of parts with texts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _fields(payload: Mapping[str, object] | str | bytes) -> Mapping[str, object]:
    fields = _parse(payload) if isinstance(payload, str | bytes) else payload
    if not isinstance(fields, Mapping):
        raise HookError("The before_build payload is not a JSON object", hint=_HINT)
    return fields


def _topic(fields: Mapping[str, object]) -> str:
    """Return the topic of a payload, or raise without quoting any value."""
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
    from memory_magic.text.redact import redact
    from memory_magic.text.report import plain

    names = [redact(plain(str(key))).text for key in fields]
    shown = [name if len(name) <= _KEY_LENGTH else name[: _KEY_LENGTH - 1] + "…" for name in names[:_KEYS_SHOWN]]
    more = f" and {len(names) - _KEYS_SHOWN} more" if len(names) > _KEYS_SHOWN else ""
    return f"keys: {', '.join(shown) or 'none'}{more}"
