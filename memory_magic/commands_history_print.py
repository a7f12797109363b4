"""Text for people from the outcomes of commands on the past; pure, like `commands_print`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memory_magic.commands_table import clip, count, one_line, plain, scope_name, table

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_magic.commands_base import Outcome

_SHORT: Final = 10
_SHOWN_REFUSED: Final = 10


def _history(outcome: Outcome, width: int | None, prog: str) -> str:
    data, extra = outcome.data, outcome.extra
    short = extra["short"][data["id"]]
    live = ", ".join(extra["short"][one] for one in data["live"])
    state = f"stands now as {live}" if data["live"] else f"is out of use ({prog} restore {short} brings it back)"
    lines = [f"{count(len(data['records']), 'record')} of {short}, which {state}"]
    for record in data["records"]:
        lines += ["", *_version(record, width, extra["labels"])]
    if data["hidden"]:
        lines.append(f"\n{count(data['hidden'], 'record')} of scopes that are not seen here (--scope all)")
    lines.append(f"\ntake one back: {prog} undo N")
    return "\n".join(lines)


def _version(record: dict[str, Any], width: int | None, labels: dict[str, str]) -> list[str]:
    """Return the lines of one record: what happened, before and after, why and by whom."""
    when = str(record["time"])[:19].replace("T", " ")
    place = scope_name(record["scope"] or "", labels)
    to = f" -> {scope_name(record['to'], labels)}" if record["to"] else ""
    notes = [f"undoes {record['undoes']:,}"] if record["undoes"] else []
    notes += [f"taken back by {record['undone_by']:,}"] if record["undone_by"] else []
    notes += ["never took effect"] if record["cancelled"] else []
    notes += [f"purged: {', '.join(record['erased'])}"] if record["erased"] else []
    told = f"  ({'; '.join(notes)})" if notes else ""
    lines = [f"{record['n']:>6,}  {when}  {record['action']}  {place}{to}{told}"]
    for mark, name in (("-", "before"), ("+", "after")):
        if record[name]:
            lines += [_cut(f"        {mark} {line}", width) for line in plain(record[name]).split("\n")]
    for name in ("evidence", "by"):
        if record[name]:
            lines.append(_cut(f"        {name}: {one_line(record[name])}", width))
    return lines


def _cut(line: str, width: int | None) -> str:
    return line if width is None else clip(line, width)


def _moment(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    data, extra = outcome.data, outcome.extra
    when = f"record {data['n']:,}, {str(data['time'])[:19].replace('T', ' ')} UTC" if data["n"] else "the first record"
    if not data["notes"]:
        return f"Nothing was remembered {'after' if data['n'] else 'before'} {when}."
    gone = set(extra["gone"])
    rows = [
        (
            "◆" if note["pinned"] else "",
            extra["short"][note["id"]],
            scope_name(note["scope"], extra["labels"]),
            "gone since" if note["id"] in gone else "",
            note["text"],
        )
        for note in data["notes"]
    ]
    head = f"{count(len(rows), 'note')} after {when}; {count(extra['later'], 'note')} came later"
    return f"{head}\n\n{table(('', 'id', 'scope', 'now', 'note'), rows, limit=width)}"


def _undone(outcome: Outcome, width: int | None, prog: str) -> str:
    extra = outcome.extra
    lines = []
    for one in outcome.data["undone"]:
        place = scope_name(one["scope"], extra["labels"])
        lines.append(f"Record {one['undoes']:,} is taken back in {place}, by journal record {one['n'] or 0:,}.")
        text = extra["texts"].get(one["id"], "")
        lines.append(_cut(f"  now: {one_line(text)}", width) if text else "  the note is out of use now")
        lines.append(f"  the other way: {prog} undo {one['n']}")
    if failed := outcome.data["failed"]:
        lines.append(f"▲ Record {failed['n']:,} stays: {plain(failed['why'])}")
    return "\n".join(lines + [f"  {plain(notice)}" for notice in extra["notices"]])


def _turned(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    data, extra = outcome.data, outcome.extra
    names = {name: scope_name(scope, extra["labels"]) for name, scope in _scopes(data, extra).items()}
    if extra["status"] == "duplicate":
        return f"Nothing to do in {names['scope']}: it is {extra['action']} already, or stands there."
    lines = [f"{extra['said'].format(**names)}, journal record {data['n']:,}."]
    if extra["text"]:
        lines.append(_cut(f"  note: {one_line(extra['text'])}", width))
    ids = extra["short"][data["id"]]
    if data["old_id"] and data["old_id"] != data["id"]:
        ids = f"{data['old_id'][:_SHORT]} -> {ids}"
    line = f":{data['line']}" if data["line"] else ""
    lines.append(f"  id {ids}, {plain(data['path'])}{line}")
    return "\n".join(lines + [f"  {plain(notice)}" for notice in extra["notices"]])


def _scopes(data: dict[str, Any], extra: dict[str, Any]) -> dict[str, str]:
    return {"scope": data["scope"], "source": extra.get("source", data["scope"])}


def _exported(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    data = outcome.data
    if data["path"] is None:
        return str(data["text"])
    records = f" and {count(data['records'], 'journal record')}" if data["records"] else ""
    lines = [
        f"{count(data['notes'], 'note')} of {count(data['scopes'], 'scope')}{records} are in {plain(data['path'])}"
    ]
    if data["style"] == "bundle":
        lines.append("  Open it in a browser; it says how to check itself.")
    if data["head"] and data["records"]:
        lines.append(f"  head of the chain: {data['head']}")
    return "\n".join(lines + [f"  {plain(notice)}" for notice in outcome.extra["notices"]])


def _imported(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    data = outcome.data
    parts = [
        (data["added"], "added"),
        (data["overwritten"], "put back in place of later texts"),
        (data["same"], "here already"),
        (data["skipped"], "left out: changed or retired here (--on-conflict overwrite or new takes them)"),
        (data["tombstoned"], "left out: purged here"),
        (len(data["refused"]), "refused"),
    ]
    told = [f"  {number:,} {words}" for number, words in parts if number]
    head = f"{plain(data['source'])}: {count(data['added'] + data['overwritten'], 'note')} taken over"
    history = f" with {count(data['records'], 'journal record')}" if data["records"] else ""
    lines = [head + history, *told]
    lines += [f"    {plain(reason)}" for reason in data["refused"][:_SHOWN_REFUSED]]
    if data["redacted"]:
        kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(data["redacted"].items()))
        lines.append(f"  Taken out before saving: {kinds}.")
    return "\n".join(lines + [f"  {plain(notice)}" for notice in outcome.extra["notices"]])


PRINTERS: Final[dict[str, Callable[[Outcome, int | None, str], str]]] = {
    "history": _history,
    "moment": _moment,
    "undone": _undone,
    "turned": _turned,
    "exported": _exported,
    "imported": _imported,
}
