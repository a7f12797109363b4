"""The command `view`: the block exactly as an assistant gets it, what each budget holds, and what is left out and why.

    block    from `prompt.memory_block`, the same bytes that a hook hands over; never frozen, shown though memory is off
    data     block, tokens and sections, out of memory alone: equal memory gives equal bytes of `--json`
    extra    what people read beside it: names and reasons of what is left out, suspicious notes with the command that
             decides about them, secrets by kind, and the difference to the last injection (`commands_view_told`)

A preview: the store is opened read-only, and neither ledger line nor block file is written. `--omitted` names all that
is left out, where a block's own account names the first of a large store; `--diff` puts the difference into the JSON.
`frame` is the same account as a table of pandas, which is imported when somebody asks for one.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from memory_magic import commands_switch as switch
from memory_magic.commands_base import Command, Outcome, arg
from memory_magic.commands_notes import labels, redacted, short_ids
from memory_magic.errors import MemoryMagicError, MissingExtraError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    import pandas as pd

    from memory_magic.commands_base import Context
    from memory_magic.store.records import Note
    from memory_magic.store.store import Store

FORMS: Final = ("text", "json", "frame")
SHOWN: Final = 8
"""Notes that are shown of those left out, and at most so many more that were passed over for a reason of their own."""

SHOWN_SUSPICIOUS: Final = 20
NOT_SENT: Final = {
    "paused": "not sent: memory is paused in this notebook",
    "broken": "not sent: memory is off until the settings are put right",
    "project": "not sent: memory is off in this project",
    "use_memories": "not sent: use_memories is off",
}
OFF: Final = "not sent: memory is off"
PREVIEW: Final = "a preview: nothing was sent"
NOTES: Final = "notes"
SUSPICIOUS: Final = "suspicious: "
OLDER: Final = "gave way to newer notes"
_REASONS: Final = {
    "too long": "too long for this block",
    "no room": "no room",
    "nothing visible": "nothing of its text is visible",
}
_COLUMNS: Final = (
    *("name", "unit", "used", "cap", "share", "other_unit", "other_used", "other_cap", "entries", "omitted"),
    *("reasons", "redacted", "truncated", "dropped", "dropped_unit", "at_least"),
)


def view(context: Context, args: Namespace) -> Outcome:
    """Show the block that an assistant would get, with its budgets, what is left out, and what changed."""
    from memory_magic.commands_view_told import told
    from memory_magic.prompt.block import memory_block

    if args.form == "json":
        args.json = True
    if args.form == "frame" and not args.json:
        _pandas()
    store = context.store(read_only=True)
    prompt = args.prompt if isinstance(args.prompt, str) else " ".join(args.prompt)
    block = memory_block(store, prompt=prompt)
    data: dict[str, Any] = block.as_json()
    notes = _everything(store, data) if args.omitted else {}
    last = told(store, block.text, assistant=args.assistant, conversation=args.conversation)
    if args.diff:
        data["last"] = last.as_json()
    now = switch.state(context, store.settings, switch.off_files(context.cwd))
    extra: dict[str, Any] = {
        "notice": PREVIEW if now.on else NOT_SENT.get(now.why, OFF),
        "labels": labels(store),
        "scope_notice": store.scope_notice,
        "prompt": prompt,
        "form": args.form,
        "asked": [redacted(name) for name in (args.assistant, args.conversation) if name],
        "sha256": hashlib.sha256(block.text.encode()).hexdigest(),
        "secrets": _secrets(data["sections"]),
        "last": last,
        "whole_diff": args.diff,
        **_left_out(context, store, data["sections"], notes),
    }
    return Outcome("view", data, extra)


# -- what is left out -----------------------------------------------------------------------------------------------


def _left_out(context: Context, store: Store, sections: list[dict[str, Any]], every: dict[str, Note]) -> dict[str, Any]:
    """Return rows for what people see of all that did not go in, suspicious notes apart."""
    section = next(one for one in sections if one["name"] == NOTES)
    held = {one: why for part in sections for one, why in part["reasons"].items() if why.startswith(SUSPICIOUS)}
    names = [one for one in section["omitted"] if one not in held]
    seen = names if every else _first(names, section["reasons"])
    count = section["dropped"]["count"]
    left = max(count - sum(one in section["reasons"] for one in held), 0)
    short = short_ids(store, list(every.values()), None) if every else {}
    return {
        "left_out": [_row(store, one, section["reasons"].get(one, ""), every, short) for one in seen],
        "files": [_file_row(one, why) for part in sections for one, why in _of_files(part)],
        "omitted": count,
        "left": left,
        "at_least": section["dropped"]["at_least"],
        "more": max(left - len(seen), 0),
        "suspicious": [_held(context, store, one, held[one], every) for one in list(held)[:SHOWN_SUSPICIOUS]],
        "more_suspicious": max(len(held) - SHOWN_SUSPICIOUS, 0),
        "listed": bool(every),
    }


def _first(names: list[str], reasons: dict[str, str]) -> list[str]:
    """Return the notes that come next, then those that were passed over for a reason of their own."""
    further = [one for one in names[SHOWN:] if one in reasons]
    return names[:SHOWN] + further[:SHOWN]


def _of_files(section: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """Return what else of a section is left out, by name: its reasons are of files or summaries."""
    return () if section["name"] in {NOTES, "relevant"} else section["reasons"].items()


def _file_row(name: str, why: str) -> dict[str, Any]:
    return {"name": redacted(name), "reason": redacted(_REASONS.get(why, why))}


def _row(store: Store, one: str, why: str, every: dict[str, Note], short: dict[str, str]) -> dict[str, Any]:
    """Return what people see of a note that found no room."""
    note = _note(store, one, every)
    text = "" if note is None else note.text
    return {
        "short": short[one] if one in short else store.short_id(one),
        "text": redacted(text),
        "characters": len(text),
        "reason": _REASONS.get(why, why) or OLDER,
    }


def _held(context: Context, store: Store, one: str, why: str, every: dict[str, Note]) -> dict[str, Any]:
    """Return what people see of a suspicious note, and what to type when it is none."""
    note = _note(store, one, every)
    short = store.short_id(one)
    return {
        "short": short,
        "text": "" if note is None else redacted(note.text),
        "reason": why.removeprefix(SUSPICIOUS),
        "approve": context.run(f"approve {short}"),
    }


def _note(store: Store, one: str, every: dict[str, Note]) -> Note | None:
    """Return a note by its id, None where it went while we looked."""
    if one in every:
        return every[one]
    try:
        return store.get(one)
    except MemoryMagicError:
        return None


def _everything(store: Store, data: dict[str, Any]) -> dict[str, Note]:
    """Name all notes that are left out in the account of *data*; return all notes by id."""
    section = next(one for one in data["sections"] if one["name"] == NOTES)
    inside = set(section["entries"])
    notes = {note.id: note for note in store.list()}
    section["omitted"] = [one for one in notes if one not in inside]
    section["dropped"] = {"count": len(section["omitted"]), "unit": NOTES, "at_least": False}
    return notes


def _secrets(sections: list[dict[str, Any]]) -> dict[str, int]:
    """Return how many secrets were taken out on the way into the block, by kind."""
    from memory_magic.prompt.notes import summed

    return summed(section["redacted"] for section in sections)


# -- as a frame -----------------------------------------------------------------------------------------------------


def frame(data: dict[str, Any]) -> pd.DataFrame:
    """Return the account of a view as a pandas frame, one row for each section, in the order of the block.

    - `name`: personal, project, guidance, notes, relevant
    - `unit`, `used`, `cap`: of the cap that is fuller (bytes, tokens, entries or characters); `share`: used / cap
    - `other_unit`, `other_used`, `other_cap`: the same of the second cap, where a section has two
    - `entries`, `omitted`: lists of ids (names of summaries), in the order of the block and nearest first
    - `reasons`: why something is left out by id or file name, if not for its age; `redacted`: secrets by kind
    - `truncated`: whether anything is missing; `dropped`, `dropped_unit`: how much; `at_least`: not counted to the end

    MissingExtraError without pandas.
    """
    rows = [_frame_row(section) for section in data["sections"]]
    made: pd.DataFrame = _pandas().DataFrame(rows, columns=list(_COLUMNS))
    return made


def _frame_row(section: dict[str, Any]) -> dict[str, Any]:
    other = section["other"] or {}
    return {
        **{name: section[name] for name in _COLUMNS if name in section},
        "share": section["used"] / section["cap"] if section["cap"] else None,
        **{f"other_{name}": other.get(name) for name in ("unit", "used", "cap")},
        "dropped": section["dropped"]["count"],
        "dropped_unit": section["dropped"]["unit"],
        "at_least": section["dropped"]["at_least"],
    }


def _pandas() -> Any:
    """Return pandas, or say which line installs it."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(
            "pandas is not installed",
            hint="install it: pip install 'memory-magic[notebook]', then restart the kernel",
        ) from error
    return pd


# -- the table of commands ------------------------------------------------------------------------------------------

ROWS: Final = (
    Command(
        "view",
        "Show what an assistant would be told, and what is left out",
        view,
        (
            arg("prompt", nargs="*", metavar="PROMPT", help="only matters with recall = relevant"),
            arg("--as", dest="form", choices=FORMS, metavar="text|json|frame",
                help="plain text, JSON for programs, or a pandas frame with a row for each section"),
            arg("--omitted", action="store_true", help="name all that is left out, not only the first"),
            arg("--diff", action="store_true", help="show the whole difference to the last injection (in JSON too)"),
            arg("--assistant", metavar="NAME", help="compare with what this assistant was told last"),
            arg("--conversation", metavar="ID", help="compare with what this conversation was told last"),
        ),
        "A preview: nothing is sent or written down. The block is shown byte for byte, with each budget.",
        text="prompt",
        scoped=False,
    ),
)  # fmt: skip
