"""Rows of the table of commands on the past; those called list, journal and verify stand in for the plain ones.

`commands_history` does the work, `commands_history_print.PRINTERS` turns its outcomes into text.
"""

from __future__ import annotations

from typing import Final

from memory_magic import commands_history as past
from memory_magic.commands_base import A_NOTE, TARGETS, WHY, YES, Command, arg, positive

_PAST = arg("target", metavar="ID|TEXT", nargs="+", completes="note", help=f"{A_NOTE}, also of one long gone")
_MAY_SAY_WHY = arg("--evidence", metavar="WHY", help="why (kept in the journal)")
_WHEN = "2026-11-30, 2026-11-30T18:35 (UTC), 3d (three days ago) or #412 (a record)"


ROWS: Final[tuple[Command, ...]] = (
    Command(
        "list",
        "List the notes that are visible here",
        past.list_notes,
        (arg("--at", metavar="WHEN", help=f"the notes as they were: {_WHEN}"),),
    ),
    Command("history", "Show every version of a note, who changed it and why", past.history, (_PAST,)),
    Command(
        "undo",
        "Take a change back",
        past.undo,
        (
            arg("n", nargs="+", metavar="N", help="numbers of journal records; the newest is taken back first"),
            _MAY_SAY_WHY,
        ),
        "A new record of the opposite change; undo of an undo makes the change again. Refused where a later change "
        "touched the same note.",
    ),
    Command("restore", "Bring a retired note back", past.restore, (_PAST, _MAY_SAY_WHY)),
    Command(
        "promote",
        "Move a note to another scope",
        past.promote,
        (
            TARGETS,
            arg("--to", metavar="SCOPE", required=True, completes="scope",
                help="where it goes: global, workspace, or a scope's id"),
            _MAY_SAY_WHY,
        ),
        "--scope names the scope that it is in, where the text stands in several. The old id leads to the new one.",
    ),
    Command(
        "approve",
        "Stand by a note that was marked as suspicious",
        past.approve,
        (TARGETS, _MAY_SAY_WHY),
        "An approval is of one text: a changed note needs a new one. undo withdraws it.",
    ),
    Command("reject", "Take out a note that nobody should be told", past.reject, (TARGETS, WHY)),
    Command(
        "journal",
        "Show who changed what, when and why",
        past.journal,
        (
            arg("-n", "--limit", type=positive, metavar="N", help="only the last N records"),
            arg("--since", metavar="WHEN", help=f"from then on: {_WHEN}"),
            arg("--action", action="append", metavar="ACTION", help="only remember, revise, undo … (may repeat)"),
            arg("--by", metavar="WHO", help="only what an author with this in the name did"),
            arg("--grep", metavar="TEXT", help="only records that hold this text, letters of any case"),
        ),
    ),
    Command(
        "verify",
        "Check every record of the journal against its chain",
        past.verify,
        (arg("--head", metavar="HEX", help="a head noted before: tells whether the journal was cut off since"),),
        scoped=False,
    ),
    Command(
        "export",
        "Write the notes of every scope to a file",
        past.export,
        (
            arg("file", nargs="?", metavar="FILE", completes="path", help="where to (default: the screen)"),
            arg("--history", action="store_true", help="the whole journal, too"),
            arg("--markdown", action="store_true", help="Markdown for reading, instead of JSON Lines"),
            arg("--bundle", metavar="FILE", completes="path", help="one HTML page for an auditor, with a check inside"),
            YES,
        ),
        "JSON Lines come back byte for byte by import; --history into an empty store.",
    ),
    Command(
        "import",
        "Take notes over from an export, a CodeWhale store or a MEMORY.md",
        past.import_from,
        (
            arg("path", metavar="PATH", completes="path", help="a file, or the folder of a store"),
            arg("--history", action="store_true", help="the journal, too, as it is (into an empty store)"),
            arg("--on-conflict", choices=("skip", "overwrite", "new"), default="skip", metavar="skip|overwrite|new",
                help="a note that was changed or retired here: leave it (default), put the incoming text back, add it"),
        ),
        "Secrets and private spans are taken out. --scope says where the notes of a bare MEMORY.md go.",
    ),
)  # fmt: skip
