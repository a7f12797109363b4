"""An audit bundle: one HTML file that shows notes and journal, holds both as JSON Lines, and can be checked by anyone.

The page needs no network, no script and no program of ours: its tables are for reading, its two links hold the JSON
Lines export with history and a check of thirty lines for Python's standard library, as data addresses. The check
computes the chain again from the salted commitments, compares its end with the head that the page shows, and counts
the notes that read as their last record says (one that lost a secret on its way out does not). Whoever
gets a bundle of one scope sees of all other records their number, action and time; their fields are replaced by
commitments, so that the chain can still be checked.

Every text from the store is escaped, and what an eye would miss is taken out; a policy in the page forbids everything
but its own style.
"""

from __future__ import annotations

import base64
import html
from typing import TYPE_CHECKING, Final

from memory_magic.store import export
from memory_magic.store import journal_format as form
from memory_magic.store.history import scopes_of
from memory_magic.text.invisible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from memory_magic.store.access import Access
    from memory_magic.store.export import Exported, Part, Snapshot
    from memory_magic.store.records import JournalRecord, Verification

SHOWN_RECORDS: Final = 2_000
SHOWN_NOTES: Final = 5_000
_CHUNK: Final = 3 << 14  # bytes; a multiple of three, so that pieces of Base64 join
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_CHECK: Final = '''"""Check an audit bundle: python3 check.py BUNDLE.html (Python 3.8 or newer, nothing else)."""
import base64, hashlib, json, re, sys

NAMES = """@NAMES@""".split()

def sha(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

page = open(sys.argv[1], encoding="utf-8").read()
head = re.findall(r'id="head">([0-9a-f]{64})<', page)[0]
data = base64.b64decode(re.findall(r'id="data"[^>]*;base64,([^"]*)"', page)[0]).decode("utf-8")
chains, chain, count, notes, told = {"0" * 16: "0" * 64}, "0" * 64, 0, [], {}
for record in (json.loads(line) for line in data.split("\\n") if line):
    if not record.get("n"):
        notes += [record] * ("text" in record)
        continue  # a note, a scope, or a record of another program
    fields, gone, own, pairs = record["fields"], record.get("erased", {}), record.get("salts", {}), []
    for name in sorted({**fields, **gone}, key=lambda name: (NAMES.index(name) if name in NAMES else 99, name)):
        salt = sha(record["salt"] + name)[:32] if "salt" in record else own.get(name, "")
        pairs.append([name, gone[name] if name in gone else sha(salt + fields[name])])
    before = chains.get(record["prev"])
    chain = sha(json.dumps([before, record["n"], record["action"], record["time"], pairs], separators=(",", ":")))
    if before is None or chain != record["chain"]:
        sys.exit("BROKEN: record %d was changed, or the record before it is missing" % record["n"])
    chains[chain[:16]], count = chain, count + 1
    told[fields.get("new_id", fields.get("id"))] = fields.get("after", "").split() or told.get(fields.get("id"))
if chain != head:
    sys.exit("BROKEN: the chain ends at %s, not at the head that the page shows" % chain)
same = sum(told.get(note["id"]) == note["text"].split() for note in notes)
print("ok: %d records, chain whole up to the head; %d of %d notes as they say" % (count, same, len(notes)))
'''
_STYLE: Final = """
:root{color-scheme:light dark;--line:#8884;--soft:#8881;--ok:#137a3e;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--ok:#6fd39b;--bad:#ff8a80}}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}
code,pre{font:13px/1.45 ui-monospace,monospace}pre{background:var(--soft);padding:.8rem;overflow:auto}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;
border-bottom:1px solid var(--line)}th{font-weight:600}td.text{white-space:pre-wrap;overflow-wrap:anywhere}
td.quiet{white-space:nowrap;opacity:.75}.ok{color:var(--ok)}.bad{color:var(--bad)}#head{overflow-wrap:anywhere}
"""


def check_script() -> str:
    """Return the check that goes with a bundle: thirty lines for the standard library."""
    return _CHECK.replace("@NAMES@", " ".join(form.FIELDS))


def write_bundle(access: Access, path: Path, *, scope: str | None = None) -> Exported:
    """Write the bundle of *scope* (None: of every scope) to *path*."""
    export.require_outside(access.root, path)
    snapshot = export.take_snapshot(access, scope)
    verdict = access.journal.verify(access.anchor())
    seen = {part.scope.id for part in snapshot.parts} if scope is not None else None
    export.write(path, _page(access, snapshot, verdict, seen))
    notices = () if verdict.ok else ("its chain has faults, which the page lists",)
    head = snapshot.head if snapshot.n else ""
    return export.Exported(str(path), len(snapshot.parts), len(snapshot.notes), snapshot.n, head, notices)


def _page(access: Access, snapshot: Snapshot, verdict: Verification, seen: set[str] | None) -> Iterator[str]:
    yield (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>Memory audit</title><style>{_STYLE}</style></head><body>\n<h1>Memory audit</h1>\n"
    )
    yield _summary(snapshot, verdict)
    yield from _check_section(access, snapshot, seen)
    for part in snapshot.parts:
        yield from _notes(part)
    yield from _journal(access, snapshot, seen)
    yield "</body></html>\n"


def _summary(snapshot: Snapshot, verdict: Verification) -> str:
    sentence = (
        f'<p class="ok">✓ {verdict.n:,} journal records, the chain was whole.</p>'
        if verdict.ok
        else '<p class="bad">▲ The chain had faults when this page was made:</p><ul>'
        + "".join(f"<li>{escape(fault)}</li>" for fault in verdict.faults[:100])
        + "</ul>"
    )
    return f'{sentence}<p>Head of the chain: <code id="head">{snapshot.head}</code></p>\n'


def _check_section(access: Access, snapshot: Snapshot, seen: set[str] | None) -> Iterator[str]:
    script = check_script()
    coded = base64.b64encode(script.encode()).decode()
    yield (
        "<h2>Check it yourself</h2>\n<p>The tables below are for reading. What counts is the data in this file: "
        '<a id="data" download="memory.jsonl" href="data:application/jsonl;base64,'
    )
    yield from _base64(_data(access, snapshot, seen))
    yield (
        f'">memory.jsonl</a>. Save <a download="check.py" href="data:text/x-python;base64,{coded}">check.py</a> '
        "(shown here) and run <code>python3 check.py</code> with the name of this file. Then compare the head with the "
        f"one that <code>memory-magic verify</code> shows.</p>\n<details><summary>check.py</summary>"
        f"<pre>{escape(script)}</pre></details>\n"
    )


def _data(access: Access, snapshot: Snapshot, seen: set[str] | None) -> Iterator[str]:
    yield from export.lines(access, snapshot)
    for record in _records(access, snapshot, seen):
        yield export.encode_line(export.record_value(record))


def _records(access: Access, snapshot: Snapshot, seen: set[str] | None) -> Iterator[JournalRecord]:
    """Stream the records, those of scopes that are not *seen* with commitments in place of their fields."""
    for record in export.records_of(access, snapshot):
        visible_here = seen is None or scopes_of(record) <= {*seen, ""}
        if visible_here:
            yield record
        elif record.n:
            yield export.sealed(record)


def _base64(stream: Iterable[str]) -> Iterator[str]:
    rest = b""
    for text in stream:
        rest += text.encode("utf-8", "replace")
        if len(rest) >= _CHUNK:
            whole = len(rest) // 3 * 3
            yield base64.b64encode(rest[:whole]).decode()
            rest = rest[whole:]
    yield base64.b64encode(rest).decode()


def _notes(part: Part) -> Iterator[str]:
    scope = part.scope
    name = "Global" if scope.is_global else part.content.label or scope.id
    yield f"<h2>{escape(name)}: {len(part.notes):,} notes</h2>\n"
    if not scope.is_global:
        yield f"<p><code>{escape(scope.id)}</code> {escape(part.content.origin)}</p>\n"
    yield "<table><thead><tr><th>id</th><th>note</th><th>created</th><th>by</th></tr></thead><tbody>\n"
    for note in part.notes[:SHOWN_NOTES]:
        value = export.note_value(note)
        text = ("◆ " if note.pinned else "") + value["text"]
        yield (
            f'<tr><td class="quiet"><code>{escape(value["id"][:10])}</code></td><td class="text">{escape(text)}</td>'
            f'<td class="quiet">{escape(value["created"][:19])}</td><td class="text">{escape(value["by"])}</td></tr>\n'
        )
    yield "</tbody></table>\n" + _left_out(len(part.notes), SHOWN_NOTES, "notes")


def _journal(access: Access, snapshot: Snapshot, seen: set[str] | None) -> Iterator[str]:
    yield "<h2>Journal</h2>\n" + _left_out(snapshot.n, SHOWN_RECORDS, "records, older ones first")
    yield (
        "<table><thead><tr><th>n</th><th>time (UTC)</th><th>action</th><th>what</th><th>why</th><th>by</th></tr>"
        "</thead><tbody>\n"
    )
    for record in _records(access, snapshot, seen):
        if record.n > snapshot.n - SHOWN_RECORDS:
            yield _record_row(record)
    yield "</tbody></table>\n"


def _record_row(record: JournalRecord) -> str:
    fields = record.fields
    before, after = fields.get("before", ""), fields.get("after", "")
    change = f"{before}\n→ {after}" if before and after else before or after
    hidden = "(not part of this bundle)" if record.erased and not fields else ""
    return (
        f'<tr><td class="quiet">{record.n}</td><td class="quiet">{escape(record.time[:19])}</td>'
        f'<td class="quiet">{escape(record.action)}</td><td class="text">{escape(change or hidden)}</td>'
        f'<td class="text">{escape(fields.get("evidence", ""))}</td>'
        f'<td class="text">{escape(fields.get("by", ""))}</td></tr>\n'
    )


def _left_out(total: int, shown: int, what: str) -> str:
    if total <= shown:
        return ""
    return f"<p>{total - shown:,} further {escape(what)}, are in the data only.</p>\n"


def escape(text: str) -> str:
    """Return *text* for HTML, quotes included, without characters that an eye would miss."""
    return html.escape(visible(text), quote=True)
