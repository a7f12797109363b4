"""Commands on the store as a whole: status, reindex, verify, journal, init, config, doctor, run, dashboard.

The same rules as in `commands_notes`: an `Outcome` with the JSON that programs rely on, and beside it what people need.
`config` works without opening the store, so that a wrong setting can be put right by command.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memory_magic import commands_switch as switch
from memory_magic import settings as rules
from memory_magic.commands_base import Outcome
from memory_magic.commands_notes import ALL_SCOPES, labels, redacted
from memory_magic.errors import MemoryMagicError, MemoryOffError, UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from memory_magic.commands_base import Context
    from memory_magic.settings import Settings, Value
    from memory_magic.store.records import Finding, JournalRecord, Verification
    from memory_magic.store.store import Store

LAST_PORT: Final = 65_535
_COMMAND: Final = re.compile(r"(?<!\S)%memory (?=[a-z])")
"""How findings of the store name a command; here it becomes what the person would type."""


def status(context: Context, args: Namespace) -> Outcome:
    """Say what is remembered where, and whether anything reaches a prompt."""
    from memory_magic.store import ledger_files

    store = context.store()
    found = store.status()
    counts = {scope.id: scope.notes for scope in found.scopes}
    now = switch.state(context, store.settings, switch.off_files(context.cwd))
    data = {
        "root": found.root,
        "enabled": store.settings.enabled,
        "injection": {"on": now.on, "why": now.why, "text": redacted(now.said)},
        "scopes": [
            {
                "id": scope.id,
                "label": scope.label,
                "notes": counts[scope.id] if scope.id in counts else len(store.list(scope.id)),
                "path": str(scope.memory_file),
            }
            for scope in store.scopes_named(args.scope)
        ],
        "index": {"notes": found.index_notes, "schema": found.index_schema, "fresh": found.index_fresh},
        "journal": {"records": found.journal_records, "head": found.journal_head, "verified": found.verified},
        "settings": settings_json(store.settings),
    }
    extra = {"scope_notice": found.scope_notice, "use": store.settings.use_memories, "off_here": store.is_off_here}
    extra["said"] = now.said
    extra["ledger"] = ledger_files.take_problem(store.root)
    return Outcome("status", data, extra)


def settings_json(settings: Settings) -> dict[str, Any]:
    """Return all settings as JSON values, by name."""
    return {name: _value_json(getattr(settings, name)) for name in rules.SETTINGS}


def _value_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [redacted(item) for item in value]
    return redacted(value) if isinstance(value, str) else value


def reindex(context: Context, args: Namespace) -> Outcome:  # noqa: ARG001 -- every command has this signature
    """Build the search index anew from the Markdown files."""
    return Outcome("reindexed", {"notes": context.store().reindex()})


def verify(context: Context, args: Namespace) -> Outcome:  # noqa: ARG001 -- every command has this signature
    """Check every record of the journal against its chain."""
    checked = context.store().verify()
    data = {
        "ok": checked.ok,
        "verified": _verdict(checked),
        "head": checked.head,
        "faults": [redacted(fault) for fault in checked.faults],
        "tampered": checked.tampered,
    }
    return Outcome("verified", data, status=0 if checked.ok else 1)


def _verdict(checked: Verification) -> dict[str, Any]:
    """Return a fresh verdict on the chain in the shape of the kept one."""
    now = datetime.now(tz=UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return {"n": checked.n, "time": now, "ok": checked.ok}


def journal(context: Context, args: Namespace) -> Outcome:
    """Show who changed what, when and why."""
    store = context.store()
    checked = store.verify()
    seen = None if args.scope == "all" else {scope.id for scope in store.scopes_named(args.scope)}
    records = [one for one in store.journal() if seen is None or one.scope in seen or not (one.scope or args.scope)]
    elsewhere = checked.n - len(records) if seen is not None else 0
    texts = _texts(store, records)
    records = records[-args.limit :] if args.limit else records
    data = {
        "records": [record_json(record) for record in records],
        "verified": _verdict(checked),
        "head": checked.head,
    }
    extra = {"labels": labels(store), "limit": args.limit, "texts": texts, **_beside(checked, elsewhere)}
    return Outcome("journal", data, extra)


def _texts(store: Store, records: Sequence[JournalRecord]) -> dict[int, str]:
    """Return `pinned: TEXT` for each record that holds no text: as the note was then, else as it is now."""
    live = {note.id: note.text for note in store.list()}
    known: dict[str, str] = {}
    found: dict[int, str] = {}
    for record in records:
        before, after = record.fields.get("before"), record.fields.get("after")
        if after:
            known[record.new_id or record.id or ""] = after
        elif not before and record.id:
            word = {"pin": "yes", "unpin": "no"}.get(record.action) or record.fields.get("pinned", "")
            did = {"yes": "pinned", "no": "unpinned"}.get(word, "")
            text = redacted(known.get(record.id) or live.get(record.id, ""))
            found[record.n] = ": ".join(part for part in (did, text) if part)
    return found


def _beside(checked: Verification, elsewhere: int) -> dict[str, Any]:
    """Return what people see beside the records: faults of the chain, and how many records are of other scopes."""
    faults = [redacted(fault) for fault in checked.faults]
    return {"faults": faults, "tampered": checked.tampered, "elsewhere": max(elsewhere, 0)}


def record_json(record: JournalRecord) -> dict[str, Any]:
    """Return a journal record as programs see it."""
    fields = {name: redacted(value) for name, value in record.fields.items()}
    return {
        "n": record.n,
        "action": record.action,
        "time": record.time,
        "scope": record.scope or None,
        "id": record.id,
        "new_id": record.new_id,
        "before": fields.get("before"),
        "after": fields.get("after"),
        "evidence": fields.get("evidence"),
        "by": fields.get("by"),
        "chain": record.chain,
    }


def init(context: Context, args: Namespace) -> Outcome:
    """Make the present directory a workspace of its own."""
    store = context.store()
    directory = Path(context.cwd or Path.cwd())
    label = " ".join(args.label) or directory.name or "workspace"
    workspace = store.workspace
    if workspace is not None and workspace.origin:
        name = workspace.label or workspace.origin
        context.confirm(
            f"Notes here belong to the repository {redacted(name)}; a .memory-magic.toml starts a new, empty workspace "
            "for this directory instead. Go on?",
            yes=args.yes,
        )
    scope = store.init(label, directory)
    data = {"scope": scope.id, "label": scope.label, "path": str(scope.path)}
    return Outcome("initialised", data, {"directory": str(directory)})


def config(context: Context, args: Namespace) -> Outcome:
    """Show settings, or change one."""
    if args.action == "set":
        if args.key is None or not args.value:
            raise UsageError(
                "config set needs a key and a value", hint=f"for example: {context.run('config set enabled on')}"
            )
        return _config_set(context, args.key, " ".join(args.value))
    if args.value:
        raise UsageError(
            f"config {args.action} takes no value", hint=f"to change one: {context.run('config set KEY VALUE')}"
        )
    if args.action == "get":
        if args.key is None:
            raise UsageError("config get needs a key", hint=f"all keys: {context.run('config')}")
        found = rules.explain(context.root)[rules.find_setting(args.key).name]
        return Outcome("setting", _setting_json(found))
    if args.key is not None:
        raise UsageError("config list takes no key", hint=f"to see one: {context.run('config get ' + args.key)}")
    values = rules.explain(context.root).values()
    extra = {"path": str(rules.config_path(context.root))}
    return Outcome("settings", {"settings": [_setting_json(value) for value in values]}, extra)


def _setting_json(found: Value) -> dict[str, Any]:
    """Return a setting's row with its present value."""
    setting = found.setting
    return {
        "key": setting.name,
        "value": _value_json(found.value),
        "origin": found.origin,
        "default": _value_json(setting.default),
        "range": setting.kind.range,
        "meaning": setting.meaning,
        "from": setting.source,
    }


def _config_set(context: Context, key: str, value: str) -> Outcome:
    """Change one setting; say so when the environment overrides it."""
    setting = rules.find_setting(key)
    rules.set_value(context.root, key, value)
    found = rules.explain_one(context.root, setting)
    extra = {"path": str(rules.config_path(context.root)), "overridden": ""}
    if found.origin == "environment":
        extra["overridden"] = f"{setting.variable} is set in the environment and goes before the file."
    return Outcome("set", _setting_json(found), extra)


def doctor(context: Context, args: Namespace) -> Outcome:  # noqa: ARG001 -- every command has this signature
    """Look for damage, slips and look-alikes, and say how to mend each."""
    found = [*_of_variables(), *_of_settings(context), *_of_project(context)]
    store = context.store()
    of_store = store.findings()
    kinds = {finding.kind for finding in of_store}
    if "drift" in kinds and "journal" not in kinds:
        # what was typed into a file by hand is no slip: the journal follows, as it does whenever notes are read
        store.list(ALL_SCOPES)
        of_store = store.findings()
    found += [*of_store, *_of_ledger(context)]
    data = {"findings": [_finding_json(finding, context) for finding in found], "root": str(context.root)}
    return Outcome("findings", data, status=1 if found else 0)


def _of_ledger(context: Context) -> list[Finding]:
    """Return what keeps the ledger from being written, while it lasts."""
    from memory_magic.store import ledger_files
    from memory_magic.store.records import Finding

    text = ledger_files.problem(context.root)
    folder = ledger_files.folder_of(context.root)
    return [Finding("ledger", text, folder, "mend it: the next prompt is entered again")] if text else []


def _of_variables() -> list[Finding]:
    """Return a finding for each variable with our prefix that is no setting."""
    import difflib

    from memory_magic.store.records import Finding

    known = {setting.variable for setting in rules.SETTINGS.values()} | rules.NO_SETTINGS
    found = []
    for name in rules.unknown_variables():
        near = difflib.get_close_matches(name, known, n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        mend = f"unset {name}, in the shell or profile that sets it; %memory config names the settings"
        found.append(Finding("variable", f"{name} is no setting and does nothing{meant}", name, mend))
    return found


def _of_settings(context: Context) -> list[Finding]:
    """Return a finding for each fault of the settings; memory is off while there is one."""
    from memory_magic.store.records import Finding

    found = []
    for fault in rules.faults(context.root):
        key = fault.what.partition(" = ")[0]
        mend = fault.hint
        if key in rules.SETTINGS:
            unset = fault.where == rules.SETTINGS[key].variable
            mend = f"unset {fault.where}" if unset else f"%memory config set {key} VALUE"
            mend = f"{mend} ({fault.hint})" if fault.hint else mend
        found.append(Finding("setting", f"{fault.what}; memory is off as long as this stands", fault.where, mend))
    return found


def _of_project(context: Context) -> list[Finding]:
    """Return a finding for each project file above here that cannot be understood: memory is off below it."""
    from memory_magic.store.records import Finding

    return [
        Finding(
            "project",
            f"{file.trouble}; memory is off here as long as this stands",
            str(file.path),
            "edit it, or delete it",
        )
        for file in switch.off_files(context.cwd)
        if file.trouble
    ]


def _finding_json(finding: Finding, context: Context) -> dict[str, str]:
    """Return a finding as programs see it, commands written as they are typed here."""
    mend = _COMMAND.sub(lambda _: context.run(""), finding.mend)
    parts = {"kind": finding.kind, "text": finding.text, "where": finding.where, "mend": mend}
    return {name: redacted(part) for name, part in parts.items()}


def run(context: Context, args: Namespace) -> Outcome:
    """Extract memories from past sessions."""
    if not args.session:
        raise UsageError("name at least one session", hint=f"for example: {context.run('run --session FILE')}")
    if rules.is_paused():
        raise MemoryOffError(
            "memory is paused in this notebook, so no session is read", hint="type %memory on in it to end the pause"
        )
    from memory_magic.pipeline.stage_one import run_session

    store = context.store()
    outputs: list[dict[str, Any]] = []
    errors: list[str] = []
    for path in args.session:
        try:
            outputs.append(run_session(Path(path).expanduser(), store=store).as_json())
        except MemoryMagicError as error:
            if len(args.session) == 1:
                raise
            errors.append(redacted(str(error)))
    return Outcome("ran", {"outputs": outputs, "errors": errors}, status=1 if errors else 0)


def dashboard(context: Context, args: Namespace) -> Outcome:
    """Open the dashboard on this computer."""
    if not 0 <= args.port <= LAST_PORT:
        raise UsageError(f"{args.port} is no port", hint=f"--port takes a number from 0 (any free port) to {LAST_PORT}")
    if context.serve is None:
        raise MemoryMagicError("the dashboard cannot be started from here", hint="type memory-magic dashboard")
    as_json = {"as_json": True} if args.json else {}
    address = context.serve(context.root, cwd=context.cwd, port=args.port, browser=not args.no_browser, **as_json)
    # a shell that waits until the dashboard ends has told the address at its start
    return Outcome("served", {"address": address or None}, {"told": address is None})
