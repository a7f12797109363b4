r"""The fence around memory in a prompt, and the escapes that keep untrusted text from climbing it.

Memory stands between `OPEN` and `CLOSE`. Whatever comes from a file passes `escape_note` (a note, whose first line
follows our item head) or `escape_text` (a text of its own):

1. `visible`: nothing remains that a reader cannot see.
2. *Tags.* Each `<` from which a fence's or a host wrapper's name can be reached becomes `‹`. The text is read as
   a model or a lenient parser might: letter case and width folded, spaces and slashes skipped, `&lt;` `\u003c` `%3C`
   decoded, and any stretch `<...>` taken out, so a name cut in two by an inner tag is found as well. Chat-template
   marks such as `<|im_end|>` are treated alike, since some tokenizers read them anywhere.
3. *Lines.* A line that looks like one of ours (a memory heading, an item head, a line about omitted notes,
   a truncation marker) or like a role (`System:`, `### Assistant`) gets a backslash at the sign that makes it so.

Both escapes are Markdown's own manner: the text reads the same, and no parser nor model takes it for structure.

Invariants: idempotent; linear in the text (step 2 is one walk backwards over a fixed set of states); text without such
tags and lines is unchanged, code and HTML included.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from memory_magic.text.invisible import HIDDEN, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

TAG: Final = "native_memory_recall"
OPEN: Final = f'<{TAG} trust="untrusted">'
CLOSE: Final = f"</{TAG}>"
DEFANGED: Final = "‹"
"""Looks like `<`, is no bracket to any parser, and no Unicode normalisation turns it into one."""

FENCE_NAMES: Final = (TAG, "recalled_memory", "memory_context", "current_memory", "memories", "memory")
HOST_NAMES: Final = ("system", "system_prompt", "system_reminder")
"""Wrappers in which hosts place a hook's text; `<System.Int32>` and `<system::clock>` are code and stay."""

ROLES: Final = ("system", "assistant", "human", "user", "developer")
_HANG = "  "


class _Edit(NamedTuple):
    start: int
    end: int
    new: str


class _Folded(NamedTuple):
    """A text as a lenient reader sees it; `places[i]` is where `text[i]` stood (with one more for the end)."""

    text: str
    places: Sequence[int]


def escape_note(text: str) -> str:
    """Return *text* so that, behind an item head, it can forge no tag, heading, item or role line of ours.

    The first line is exempt from the line escapes, as the head stands before it; `hang` indents the others.
    """
    return _escape(text, skip_first_line=True)


def escape_text(text: str) -> str:
    """Return *text*, which begins a line of its own, with the escapes of `escape_note` on every line."""
    return _escape(text, skip_first_line=False)


def escape_tags(text: str) -> str:
    """Return *text* with every `<` replaced that could begin a tag of a fence; raw ones keep the length.

    For several escaped notes in a row: a tag may be cut in two by what stands between them.
    """
    if not _may_hold_tags(text):
        return text
    return _apply(text, _tag_edits(_fold(text)))


def hang(text: str) -> str:
    """Return *text* with each line but the first indented by two spaces, so that it stays inside its list item."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(_HANG + line if line else line for line in rest)])


def _escape(text: str, *, skip_first_line: bool) -> str:
    seen = visible(text)
    folded = _fold(seen)
    edits = _tag_edits(folded) if _may_hold_tags(seen) else []
    start = folded.text.find("\n") + 1 if skip_first_line else 0
    if start or not skip_first_line:
        edits.extend(_line_edits(folded, start))
    return _apply(seen, edits)


def _apply(text: str, edits: Iterable[_Edit]) -> str:
    parts, done = [], 0
    for edit in sorted(set(edits)):
        parts += [text[done : edit.start], edit.new]
        done = edit.end
    return "".join([*parts, text[done:]])


# --- folding ----------------------------------------------------------------------------------------------------------

# `re.IGNORECASE` takes both Turkish letters for an i, so a parser may as well; Cyrillic and Greek ones deceive a model.
_LOOK_ALIKES = str.maketrans("ıİаеоусхіѕрмтαεοιμτυν", "iiaeoycxispmtaeoimtyv")


@cache
def _ignorable() -> re.Pattern[str]:
    return re.compile(rf"[{HIDDEN}]")


def _fold(text: str) -> _Folded:
    """Fold width, compatibility forms and letter case, drop the invisible, and remember where each letter came from."""
    if text.isascii():
        return _Folded(text.lower(), range(len(text) + 1))
    memo: dict[str, str] = {}
    parts, places = [], []
    for place, char in enumerate(text):
        if (folded := memo.get(char)) is None:
            folded = memo[char] = _fold_char(char)
        parts.append(folded)
        places += [place] * len(folded)
    return _Folded("".join(parts), [*places, len(text)])


def _fold_char(char: str) -> str:
    if _ignorable().match(char):
        return ""
    return unicodedata.normalize("NFKC", char).translate(_LOOK_ALIKES).lower().translate(_LOOK_ALIKES)


# --- tags -------------------------------------------------------------------------------------------------------------

# Spellings of `<`, `>` and `/` in HTML, JSON, Python and URLs: whatever shows the block may decode one of them.
_ENCODED = (
    r"&(?:lt|gt|sol|#0*+(?:60|62|47)(?!\d)|#x0*+(?:3c|3e|2f)(?![0-9a-f]));?"
    r"|(?:\\u00|\\x|%)(?:3c|3e|2f)"
)
_DECODED = {"lt": "<", "60": "<", "3c": "<", "gt": ">", "62": ">", "3e": ">"}
_TEMPLATE_MARK = r"<(?=\|/?[\w▁.-]{1,64}\|>|</?sys>|/?(?:start|end)_of_turn>)"
_OPENERS = frozenset("<＜﹤&\\%")


def _may_hold_tags(text: str) -> bool:
    return not _OPENERS.isdisjoint(text)


@cache
def _encoded() -> re.Pattern[str]:
    return re.compile(_ENCODED)


@cache
def _template_mark() -> re.Pattern[str]:
    return re.compile(_TEMPLATE_MARK)


def _tag_edits(folded: _Folded) -> list[_Edit]:
    """Return an edit for each opening bracket, however spelled, that could begin a tag we must not let through."""
    (text, places), ends = _decode(folded)
    marked = {match.start() for match in _template_mark().finditer(text)}
    marked.update(_reaching_a_name(text))
    return [_Edit(places[at], ends.get(at, places[at] + 1), DEFANGED) for at in marked]


def _decode(folded: _Folded) -> tuple[_Folded, dict[int, int]]:
    """Return the text with encoded brackets and slashes decoded, and where in the original each of those ends."""
    parts, places, ends, done = [], list[int](), dict[int, int](), 0
    for match in _encoded().finditer(folded.text):
        parts += [folded.text[done : match.start()], _DECODED.get(match[0].rstrip(";")[-2:], "/")]
        places += [*folded.places[done : match.start()], folded.places[match.start()]]
        ends[len(places) - 1] = folded.places[match.end() - 1] + 1
        done = match.end()
    if not done:
        return folded, ends
    return _Folded("".join([*parts, folded.text[done:]]), [*places, *folded.places[done:]]), ends


class _Names:
    """The names as states of one machine: bit 0 stands before a name, each further bit behind one of its prefixes."""

    def __init__(self) -> None:
        """Give every prefix of every name a bit."""
        names = (*FENCE_NAMES, *HOST_NAMES)
        prefixes = sorted({name[:length] for name in names for length in range(1, len(name) + 1)})
        bits = {prefix: 2 << number for number, prefix in enumerate(prefixes)} | {"": 1}
        self.steps: dict[str, list[tuple[int, int]]] = {}
        for prefix in prefixes:
            self.steps.setdefault(prefix[-1], []).append((bits[prefix[:-1]], bits[prefix]))
        self.fence = sum(bits[name] for name in FENCE_NAMES)
        self.host = sum(bits[name] for name in HOST_NAMES)

    def before(self, char: str, later: int) -> int:
        """Return the states from which *char* leads to one of *later*, or ends a name."""
        found = later & 1 if char in "/_" or char.isspace() else 0
        for state, following in self.steps.get(char, ()):
            if later & following:
                found |= state
        if char.isalnum() or char == "_":
            return found
        return found | (self.fence if char in ".:" else self.fence | self.host)


@cache
def _names() -> _Names:
    return _Names()


def _reaching_a_name(text: str) -> Iterator[int]:
    """Yield each `<` from which a name can be reached when any stretches `<...>` are left out.

    Walks backwards with the set of states from which a name can be completed; *beyond* collects that set behind every
    `>` already met: where an inner tag may end.
    """
    first = text.find("<")
    if first < 0:
        return
    names = _names()
    states, beyond = names.fence | names.host, 0
    for at in range(len(text) - 1, first - 1, -1):
        char = text[at]
        if char == "<" and states & 1:
            yield at
        if char == ">":
            beyond |= states
        states = names.before(char, states) | (beyond if char == "<" else 0)


# --- lines ------------------------------------------------------------------------------------------------------------

_ROLE = f"(?:{'|'.join(ROLES)})"
_TITLE = r"memory[^\S\n]*(?:\([^\S\n]*(?:personal|project)[^\S\n]*\)|guidance\b)"
# Each alternative ends in an empty group: the place of the backslash. Repeats are possessive: no line costs more
# than a few looks at each of its characters.
_LINE = (
    r"^(?:[>*+_`~-]|[^\S\n])*+(?:"
    rf"(?P<heading>)\#{{1,6}}[^\S\n]*+(?:{_TITLE}|{_ROLE}[^\S\n]*:?[^\S\n]*$)"
    rf"|{_TITLE}[^\S\n]*\n[^\S\n]*(?P<underline>)(?:=+|-+)[^\S\n]*$"
    rf"|\#*+[^\S\n]*+{_ROLE}[*_`]*+[^\S\n]*+[*_`]*+(?P<role>):"
    r"|(?P<item>)\[[^\S\n]*+[0-9a-z]{6,26}[^\S\n]++(?:global|workspace)\b"
    r"|(?P<omission>)\([^\S\n]*+(?:at[^\S\n]++least[^\S\n]++)?+\d[\d,.]*+[^\S\n][^\n()]{0,60}?\bomitted\b"
    r"|(?P<truncation>)\[memory[^\S\n]++truncated\b"
    r")"
)


@cache
def _line() -> re.Pattern[str]:
    return re.compile(_LINE, re.MULTILINE)


def _line_edits(folded: _Folded, start: int) -> Iterator[_Edit]:
    """Yield a backslash for each line after *start* that could pass for a heading, item, remark or role line."""
    for match in _line().finditer(folded.text, start):
        place = folded.places[match.start(match.lastgroup or 0)]
        yield _Edit(place, place, "\\")
