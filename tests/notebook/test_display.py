"""Results as text, HTML and frames: everything escaped, no script, both themes."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from memory_magic import commands
from memory_magic.commands_base import Context, Outcome
from memory_magic.errors import MissingExtraError
from memory_magic.notebook import html
from memory_magic.notebook.display import MemoryResult

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "</div></table><style>*{display:none}</style>",
    '" onmouseover="alert(3)',
    "' style='position:fixed",
    "\x1b[31mred\x1b[0m and \u202ereversed\u202c",
    "[link](javascript:alert(4))",
    "&lt;script&gt; stays as typed &amp;",
    "a" * 5000,
]
VOID = {"br", "img", "input", "hr", "meta", "link"}
TAGS = {
    *("div", "span", "b", "br", "table", "thead", "tbody", "tr", "th", "td", "mark", "del", "ins", "pre", "details"),
    "summary",
}


class Reader(HTMLParser):
    """Reads markup as a browser would: which tags and attributes it has, whether they nest, and its text."""

    def __init__(self) -> None:
        """Start with nothing open and nothing seen."""
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.styles: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the element and what it carries."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.styles += [value or "" for name, value in attrs if name == "style"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element, and only that."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note text as a reader would see it."""
        self.text.append(data)


def read(markup: str) -> Reader:
    """Parse *markup* and check that every element is closed."""
    reader = Reader()
    reader.feed(markup)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture
def run(root: Path) -> Callable[..., Outcome]:
    """Run a command and give its outcome."""

    def runner(name: str, *words: str) -> Outcome:
        context = Context(by="notebook <b>x</b>.ipynb (execution 1)", prog="%memory")
        try:
            return commands.run_words(commands.find(name), words, context)[0]
        finally:
            context.close()

    return runner


@pytest.fixture
def outcomes(run: Callable[..., Outcome]) -> list[Outcome]:
    """Give an outcome of each kind, on a store of hostile notes."""
    found = [run("list"), run("search", "nothing"), run("view"), run("status"), run("journal")]
    found += [run("remember", "--pin", "--", text) for text in HOSTILE]
    note = run("list").data["notes"][0]["id"]
    found.append(run("revise", note, "<b>new</b> token ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2, "--evidence", "<i>why</i>"))
    run("config", "set", "notes_entries", "3")
    found += [run("list"), run("get", "<b>new</b>", "token", "[REDACTED_SECRET]"), run("view"), run("status")]
    found += [run("search", "--explain", "a"), run("search", "<script>"), run("journal"), run("verify"), run("reindex")]
    found += [run("config"), run("config", "get", "enabled"), run("doctor"), run("init", "<u>label</u>")]
    return found


def test_markup_is_escaped_whole_and_without_script(outcomes: list[Outcome]) -> None:
    """Every picture has only our own tags and attributes, all closed; no note becomes markup, no script, no address."""
    for outcome in outcomes:
        markup = MemoryResult(outcome)._repr_html_()
        seen = read(markup)
        assert seen.tags <= TAGS, outcome.kind
        assert seen.attributes <= {"style", "dir", "scope", "role", "aria-label"}, outcome.kind
        assert not re.search(r"url\(|expression|@import|position|javascript", "".join(seen.styles)), outcome.kind
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", markup), outcome.kind


def test_notes_read_as_they_were_typed(run: Callable[..., Outcome]) -> None:
    """The text of a note arrives in the picture letter by letter, entities and angle brackets included."""
    for text in HOSTILE[:5]:
        run("remember", "--", text)
    seen = "".join(read(MemoryResult(run("list"))._repr_html_()).text)
    for text in HOSTILE[:5]:
        assert text in seen


def test_text_and_html_say_the_same(outcomes: list[Outcome]) -> None:
    """Whoever sees only the text of a result finds each id, scope and number of its picture."""
    for outcome in outcomes:
        result = MemoryResult(outcome)
        text = repr(result)
        assert text
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text), outcome.kind
        ids = re.findall(r"\b[0-9a-hjkmnp-tv-z]{10}\b", "".join(read(result._repr_html_()).text))
        assert all(one in text for one in ids if outcome.kind in {"hits", "notes", "note"}), outcome.kind


def test_themes_follow_the_host(outcomes: list[Outcome]) -> None:
    """No picture fixes a text colour or an opaque ground: colours are the host's variables or half transparent."""
    for outcome in outcomes:
        for style in read(MemoryResult(outcome)._repr_html_()).styles:
            for colour in re.findall(r"(?<![-\w])color:([^;]+)", style):
                assert colour.startswith(("var(--jp-", "inherit")), colour
            for ground in re.findall(r"background:([^;]+)", style):
                assert ground.startswith(("rgba(", "transparent", html.ACCENT, "repeating-linear-gradient")), ground


def test_each_script_in_its_own_direction(run: Callable[..., Outcome]) -> None:
    """A note's text stands in an element that takes its direction from the text."""
    run("remember", "أسماء الأعمدة تبقى بالإنجليزية")
    markup = MemoryResult(run("list"))._repr_html_()
    assert re.search(r'<div[^>]*unicode-bidi:plaintext[^>]*dir="auto"[^>]*>أسماء', markup)


def test_hits_are_marked_in_their_text(run: Callable[..., Outcome]) -> None:
    """The words of the query are marked where they stand, in any case, and the rest of the text stays."""
    run("remember", "Deploys <b>run</b> on deploy day")
    markup = MemoryResult(run("search", "deploy <b>"))._repr_html_()
    assert re.findall(r"<mark[^>]*>(.*?)</mark>", markup) == ["Deploy", "&lt;b&gt;", "deploy"]
    assert "Deploys <b>run</b> on deploy day" in "".join(read(markup).text)


def test_view_shows_caps_as_bars(run: Callable[..., Outcome]) -> None:
    """Each cap has a bar with its share in words; one that bites is hatched, and what is left out is named."""
    run("remember", "older")
    run("remember", "newer")
    run("config", "set", "notes_entries", "1")
    markup = MemoryResult(run("view"))._repr_html_()
    assert 'aria-label="100 %"' in markup
    assert "repeating-linear-gradient" in markup
    text = "".join(read(markup).text)
    for words in ("Left out: 1 note", "older", "not sent: memory is off", "Exact text", "1 of 1 entries"):
        assert words in text


def test_frames(run: Callable[..., Outcome]) -> None:
    """`.df` gives the rows of a result as a frame; a single thing is a frame of one row."""
    run("remember", "one")
    run("remember", "two")
    assert list(MemoryResult(run("list")).df["text"]) == ["two", "one"]
    assert len(MemoryResult(run("journal")).df) == 2
    assert list(MemoryResult(run("status")).df.index) == ["global"]
    assert "enabled" in set(MemoryResult(run("config")).df["key"])
    assert len(MemoryResult(run("get", "one")).df) == 1
    assert MemoryResult(run("search", "nothing")).df.empty


def test_frame_without_pandas(run: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas `.df` says which line installs it."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'memory-magic\[notebook\]'"):
        _ = MemoryResult(run("list")).df


def test_dashboard_is_a_link() -> None:
    """The address of the dashboard can be clicked, and opens apart from the notebook."""
    address = "http://127.0.0.1:7001/?token=a&b=c"
    markup = MemoryResult(Outcome("served", {"address": address}))._repr_html_()
    assert 'href="http://127.0.0.1:7001/?token=a&amp;b=c"' in markup
    assert 'rel="noopener"' in markup
    assert address in "".join(read(markup).text)


def test_pretty_printer(run: Callable[..., Outcome]) -> None:
    """IPython's printer gets the text of the result, and an ellipsis in a cycle."""

    class Printer:
        said = ""

        def text(self, text: str) -> None:
            self.said += text

    printer: Any = Printer()
    result = MemoryResult(run("list"))
    result._repr_pretty_(printer, False)  # noqa: FBT003 -- IPython's protocol
    assert printer.said == repr(result)
    result._repr_pretty_(printer, True)  # noqa: FBT003 -- IPython's protocol
    assert printer.said.endswith("…")


def test_tag_escapes_attributes_and_children() -> None:
    """The one function that makes markup escapes children and attribute values alike."""
    made = html.tag("span", "<a>", html.tag("b", "&"), title='"><x', style="color:inherit")
    assert made == '<span style="color:inherit" title="&quot;&gt;&lt;x">&lt;a&gt;<b>&amp;</b></span>'
