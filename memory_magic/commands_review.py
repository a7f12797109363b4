"""Go through the notes that look like attacks on the assistant: approve, reject, or leave each for later.

A suspicious note is kept and reaches no assistant; this is where a person decides. Each is shown with the reason and a
question; whatever was answered so far stays done. Where nobody can be asked (no standard input, a kernel without one,
`--json`), the notes are listed with the commands that decide. Note text is untrusted: it passes `plain` before it
reaches a terminal. `ROWS` are the rows of the table of commands, `PRINTERS` what turns their outcomes into text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memory_magic.commands_base import Command, Outcome, StoppedError
from memory_magic.commands_notes import labels, note_json, reasons, redacted, short_ids
from memory_magic.commands_table import count, plain, scope_name
from memory_magic.errors import MemoryMagicError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from memory_magic.commands_base import Context
    from memory_magic.store.archive import Archive
    from memory_magic.store.records import Note

_QUESTION: Final = "[a]pprove, [r]eject, [s]kip or [q]uit? A reason may follow: "
_ANSWERS: Final = {"a": "approve", "r": "reject", "s": "skip", "q": "quit"}
_FIRST: Final = 1


def review(context: Context, args: Namespace) -> Outcome:
    """Show suspicious notes one by one and do what a person says of each."""
    store = context.store()
    notes = store.list(args.scope)
    why = reasons(store, notes)
    doubtful = [note for note in notes if note.id in why]
    data: dict[str, Any] = {
        "notes": [note_json(note, with_score=False, suspicious=why[note.id]) for note in doubtful],
        "approved": [],
        "rejected": [],
        "failed": [],
    }
    extra: dict[str, Any] = {
        "short": short_ids(store, doubtful, args.scope),
        "labels": labels(store),
        "asked": False,
        "seen": len(notes),
    }
    if not args.json:
        _ask_about(store.archive, doubtful, data, extra)
    return Outcome("reviewed", data, extra, status=1 if data["failed"] else 0)


def _ask_about(archive: Archive, notes: list[Note], data: dict[str, Any], extra: dict[str, Any]) -> None:
    """Ask about each of *notes* and note in *data* what was done; stop where nobody answers."""
    for at, note in enumerate(notes):
        shown = data["notes"][at]
        answer = _answer(f"\n{_shown(shown, extra, at, len(notes))}\n\n{_QUESTION}")
        if answer is None:
            return
        extra["asked"] = True
        verdict, reason = answer
        if verdict == "quit":
            return
        if verdict != "skip":
            _decide(archive, note, verdict, reason, data)


def _decide(archive: Archive, note: Note, verdict: str, reason: str, data: dict[str, Any]) -> None:
    """Approve or reject *note*; somebody may have changed it meanwhile, which is told and stops nothing."""
    try:
        if verdict == "approve":
            archive.approve(note.id, evidence=reason or None, scope=note.scope)
        else:
            why = next(one["suspicious"] for one in data["notes"] if one["id"] == note.id)
            archive.reject(note.id, evidence=reason or f"looked suspicious: it {why}", scope=note.scope)
    except MemoryMagicError as error:
        data["failed"].append({"id": note.id, "why": redacted(str(error))})
        return
    data["approved" if verdict == "approve" else "rejected"].append(note.id)


def _answer(question: str) -> tuple[str, str] | None:
    """Return what a person decided and why, or None when nobody can answer; an empty line skips."""
    while True:
        try:
            typed = input(question).strip()
        except KeyboardInterrupt:
            raise StoppedError("stopped; what you decided before stands") from None
        except (EOFError, OSError, RuntimeError):
            # no terminal, a closed one, or a kernel without stdin (nbconvert, papermill)
            return None
        word, _, reason = typed.partition(" ")
        for letter, verdict in _ANSWERS.items():
            if word.casefold() in {letter, verdict} or not word:
                return (verdict, reason.strip()) if word else ("skip", "")
        question = f"“{plain(word)[:20]}” is none of them. {_QUESTION}"


def _shown(note: dict[str, Any], extra: dict[str, Any], at: int, of: int) -> str:
    """Return one note as it is shown to the person who decides, whole and with what is known of it."""
    facts = [extra["short"][note["id"]], scope_name(note["scope"], extra["labels"])]
    facts += [str(note["created"])[:16].replace("T", " ")] if note["created"] else []
    facts += [f"by {plain(note['by'])}"] if note["by"] else []
    text = "\n".join(f"    {line}" for line in plain(note["text"]).split("\n"))
    return f"{at + _FIRST} of {of}  {', '.join(facts)}\n{text}\n  ▲ it {note['suspicious']}"


def _reviewed(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    data, extra = outcome.data, outcome.extra
    notes = data["notes"]
    if not notes:
        return f"Nothing to review: none of {count(extra['seen'], 'note')} looks suspicious."
    if not extra["asked"]:
        return _listed(notes, extra, prog)
    done = {*data["approved"], *data["rejected"]}
    left = len(notes) - len(done)
    said = f"Approved {len(data['approved'])}, rejected {len(data['rejected'])}"
    lines = [f"{said}; {count(left, 'note')} left for later ({prog} review)." if left else f"{said}; none is left."]
    lines += [f"▲ {one['id'][:10]} stays as it is: {plain(one['why'])}" for one in data["failed"]]
    if done:
        lines.append(f"  {prog} undo N takes a decision back ({prog} journal names them).")
    return "\n".join(lines)


def _listed(notes: list[dict[str, Any]], extra: dict[str, Any], prog: str) -> str:
    """Return the notes with the commands that decide, for whoever could not be asked."""
    head = f"{count(len(notes), 'suspicious note')}, kept out of every block until a person approves:"
    shown = [_shown(note, extra, at, len(notes)) for at, note in enumerate(notes)]
    return "\n\n".join(
        [head, *shown, f"Decide about each: {prog} approve ID, or {prog} reject ID --evidence WHY (or leave it)"]
    )


PRINTERS: Final[dict[str, Callable[[Outcome, int | None, str], str]]] = {"reviewed": _reviewed}

ROWS: Final = (
    Command(
        "review",
        "Go through suspicious notes one by one: approve or reject",
        review,
        (),
        "A note that looks like an attack on the assistant (it gives orders, another role, asks for secrets …) is kept "
        "and reaches no prompt until you approve it. --json, or nobody to ask: lists them.",
    ),
)
