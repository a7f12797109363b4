"""Commands that forget: purge and unpurge.

`purge` lists everything that goes, asks, destroys, and says what it found afterwards; `--yes` answers the question
and changes nothing of it. The reply names places and counts and no purged text, since it may be kept with a notebook.
Exit status 1: something that can be seen from here still holds the text, or a live note quotes it. `ROWS` are the
rows of the table of commands, `PRINTERS` what turns their outcomes into text.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memory_magic.commands_base import YES, Command, Outcome, arg
from memory_magic.commands_notes import ALL_SCOPES, labels, redacted
from memory_magic.commands_table import clip, count, one_line, plain, scope_name, table
from memory_magic.errors import UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from memory_magic.commands_base import Context
    from memory_magic.store.access import Access
    from memory_magic.store.purge.plan import Plan, Request
    from memory_magic.store.purge.run import Purged
    from memory_magic.store.store import Store

_SHOWN: Final = 40
_WIDTH: Final = 100
_NOTEBOOK: Final = "notebook "


def purge(context: Context, args: Namespace) -> Outcome:
    """Make the store forget for good, and prove it."""
    from memory_magic.prompt import block
    from memory_magic.store.access import Access
    from memory_magic.store.purge import run

    store = context.store()
    access = Access(store)
    request = _request(access, store, args)
    plan = run.look(access, request)
    if not plan:
        return _outcome(store, run.nothing(access, plan))
    context.confirm(f"{listing(plan, store)}\n\nPurge all of this for good?", yes=args.yes)
    progress = context.progress

    def report(done: int, of: int) -> None:
        if progress is not None and of > _SHOWN:
            progress(f"tombstones: {done:,} of {of:,}")

    done = run.purge(access, request, shown=plan, progress=report)
    block.forget(store.root)  # this process may live on and hold what it told
    return _outcome(store, done)


def _request(access: Access, store: Store, args: Namespace) -> Request:
    """Return what the words of the command ask for."""
    from memory_magic.store.purge import run
    from memory_magic.store.purge.plan import Request

    options = {
        "only_version": args.only_version,
        "quoting": args.quoting,
        "short": args.short,
        "forbid": args.forbid,
        "tombstone": not args.no_tombstone,
        "delete_copies": args.delete_copies,
    }
    target = " ".join(args.target) if isinstance(args.target, list) else args.target or ""
    if target:
        if args.text or args.session:
            raise UsageError("name one thing to purge: an id, --text, --session or --scope")
        return run.request_for(access, target, scope=args.scope, **options)
    if args.text or args.session:
        if args.scope:
            raise UsageError(
                "--text and --session search every scope",
                hint="purge a note of one scope by its id, or a whole --scope",
            )
        return Request(text=args.text or "", session=args.session or "", **options)
    scope = ""
    if args.scope:
        scopes = store.scopes_named(args.scope)
        if len(scopes) != 1 or args.scope == ALL_SCOPES:
            raise UsageError("--scope purges one scope", hint="global, workspace, or a scope's id")
        scope = scopes[0].id
    return Request(scope=scope, **options)


# -- before ---------------------------------------------------------------------------------------------------------


def listing(plan: Plan, store: Store) -> str:
    """Return everything that a purge would destroy, for the question."""
    names = labels(store)
    parts = [_live_rows("These notes go", plan.live, names)]
    versions = [f"  {_quote(text)}" for text in plan.versions.values()]
    parts.append(_some("These earlier versions go from the journal", versions))
    fields = sum(len(names) for names in plan.finds.fields.values())
    if fields:
        parts.append(f"{count(fields, 'field')} of {count(len(plan.finds.fields), 'journal record')} are erased.")
    if plan.finds.loose:
        parts.append(f"{count(len(plan.finds.loose), 'stretch')} of the journal that belong to no record go.")
    parts.append(_some("These files lose what holds the text", [f"  {_lines(one)}" for one in plan.lines]))
    parts.append(_some("These copies are deleted", [f"  {plain(path)}" for path in plan.copies]))
    parts.append(_live_rows("These notes quote the text and stay (--quoting takes them, too)", plan.quoting, names))
    parts.append(_similar(plan, store))
    parts.append(_tombstone_words(plan))
    return "\n".join(part for part in parts if part)


def _live_rows(head: str, notes: Any, names: dict[str, str]) -> str:
    rows = [f"  {note.id[:10]} {scope_name(note.scope, names)} line {note.line}: {_quote(note.text)}" for note in notes]
    return _some(head, rows)


def _quote(text: str) -> str:
    return clip(one_line(redacted(text)), _WIDTH)


def _some(head: str, rows: list[str]) -> str:
    if not rows:
        return ""
    more = [f"  and {len(rows) - _SHOWN:,} more"] if len(rows) > _SHOWN else []
    return "\n".join([f"{head} ({len(rows):,}):", *rows[:_SHOWN], *more])


def _lines(one: Any) -> str:
    if one.whole:
        return f"{plain(one.path)}: the whole file"
    return f"{plain(one.path)}: line {', '.join(map(str, one.lines[:10]))}"


def _similar(plan: Plan, store: Store) -> str:
    from memory_magic.store.purge.run import similar

    gone = {note.id for note in (*plan.live, *plan.quoting)}
    live = [(note.id, note.text) for note in store.list() if note.id not in gone]
    texts = dict(live)
    rows = [
        f"  {one[:10]}: {shared} of {of} words: {_quote(texts[one])}"
        for one, shared, of in similar(plan, live)[:_SHOWN]
    ]
    return _some("These notes share words with the text and stay", rows)


def _tombstone_words(plan: Plan) -> str:
    from memory_magic.store.purge.run import CONTAINS_COST

    if not plan.request.tombstone:
        said = "No tombstone is kept: the text may come back by itself."
    else:
        said = (
            f"{count(len(plan.forbidden), 'tombstone')} to keep it from coming back; whoever owns the root can test "
            "guesses against a tombstone, about 140 a second (--no-tombstone for PINs and the like)."
        )
    return f"{said}\n--forbid: {CONTAINS_COST}." if plan.request.forbid else said


# -- after ----------------------------------------------------------------------------------------------------------


def _outcome(store: Store, done: Purged) -> Outcome:
    proof = done.proof
    data = {
        "n": done.n or None,
        "notes": [{"scope": note.scope, "path": note.path, "line": note.line} for note in done.plan.live],
        "versions": len(done.plan.versions),
        "records": len(done.plan.finds.fields) if done.n else 0,
        "files": len(done.plan.lines),
        "tombstones": len(done.plan.forbidden) if done.n else 0,
        "searched": proof.files,
        "left": [{"path": redacted(one.path), "line": one.line or None, "place": one.place} for one in proof.traces],
        "quoting": [{"id": note.id, "path": note.path, "line": note.line} for note in done.plan.quoting],
        "copies": [redacted(path) for path in proof.copies],
        "cannot_be_proven": list(proof.cannot),
        "notebooks": _notebooks(done.plan.authors),
    }
    return Outcome(
        "purged",
        data,
        {"labels": labels(store), "notices": list(done.notices), "text": done.plan.request.short},
        status=0 if done.is_clean else 1,
    )


def _notebooks(authors: tuple[str, ...]) -> list[str]:
    """Return the notebooks and cells that brought the purged text."""
    return [redacted(author) for author in authors if author.startswith(_NOTEBOOK)]


def unpurge(context: Context, args: Namespace) -> Outcome:
    """Allow a purged text again."""
    from memory_magic.store.access import Access
    from memory_magic.store.purge import run

    target = " ".join(args.target) if isinstance(args.target, list) else args.target
    done = run.unpurge(Access(context.store()), target, evidence=args.evidence)
    return Outcome("unpurged", {"n": done.n, "tombstones": done.marks})


def _purged(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    from memory_magic.store.purge.proof import OUTSIDE

    data = outcome.data
    if data["n"] is None:
        lines = ["Nothing to purge: no note and no record holds it."]
    else:
        said = f"Purged: {count(len(data['notes']), 'note')} and {count(data['versions'], 'earlier version')}, "
        said += f"{count(data['records'], 'journal record')} rewritten, {count(data['files'], 'other file')} changed"
        lines = [f"{said} (record {data['n']:,})."]
    if outcome.status == 0:
        lines.append(f"✓ None of {count(data['searched'], 'file')} under the root holds it any more.")
    lines += _left(data, prog)
    for one in data["copies"]:
        lines.append(f"▲ a copy by an editor or a sync tool: {plain(one)} (--delete-copies deletes such files)")
    lines += [f"▲ cannot be proven: {plain(path)} may keep earlier states" for path in data["cannot_be_proven"]]
    lines += [f"  it was written in {plain(one)}: look there" for one in data["notebooks"]]
    lines.append("Not reached, look there yourself:")
    lines += [f"  {one}" for one in OUTSIDE]
    return "\n".join(lines + [f"  {plain(notice)}" for notice in outcome.extra["notices"]])


def _left(data: dict[str, Any], prog: str) -> list[str]:
    lines = []
    quoting = {(Path(note["path"]), note["line"]) for note in data["quoting"]}
    rest = [one for one in data["left"] if (Path(one["path"]), one["line"]) not in quoting]
    if data["quoting"]:
        rows = [(note["id"][:10], f"{note['path']}:{note['line']}") for note in data["quoting"]]
        lines.append(f"▲ Still quoted by {count(len(rows), 'live note')} ({prog} purge … --quoting takes them, too):")
        lines.append(table(("id", "where"), rows))  # a path that is cut names nothing
    if rest:
        rows = [(one["place"], f"{one['path']}:{one['line']}" if one["line"] else one["path"]) for one in rest]
        lines.append("▲ It still stands here:")
        lines.append(table(("what", "where"), rows[:_SHOWN]))
        if len(rows) > _SHOWN:
            lines.append(f"  and in {len(rows) - _SHOWN:,} more lines")
    return lines


def _unpurged(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    data = outcome.data
    return f"{count(data['tombstones'], 'text')} may come back (record {data['n']:,}). Nothing was brought back."


PRINTERS: Final[dict[str, Callable[[Outcome, int | None, str], str]]] = {"purged": _purged, "unpurged": _unpurged}

ROWS: Final = (
    Command(
        "purge",
        "Forget for good: destroy a note, a text, a session or a scope, and prove it",
        purge,
        (
            arg("target", metavar="ID|TEXT", nargs="*", completes="note",
                help="a note's id, also of one that is long gone, or its exact text: its whole lineage goes"),
            arg("--text", metavar="S", help="everything that holds this text (8 characters or more)"),
            arg("--session", metavar="X", help="everything that entered by this session, and what became of it"),
            arg("--only-version", action="store_true", help="this text alone, not the versions before and after it"),
            arg("--quoting", action="store_true", help="take live notes that only quote the text, too"),
            arg("--short", action="store_true", help="let --text be shorter: it then counts as a whole word"),
            arg("--forbid", action="store_true", help="with --text: no text that contains it may come in again"),
            arg("--no-tombstone", action="store_true", help="keep no trace at all; the text may come back by itself"),
            arg("--delete-copies", action="store_true", help="delete copies by editors and sync tools in the store"),
            YES,
        ),
        "--scope alone purges that whole scope. Lists everything first and asks. Retire keeps a note's history; "
        "purge destroys it and cannot be undone.",
    ),
    Command(
        "unpurge",
        "Allow a purged text again",
        unpurge,
        (
            arg("target", metavar="TEXT|#N", nargs="+", help="the text, or # and the number of the purge's record"),
            arg("--evidence", metavar="WHY", help="why (kept in the journal)"),
        ),
        "Brings nothing back: what a purge destroyed is gone.",
        scoped=False,
    ),
)  # fmt: skip
