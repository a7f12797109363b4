"""`# Memory Guidance`: how to read memory, and the consolidated summaries, workspace before global.

The rules are `read_path.md` beside this module, or `prompts/read_path.md` of the root. The template has one place,
`{{ memory_summary }}`, which is filled by one plain replacement: braces in a summary mean nothing. An override that
asks for anything else is never obeyed and never in the way: it is reported, and the rules of ours are used.

The summaries share one limit of tokens: each is sure of a third of it, what one does not need goes to the first that
does. One that is cut ends at a line and says how much is missing, within the limit. Without a summary no section.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from memory_magic.prompt.memory_files import Clean, clean, escaped_within, read_head
from memory_magic.prompt.place import OVERRIDE
from memory_magic.prompt.records import GUIDANCE, Dropped, FileSeen, Part, Section
from memory_magic.text import tokens
from memory_magic.text.fence import escape_text
from memory_magic.text.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HEADING: Final = "# Memory Guidance"
SHARE: Final = 3
"""Each summary is sure of one part in so many."""

LONGEST_TEMPLATE: Final = 65_536
NO_ROOM: Final = "no room"

_TEMPLATE: Final = Path(__file__).with_name("read_path.md")
_SLOT: Final = "memory_summary"


class Template(NamedTuple):
    """The rules before and after the summary; *seen* is the override, if there is one, with its trouble."""

    before: str
    after: str
    seen: FileSeen | None = None


class Summary(NamedTuple):
    """One consolidated summary under its *name* (workspace, global, unscoped)."""

    name: str
    text: Clean
    seen: FileSeen


@cache
def own_template() -> Template:
    """Return the rules that come with the package."""
    return split(_TEMPLATE.read_text("utf-8")) or Template("", "")


def template_of(root: Path) -> Template:
    """Return the rules of a root: the override where it can be used, else our own with the reason."""
    head = read_head(str(root / OVERRIDE), LONGEST_TEMPLATE)
    if not head.sha256 and not head.trouble:
        return own_template()
    found = None if head.trouble else split(escape_text(redact(clean(head).text).text))
    seen = FileSeen(OVERRIDE, head.sha256, head.size, head.trouble)
    if head.beyond or head.size > LONGEST_TEMPLATE:
        return own_template()._replace(seen=seen._replace(trouble=f"it is longer than {LONGEST_TEMPLATE:,} bytes"))
    if found is None:
        trouble = head.trouble or f"it needs {{{{ {_SLOT} }}}} once, and no other {{{{ or {{%"
        return own_template()._replace(seen=seen._replace(trouble=trouble))
    return found._replace(seen=seen)


def split(text: str) -> Template | None:
    """Return the text before and after the place of the summary, or None where the template asks for anything else."""
    before, opened, rest = text.partition("{{")
    name, closed, after = rest.partition("}}")
    if not opened or not closed or name.strip() != _SLOT:
        return None
    if any(mark in part for part in (before, after) for mark in ("{{", "{%", "{#")):
        return None
    return Template(before.strip(), after.strip())


def guidance_part(template: Template, summaries: Sequence[Summary], limit: int) -> Part:
    """Return the section with at most *limit* tokens of *summaries*."""
    there = [one for one in summaries if one.text.text]
    kept = _shared(there, limit)
    texts = [text for text, _ in kept if text]
    summary = "\n\n".join(texts)
    reasons = {one.name: NO_ROOM for one, (text, _) in zip(there, kept, strict=True) if not text}
    lost = sum(dropped for _, dropped in kept)
    rules = (HEADING, template.before, summary, template.after)
    section = Section(
        name=GUIDANCE,
        cap=limit,
        used=tokens.estimate(summary),
        unit="tokens",
        entries=tuple(one.name for one, (text, _) in zip(there, kept, strict=True) if text),
        truncated=bool(lost),
        reasons=reasons | _troubles(template, summaries),
        redacted=_kinds(summaries),
        dropped=Dropped(lost, "tokens"),
        files=tuple(one.seen for one in summaries) + ((template.seen,) if template.seen else ()),
    )
    return Part("\n\n".join(part for part in rules if part) if summary else "", section)


def _troubles(template: Template, summaries: Sequence[Summary]) -> dict[str, str]:
    seen = [*(one.seen for one in summaries), *((template.seen,) if template.seen else ())]
    return {one.name: one.trouble for one in seen if one.trouble}


def _kinds(summaries: Sequence[Summary]) -> Mapping[str, int]:
    from memory_magic.prompt.notes import summed

    return summed(one.text.kinds for one in summaries)


def _shared(summaries: Sequence[Summary], limit: int) -> list[tuple[str, int]]:
    """Return each summary as it goes in, and how many of its tokens do not; blank lines between them count."""
    room = max(0, limit * tokens.BYTES_PER_TOKEN - 2 * max(0, len(summaries) - 1))
    whole = [escape_text(one.text.text.strip()) for one in summaries]
    needs = [len(text.encode()) + one.text.beyond for text, one in zip(whole, summaries, strict=True)]
    given = [min(need, room // SHARE) for need in needs] if len(needs) > 1 else [0] * len(needs)
    left = room - sum(given)
    for place, need in enumerate(needs):
        more = max(0, min(need - given[place], left))
        given[place] += more
        left -= more
    return [_cut(*row) for row in zip(whole, summaries, needs, given, strict=True)]


def _cut(whole: str, summary: Summary, need: int, room: int) -> tuple[str, int]:
    """Return a summary in *room* bytes, with a line about what is missing."""
    if need <= room:
        return whole, 0
    line = _missing(tokens.BYTES_PER_TOKEN * need)
    kept, _ = escaped_within(summary.text.text.strip(), room - len(line) - 2)
    end = kept.rfind("\n")
    kept = (kept[:end] if end > len(kept) // 2 else kept).rstrip()
    if not kept:
        return "", -(-need // tokens.BYTES_PER_TOKEN)
    lost = -(-(need - len(kept.encode())) // tokens.BYTES_PER_TOKEN)
    return f"{kept}\n\n{_missing(lost)}", lost


def _missing(count: int) -> str:
    return f"({count:,} tokens of this summary omitted: memory://root shows all of it)"


def summary_of(name: str, path: str, shown_name: str, limit: int) -> Summary | None:
    """Return the summary that stands at *path*; None where there is no file."""
    head = read_head(path, limit * tokens.BYTES_PER_TOKEN)
    if not head.sha256 and not head.trouble:
        return None
    return Summary(name, clean(head), FileSeen(shown_name, head.sha256, head.size, head.trouble))
