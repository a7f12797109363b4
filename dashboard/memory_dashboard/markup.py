"""Markup made from escaped text: the one place of the dashboard where HTML comes into being.

Everything that the store holds is untrusted, labels and file names included. `element` is the only maker of `Markup`:
it escapes each string that it is given and takes only tags and attributes from two short lists, so no text of a note
can become a tag, a style, a script or an address of another host. Panel's panes get `Markup.html` and nothing else;
what looks like a picture in a note stays the characters that somebody wrote.

Characters that a reader cannot see, yet that change what is read (bidi overrides, control codes, invisible tags), are
spelled out as `‹U+202E›`. Joiners that Devanagari, Arabic and emoji need stay as they are.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from memory_magic.text.invisible import HIDDEN

# Past this many words on a side the comparison costs seconds and helps nobody.
DIFF_WORDS = 1500

_TAGS = frozenset(
    [
        "a",
        "b",
        "code",
        "dd",
        "del",
        "div",
        "dl",
        "dt",
        "h1",
        "h2",
        "ins",
        "kbd",
        "li",
        "ol",
        "p",
        "pre",
        "section",
        "span",
    ]
)
_ATTRIBUTES = frozenset(["class", "dir", "href", "id", "lang", "role", "title"])
# Flags of regions are a black flag, tag letters and a cancel tag: the only honest use of tag characters.
_HIDDEN = re.compile(
    "\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f|"
    # joiners, marks of direction and variation selectors are part of honest writing
    "(?![\u061c\u200c-\u200f\ufe00-\ufe0f\u180b-\u180f\U000e0100-\U000e01ef])"
    rf"[{HIDDEN}\ud800-\udfff]"
)
_WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
# Scripts without spaces are compared sign by sign, all others word by word.
_WORDS = re.compile(rf"\s+|[{_WIDE}]|[^\s{_WIDE}]+")


@dataclass(frozen=True, slots=True)
class Markup:
    """A piece of HTML that `element` made; *html* may be given to a pane."""

    html: str


def visible(text: str) -> str:
    """Spell out the characters of *text* that hide or turn what stands beside them."""
    return _HIDDEN.sub(_spelled, text.replace("\r\n", "\n"))


def _spelled(match: re.Match[str]) -> str:
    """Return a flag as it is and any other hidden character as its code point."""
    found = match.group()
    return found if len(found) > 1 else f"‹U+{ord(found):04X}›"


def clip(text: str, length: int) -> str:
    """Return *text* on one line with at most *length* characters, an ellipsis in place of the rest."""
    # The slice before the split keeps a text of 64 kB from being walked for a cell of 200 characters.
    line = " ".join(text[: 4 * length].split())
    return visible(line if len(line) <= length and len(text) <= 4 * length else line[: length - 1] + "…")


def element(tag: str, *content: str | Markup, **attributes: str) -> Markup:
    """Make one element; strings in *content* and *attributes* are escaped, `class_` stands for `class`.

    Raises ValueError for a tag or attribute that is not on the list, and for an `href` that leaves this page.
    """
    names = {name.rstrip("_"): value for name, value in attributes.items()}
    if tag not in _TAGS or not names.keys() <= _ATTRIBUTES or not names.get("href", "?").startswith("?"):
        raise ValueError(f"no markup is made of <{tag}> with {sorted(names)}")
    opening = "".join(f' {name}="{html.escape(visible(value))}"' for name, value in names.items())
    return Markup(f"<{tag}{opening}>{join(*content).html}</{tag}>")


def join(*content: str | Markup) -> Markup:
    """Put pieces side by side, strings escaped."""
    return Markup("".join(part.html if isinstance(part, Markup) else html.escape(visible(part)) for part in content))


def word_diff(before: str, after: str) -> tuple[Markup, Markup]:
    """Compare two texts by words; the first result marks what went (`<del>`), the second what came (`<ins>`)."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(old), len(new)) > DIFF_WORDS:
        return element("del", before), element("ins", after)
    left: list[str | Markup] = []
    right: list[str | Markup] = []
    for kind, i1, i2, j1, j2 in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        gone, come = "".join(old[i1:i2]), "".join(new[j1:j2])
        left += [gone if kind == "equal" else element("del", gone)] if gone else []
        right += [come if kind == "equal" else element("ins", come)] if come else []
    return join(*left), join(*right)
