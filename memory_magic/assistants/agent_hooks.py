"""`memory-magic hook claude-code|codex [--section NAME]`: memory for agents that run a command on their events.

The payload is a JSON object on standard input, the answer one on standard output, in the form that both clients share:
`{"hookSpecificOutput": {"hookEventName": …, "additionalContext": …}}`, or nothing when there is nothing to say.

- SessionStart (startup, resume, clear, compact) and SubagentStart are told the section, or the whole block;
- UserPromptSubmit is told it only when the session has not had it, and afterwards what changed (`hook_changes`);
- every other event gets no answer.

A sub-agent has a conversation of its own and its parent's scopes: those of the directory where the parent was told.

Invariants: the agent is never blocked, whatever happens: exit status 0 (2 would throw the prompt away), at most `LIMIT`
characters, an end after a few seconds even where a lock or a disk hangs, with what could be read until then. What went
wrong is kept at the root and said once by `status`; it never holds a word of the conversation. Each answer stands in
the ledger before it is printed. Standard library only: the clients wait for this on every prompt.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from memory_magic.errors import HookError, MemoryMagicError
from memory_magic.prompt.hook import conversation_of, prompt_of
from memory_magic.prompt.place import place_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from memory_magic.prompt.place import Place
    from memory_magic.prompt.records import Block

NAMES: Final = ("claude-code", "codex")
TITLES: Final = {"claude-code": "Claude Code", "codex": "Codex"}
SECTIONS: Final = ("personal", "project", "guidance", "notes")
START, SUBAGENT, PROMPT = "SessionStart", "SubagentStart", "UserPromptSubmit"
EVENTS: Final = (START, SUBAGENT, PROMPT)

SECONDS: Final = 4.0
"""After so long notes are given up, and after half of it again everything: `connect` gives a hook ten seconds."""

_LARGEST: Final = 32 * 1024 * 1024  # bytes of a payload; it carries the prompt


class Asked(NamedTuple):
    """What the words behind `hook` ask for."""

    assistant: str
    sections: tuple[str, ...] = SECTIONS
    root: str | None = None


def run_process(words: Sequence[str], stdin: IO[Any], stdout: IO[str], stderr: IO[str]) -> int:
    """Answer one payload; return 0 whatever happens."""
    root: str | None = None
    name = TITLES.get(words[0], "") if words else ""
    try:
        with _deadline():
            asked = asked_for(words)
            root = asked.root
            payload = getattr(stdin, "buffer", stdin).read(_LARGEST)
            text = answer(payload, asked)
        if text:
            # bytes where we can have them: JSON is UTF-8 whatever the locale says
            raw = getattr(stdout, "buffer", None)
            raw.write(text.encode() + b"\n") if raw is not None else stdout.write(text + "\n")
            stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the client went away: what is buffered must not raise at exit
    except Exception as error:  # noqa: BLE001 -- no fault of ours may cost a person the prompt
        _tell(error, root, name, stderr)
    gc.freeze()
    return 0


def asked_for(words: Sequence[str]) -> Asked:
    """Return what *words* ask for, or raise `HookError`."""
    rest = list(words)
    asked = Asked(rest.pop(0))
    while rest:
        option, equals, value = rest.pop(0).partition("=")
        if option not in {"--section", "--root"} or (not equals and not rest):
            raise HookError(f"hook {asked.assistant} takes --section NAME and --root DIR only")
        value = value if equals else rest.pop(0)
        if option == "--root":
            asked = asked._replace(root=value)
        elif value in SECTIONS:
            asked = asked._replace(sections=(value,))
        else:
            raise HookError("there is no such section", hint=f"sections are {', '.join(SECTIONS)}")
    return asked


def answer(payload: bytes | str | Mapping[str, object], asked: Asked) -> str:
    """Return the answer to one payload as JSON, empty for none; `MemoryMagicError` where memory cannot be read."""
    fields = _fields(payload)
    event = fields.get("hook_event_name")
    if event not in EVENTS:
        return ""
    place = _place(fields, asked)
    if not place.is_on:
        return ""
    made, trouble = _told(place, asked, fields, str(event))
    if made is not None and made.text:
        _enter(place, asked, made, _conversation(fields))
    if trouble is not None:
        _keep(place.root, trouble, TITLES[asked.assistant])
    if made is None or not made.text:
        return ""
    output = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": made.text}}
    return json.dumps(output, ensure_ascii=False)


def _told(
    place: Place, asked: Asked, fields: Mapping[str, object], event: str
) -> tuple[Block | None, Exception | None]:
    """Return what is to be said now, and what could not be read."""
    from memory_magic.assistants import hook_changes, hook_sections

    conversation = _conversation(fields)
    before = {} if event != PROMPT else hook_changes.had(place, asked.assistant, conversation, asked.sections)
    states = {name: hook_changes.state_of(place, name) for name in asked.sections}
    wanted = tuple(name for name in asked.sections if name not in before or not _is_level(before[name], states[name]))
    parts: list[Block] = []
    trouble: Exception | None = None
    if wanted:
        made, closing = hook_sections.sections(place, wanted)
        trouble = made.trouble
        try:
            for name in wanted:
                known = before.get(name)
                if made.trouble is not None and name == "notes":
                    continue  # notes that could not be read are not notes that are gone
                if known is not None:
                    part = hook_changes.changed(place, name, made, known, states[name])
                else:
                    text = made.blocks[name].text
                    part = hook_changes.marked(made.blocks[name], name, text, states[name]) if text else None
                parts += [part] if part is not None else []
        finally:
            closing.close()
    block = _fitted(parts)
    return _with_hits(block, place, asked, fields, event), trouble


def _is_level(known: Any, state: str) -> bool:
    return bool(state) and known.state == state


def _fitted(parts: list[Block]) -> Block:
    """Return the parts as one block; those that would make it too long wait for the next prompt."""
    from memory_magic.assistants import hook_sections

    kept = list(parts)
    while len(kept) > 1 and hook_sections.length(hook_sections.joined(kept).text) > hook_sections.LIMIT - 100:
        kept.pop()
    return hook_sections.joined(kept)


def _with_hits(block: Block, place: Place, asked: Asked, fields: Mapping[str, object], event: str) -> Block:
    """Append what a search for the prompt finds, where `recall = "relevant"` asks for that and there is room."""
    prompt = prompt_of(fields) if event == PROMPT and "notes" in asked.sections else ""
    if not prompt or place.settings.recall != "relevant":
        return block
    from memory_magic.assistants.hook_sections import LIMIT, length
    from memory_magic.prompt.relevant import with_hits

    try:
        found = with_hits(block, place, prompt)
    except (MemoryMagicError, OSError):
        return block  # the search is an extra: the block goes without it
    return found if length(found.text) <= LIMIT - 100 else block


def _enter(place: Place, asked: Asked, made: Block, conversation: str) -> None:
    from memory_magic.prompt import ledger
    from memory_magic.prompt.injection import head_of

    ledger.record(
        place.root,
        made,
        assistant=asked.assistant,
        conversation=conversation or None,
        cwd=place.cwd,
        scopes=tuple(scope.id for scope in place.scopes),
        head=head_of(place),
        days=place.settings.ledger_days,
    )


# -- the payload -------------------------------------------------------------------------------------------------------


def _fields(payload: bytes | str | Mapping[str, object]) -> Mapping[str, object]:
    if not isinstance(payload, bytes | str):
        return payload
    try:
        fields = json.loads(payload)
    except (ValueError, RecursionError):
        # not chained: a decoding error carries the whole payload, and that is the conversation
        raise HookError("the hook's payload is not JSON") from None
    if not isinstance(fields, dict):
        raise HookError("the hook's payload is not a JSON object")
    return fields


def _is_subagent(fields: Mapping[str, object]) -> bool:
    return fields.get("hook_event_name") == SUBAGENT or fields.get("role") == "subagent" or bool(fields.get("agent_id"))


def _conversation(fields: Mapping[str, object]) -> str:
    """Return the session, for a sub-agent its own part of it."""
    session = conversation_of(fields)
    if session and _is_subagent(fields):
        agent = conversation_of({"conversation": fields.get("agent_id")}) or "subagent"
        return f"{session}/{agent}"
    return session


def _place(fields: Mapping[str, object], asked: Asked) -> Place:
    """Return what the session's directory sees; for a sub-agent what its parent saw."""
    cwd = fields.get("cwd")
    named = cwd if isinstance(cwd, str) and cwd and "\0" not in cwd else _present()
    place = place_at(asked.root, named)
    session = conversation_of(fields)
    if not place.is_on or not session or not _is_subagent(fields):
        return place
    from memory_magic.prompt.ledger import Ledger
    from memory_magic.prompt.ledger_lines import clean

    line = next(Ledger(place.root).lines(conversation=clean(session), assistant=asked.assistant, limit=1), None)
    if line is None or line.cwd == place.cwd or clean(line.cwd) != line.cwd or not os.path.isdir(line.cwd):  # noqa: PTH112
        return place
    return place_at(asked.root, line.cwd)


def _present() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 -- no Path is needed
    except OSError:
        return os.sep  # deleted: nothing but global memory is seen from the top


# -- what goes wrong ---------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _deadline() -> Iterator[None]:
    """Raise `TooLateError` in this thread when the time is over; where there is no such alarm, go on without."""
    try:
        import signal

        signal.signal(signal.SIGALRM, _too_late)
        signal.setitimer(signal.ITIMER_REAL, SECONDS, SECONDS / 2)
    except (ImportError, AttributeError, ValueError):
        yield
        return
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _too_late(*_: object) -> None:
    from memory_magic.assistants.hook_sections import TooLateError

    raise TooLateError


def _tell(error: Exception, root: str | None, name: str, stderr: IO[str]) -> None:
    """Say what went wrong on standard error, which no model reads, and keep it for `status`."""
    from memory_magic.settings import find_root

    with contextlib.suppress(Exception):  # nobody may be there to read it
        stderr.write(f"memory-magic: {_in_words(error)}\n")
    with contextlib.suppress(Exception):  # no root, no notice
        _keep(find_root(root), error, name)


def _keep(root: Path, error: Exception, name: str) -> None:
    from memory_magic.store import ledger_files

    ledger_files.keep_problem(root, f"{name or 'a hook'} was not told everything: {_in_words(error)}")


def _in_words(error: Exception) -> str:
    """Return a fault in words; of one of ours that nobody expected only the kind is told: it may carry a note."""
    from memory_magic.assistants.hook_sections import TooLateError
    from memory_magic.text.report import error_text

    if isinstance(error, TooLateError):
        return f"memory could not be read within {SECONDS:g} seconds (is another program holding the store?)"
    if isinstance(error, MemoryMagicError | OSError):
        return error_text(error)
    return f"the memory block could not be made ({type(error).__name__})"
