"""Turn an outcome into text for people: aligned, short ids, one sentence first.

One printer for each kind of outcome, all of them pure: outcome, width and name of the program in, text out. A width of
None cuts nothing (the output goes to a file or another program). The JSON of `--json` is made here too, so that command
line and notebook print the same bytes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memory_magic.commands_table import clip, count, one_line, plain, scope_name, table
from memory_magic.commands_view_print import print_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_magic.commands_base import Outcome

_SHOWN_RECORDS = 20


def as_json(outcome: Outcome) -> str:
    """Return the outcome's data as JSON; equal data give equal bytes."""
    return json.dumps(outcome.data, ensure_ascii=False, indent=2)


def as_text(outcome: Outcome, *, width: int | None = 100, prog: str = "memory-magic") -> str:
    """Return the outcome as text for a person; *prog* is how commands are typed here."""
    return printers()[outcome.kind](outcome, width, prog).rstrip("\n")


def printers() -> dict[str, Callable[[Outcome, int | None, str], str]]:
    """Return what turns each kind of outcome into text."""
    # these use the pieces above
    from memory_magic import (
        commands_history_print,
        commands_ledger,
        commands_mcp,
        commands_purge,
        commands_review,
        commands_switch,
    )

    of_others = (
        commands_history_print,
        commands_purge,
        commands_ledger,
        commands_review,
        commands_switch,
        commands_mcp,
    )
    found = dict(PRINTERS)
    for module in of_others:
        found.update(module.PRINTERS)
    return found


def _remembered(outcome: Outcome, width: int | None, prog: str) -> str:
    data, extra = outcome.data, outcome.extra
    scope = scope_name(data["scope"], extra["labels"])
    pinned = " and pinned" if extra["pinned"] else ""
    if data["status"] == "duplicate":
        said = f"Already remembered in {scope}{pinned or ', nothing to do'}: "
    else:
        said = f"Remembered in {scope}{pinned}: "
    lines = [said + _short(extra["text"], width, len(said))]
    lines.append(f"  id {extra['short']}, {plain(data['path'])}:{data['line']}")
    lines += _after_write(data["redacted"], extra)
    lines.append("  " + headroom_text(data["headroom"], prog))
    return "\n".join(lines)


def _short(text: str, width: int | None, taken: int) -> str:
    line = one_line(text)
    return line if width is None else clip(line, max(width - taken, 30))


def _after_write(redacted: dict[str, int], extra: dict[str, Any]) -> list[str]:
    """Return what a reply to a write adds: secrets taken out, and the store's sentences."""
    lines = []
    if redacted:
        kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(redacted.items()))
        lines.append(f"  Taken out before saving: {kinds}.")
    lines += [f"  {plain(notice)}" for notice in extra["notices"]]
    return lines


def headroom_text(headroom: dict[str, Any], prog: str) -> str:
    """Return in one sentence how full the notes part of the next block is."""
    cap, used, unit = headroom["cap"], headroom["used"], headroom["unit"]
    share = f" ({round(100 * used / cap)} %)" if cap else ""
    said = f"Room in a block: {used:,} of {cap:,} {unit} used{share}."
    if headroom["next_out"]:
        said += f" The next note pushes out {headroom['next_out'][:10]} ({prog} view shows what is left out)."
    return said


def _changed(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    data, extra = outcome.data, outcome.extra
    scope = scope_name(data["scope"], extra["labels"])
    if extra["status"] == "duplicate":
        lines = [f"Nothing to do in {scope}: it is {extra['action']} already."]
    else:
        lines = [f"{extra['action'].capitalize()} in {scope}, journal record {data['n']:,}."]
    if extra["text"]:
        lines.append(f"  now: {_short(extra['text'], width, 7)}")
    if data["old_id"] and data["old_id"] != data["id"]:
        lines.append(f"  id {data['old_id'][:10]} -> {extra['short']}, {plain(data['path'])}:{data['line']}")
    else:
        lines.append(f"  id {extra['short']}, {plain(data['path'])}")
    return "\n".join(lines + _after_write(extra["redacted"], extra))


def _places(extra: dict[str, Any]) -> str:
    """Return where a listing looked."""
    if extra["scope"] == "all":
        return "all scopes"
    if extra["scope"]:
        return scope_name(extra["scope"], extra["labels"])
    return " and ".join(scope_name(scope, extra["labels"]) for scope in extra["labels"])


def _notes(outcome: Outcome, width: int | None, prog: str) -> str:
    notes, extra = outcome.data["notes"], outcome.extra
    if not notes:
        return f"Nothing is remembered yet in {_places(extra)}.\n  The first note: {prog} remember TEXT{_why(extra)}"
    rows = [
        (
            ("◆" if note["pinned"] else "") + ("▲" if note["suspicious"] else ""),
            extra["short"][note["id"]],
            scope_name(note["scope"], extra["labels"]),
            note["text"],
        )
        for note in notes
    ]
    head = f"{count(len(notes), 'note')} in {_places(extra)} (◆ pinned, then newest first)"
    held = sum(note["suspicious"] is not None for note in notes)
    foot = f"\n\n▲ {count(held, 'suspicious note')}, told to no assistant: {prog} review" if held else ""
    return f"{head}\n\n{table(('', 'id', 'scope', 'note'), rows, limit=width)}{foot}"


def _why(extra: dict[str, Any]) -> str:
    return f"\n\n{plain(extra['scope_notice'])}" if extra["scope_notice"] else ""


def _hits(outcome: Outcome, width: int | None, prog: str) -> str:
    data, extra = outcome.data, outcome.extra
    lines = []
    if data["hits"]:
        rows = [
            (
                at,
                extra["short"][hit["id"]],
                f"{hit['score']:.2f}",
                scope_name(hit["scope"], extra["labels"]),
                f"▲ {hit['text']}" if hit["suspicious"] else hit["text"],
            )
            for at, hit in enumerate(data["hits"], 1)
        ]
        lines.append(f"{count(len(rows), 'note')} for {one_line(data['query'])} in {_places(extra)}\n")
        lines.append(table(("#", "id", "score", "scope", "note"), rows, limit=width, numbers=(0, 2)))
    else:
        asked = (
            f"has a word of: {one_line(data['query'])}" if extra["terms"] else "was looked for: there is no word in it"
        )
        lines.append(f"No note in {_places(extra)} {asked}")
        lines.append(f"  Try other words; {prog} list shows everything.")
    if extra["explain"]:
        terms = " ".join(one_line(term) for term in extra["terms"]) or "nothing"
        lines.append(f"\nread as: {terms} (the very phrase first, then every word, then some; rare words count more)")
        lines += [f"  {at}  {one_line(why)}" for at, why in enumerate(extra["why"], 1)]
    if data["fallback"]:
        lines.append(f"\n{plain(data['fallback'])}")
    return "\n".join(lines) + ("" if data["hits"] else _why(extra))


def _note(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    data, extra = outcome.data, outcome.extra
    facts = {
        "id": f"{data['id']} (short: {extra['short'][data['id']]})",
        "scope": scope_name(data["scope"], extra["labels"]),
        "place": f"{data['path']}:{data['line']}",
        "heading": " > ".join(extra["section"]),
        "kind": "pinned note" if data["pinned"] else {"item": "note"}.get(extra["note_kind"], extra["note_kind"]),
        "created": data["created"] or "",
        "by": data["by"] or "",
    }
    lines = [f"  {name:<8} {one_line(value)}" for name, value in facts.items() if value]
    warning = ["", plain(extra["kept_out"])] if extra["kept_out"] else []
    return "\n".join([plain(data["text"]), "", *lines, *warning])


def _status(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    data, extra = outcome.data, outcome.extra
    first = plain(extra["said"])
    index, journal = data["index"], data["journal"]
    checked = journal["verified"]
    verdict = (
        "chain not checked yet"
        if not checked
        else f"{'chain whole' if checked['ok'] else f'with findings ({prog} verify)'}, checked {checked['time']}"
    )
    labels = {scope["id"]: scope["label"] for scope in data["scopes"]}
    rows = [(scope_name(s["id"], labels), f"{s['notes']:,}", s["path"]) for s in data["scopes"]]
    lines = [
        first,
        "",
        f"root     {plain(data['root'])}",
        f"index    {count(index['notes'], 'note')}, {'fresh' if index['fresh'] else 'refreshed at the next command'}",
        f"journal  {count(journal['records'], 'record')}, {verdict}",
        "",
        table(("scope", "notes", "path"), rows, numbers=(1,)),
    ]
    if extra["ledger"]:
        lines.append(f"\n▲ the ledger could not be written: {plain(extra['ledger'])}")
    return "\n".join(lines) + _why(extra)


def _journal(outcome: Outcome, width: int | None, prog: str) -> str:
    records = outcome.data["records"]
    if not records and not outcome.extra["elsewhere"]:
        if outcome.extra["limit"]:
            return f"No record fits that. {prog} journal shows all."
        return f"No change yet. {prog} remember TEXT writes the first record."
    shown = records if outcome.extra["limit"] else records[-_SHOWN_RECORDS:]
    labels = outcome.extra["labels"]
    rows = [
        (
            f"{record['n']:,}",
            str(record["time"])[:19].replace("T", " "),
            record["action"],
            scope_name(record["scope"] or "", labels),
            (record["new_id"] or record["id"] or "")[:10],
            _change(record, outcome.extra["texts"]),
        )
        for record in shown
    ]
    lines = [table(("n", "time (UTC)", "action", "scope", "id", "what"), rows, limit=width, numbers=(0,)), ""]
    if len(shown) < len(records):
        lines.append(f"{len(records) - len(shown):,} earlier: {prog} journal --limit {len(records)}")
    if outcome.extra["elsewhere"]:
        lines.append(f"{count(outcome.extra['elsewhere'], 'record')} of other scopes: {prog} journal --scope all")
    lines.append(_verdict(outcome, len(outcome.extra["faults"])))
    return "\n".join(lines + [f"  {plain(fault)}" for fault in outcome.extra["faults"]])


def _change(record: dict[str, Any], texts: dict[int, str]) -> str:
    """Return a record's before and after in one line: `+ new`, `- gone`, `old -> new`, `pinned: TEXT`."""
    before, after = one_line(record["before"] or ""), one_line(record["after"] or "")
    if before and after:
        changed = f"{before} -> {after}"
    elif before or after:
        changed = f"+ {after}" if after else f"- {before}"
    else:
        changed = one_line(texts.get(record["n"], ""))
    return f"{changed}  ({one_line(record['evidence'])})" if record["evidence"] else changed


def _verdict(outcome: Outcome, faults: int) -> str:
    """Say it in one line; a fork, a lost end or a foreign line leaves the chain of the records whole."""
    verified, head = outcome.data["verified"], outcome.data["head"]
    if verified["ok"]:
        return f"✓ {count(verified['n'], 'record')}, chain whole, head {head[:16] or 'none'}"
    tampered = (outcome.data | outcome.extra)["tampered"]
    broken = "; the chain is broken: a record was changed, or one is missing" if tampered else ""
    return f"▲ the journal has {count(faults, 'finding')} (last record {verified['n']:,}){broken}"


def _verified(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    lines = [_verdict(outcome, len(outcome.data["faults"]))]
    return "\n".join(lines + [f"  {plain(fault)}" for fault in outcome.data["faults"]])


def _reindexed(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    return f"The index was built anew: {count(outcome.data['notes'], 'note')}."


def _initialised(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    data, extra = outcome.data, outcome.extra
    return (
        f"{plain(extra['directory'])} is now the workspace “{one_line(data['label'])}”.\n"
        f"  Its notes: {plain(data['path'])}\n"
        "  .memory-magic.toml holds its name and id; keep it with the project."
    )


def _settings(outcome: Outcome, width: int | None, prog: str) -> str:
    from memory_magic.settings import SETTINGS, show

    rows = [
        (row["key"], show(_value(row["value"]), SETTINGS[row["key"]]), row["origin"], row["meaning"])
        for row in outcome.data["settings"]
    ]
    heads = ("setting", "value", "from", "meaning")
    change = f"its range: {prog} config get KEY    change one: {prog} config set KEY VALUE"
    return f"{table(heads, rows, limit=width)}\n\nfile: {plain(outcome.extra['path'])}\n{change}"


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _setting(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    from memory_magic.settings import SETTINGS, show

    row = outcome.data
    value = plain(show(_value(row["value"]), SETTINGS[row["key"]]))
    return f"{row['key']} = {value}  (from {row['origin']})\n  {row['meaning']}; {row['range']}"


def _set(outcome: Outcome, width: int | None, prog: str) -> str:
    lines = [_setting(outcome, width, prog), f"  saved in {plain(outcome.extra['path'])}"]
    if outcome.extra["overridden"]:
        lines.append(f"  {outcome.extra['overridden']}")
    return "\n".join(lines)


def _findings(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    findings = outcome.data["findings"]
    if not findings:
        return f"✓ Nothing found in {plain(outcome.data['root'])}."
    lines = [f"{count(len(findings), 'finding')} in {plain(outcome.data['root'])}"]
    for finding in findings:
        lines.append(f"\n▲ {one_line(finding['kind'])}: {plain(finding['text'])}")
        if finding["where"]:
            lines.append(f"  where: {plain(finding['where'])}")
        if finding["mend"]:
            lines.append(f"  mend:  {plain(finding['mend'])}")
    return "\n".join(lines)


def _ran(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    lines = []
    for output in outcome.data["outputs"]:
        found = "memories found" if output["status"] == "output" else one_line(output["status"]).replace("_", " ")
        facts = [f"{output['input_tokens']:,} tokens read", *(["cut"] if output["truncated"] else [])]
        if output["redacted"]:
            facts.append(f"{count(sum(output['redacted'].values()), 'secret')} taken out")
        lines.append(f"{one_line(output['source'])} session {one_line(output['session'])}: {found}")
        lines.append(f"  {', '.join(facts)}, by {one_line(output['model'])}")
        if output["path"]:
            lines.append(f"  {plain(output['path'])}")
    return "\n".join(lines + [f"▲ {plain(error)}" for error in outcome.data["errors"]])


def _served(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    return f"The dashboard: {outcome.data['address']}" if outcome.data["address"] else ""


PRINTERS: dict[str, Callable[[Outcome, int | None, str], str]] = {
    "remembered": _remembered,
    "changed": _changed,
    "notes": _notes,
    "hits": _hits,
    "note": _note,
    "view": print_view,
    "status": _status,
    "journal": _journal,
    "verified": _verified,
    "reindexed": _reindexed,
    "initialised": _initialised,
    "settings": _settings,
    "setting": _setting,
    "set": _set,
    "findings": _findings,
    "ran": _ran,
    "served": _served,
}
