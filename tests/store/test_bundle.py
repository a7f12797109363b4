"""The audit bundle: one page that holds everything, shows nothing as markup, and is checked by thirty lines."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from memory_magic.errors import UsageError
from memory_magic.store import bundle
from memory_magic.store.archive import Archive
from memory_magic.store.import_files import ImportFileError
from memory_magic.store.journal import Journal
from memory_magic.store.store import Store

GitRepo = Callable[..., Path]
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
EVIL = "</td></table><script>alert(1)</script><img src=x onerror=alert(1)> \u202e &amp; \"'`"


class Page(HTMLParser):
    """What a browser would make of a page: tags, attributes, text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a tag."""
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        """Keep text."""
        self.text.append(data)


def run_check(page: Path, script: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the check that the page offers, away from this package."""
    check = page.with_name("check.py")
    if script is None:
        found = re.findall(r'download="check.py" href="data:text/x-python;base64,([^"]*)"', page.read_text("utf-8"))
        script = base64.b64decode(found[0]).decode()
    check.write_text(script, encoding="utf-8")
    return subprocess.run([sys.executable, "-I", str(check), str(page)], capture_output=True, text=True, check=False)


def data_in(page: Path) -> str:
    """Return the JSON Lines that the page holds."""
    (found,) = re.findall(r'id="data"[^>]*;base64,([^"]*)"', page.read_text("utf-8"))
    return base64.b64decode(found).decode()


def replaced(page: Path, old: str, new: str) -> None:
    """Change the data in a page."""
    data = data_in(page)
    assert old in data
    text = page.read_text("utf-8")
    before, after = (base64.b64encode(one.encode()).decode() for one in (data, data.replace(old, new, 1)))
    assert before in text
    page.write_text(text.replace(before, after), encoding="utf-8")


@pytest.fixture
def store(root: Path, git_repo: GitRepo) -> Store:
    """Give a store of two scopes with hostile texts."""
    made = Store(root, git_repo("lab"), by="ana")
    made.remember(EVIL, evidence=EVIL, by=EVIL)
    made.remember("in the lab", scope="workspace", evidence="secret plan")
    made.revise("in the lab", "in the lab, really", evidence=EVIL)
    made.remember("深色", pin=True)
    made.retire("深色", evidence="x")
    return made


def test_a_bundle_is_one_page_that_checks_itself(store: Store, tmp_path: Path) -> None:
    """The data are those of an export with history; the script inside computes the chain up to the head shown."""
    page = tmp_path / "audit.html"
    told = Archive(store).bundle(page)
    assert (told.scopes, told.notes, told.records, told.head) == (2, 2, 5, store.journal()[-1].chain)
    assert data_in(page) == Archive(store).export(history=True)[1]
    assert f'id="head">{told.head}<' in page.read_text("utf-8")
    found = run_check(page)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout == "ok: 5 records, chain whole up to the head; 2 of 2 notes as they say\n"
    assert bundle.check_script() in "".join(Page(page.read_text("utf-8")).text)


def test_the_check_is_short_and_needs_nothing() -> None:
    """Thirty lines, the standard library only."""
    script = bundle.check_script()
    assert len(script.splitlines()) <= 30
    assert set(re.findall(r"^import (.*)$", script, re.MULTILINE)) == {"base64, hashlib, json, re, sys"}


def test_nothing_in_a_bundle_is_markup(store: Store, tmp_path: Path) -> None:
    """Texts, evidence, authors and labels are shown as text; the page runs nothing and asks no other host."""
    page = tmp_path / "audit.html"
    Archive(store).bundle(page)
    parsed = Page(page.read_text("utf-8"))
    assert set(parsed.tags) <= {
        *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "code", "pre", "a", "details", "summary"),
        *("table", "thead", "tbody", "tr", "th", "td", "ul", "li"),
    }
    assert not [name for name, _ in parsed.attributes if name.startswith("on") or name == "src"]
    assert all((value or "").startswith("data:") for name, value in parsed.attributes if name == "href")
    assert ("content", bundle._POLICY) in parsed.attributes
    assert any("</td></table><script>alert(1)" in text for text in parsed.text)
    assert "\u202e" not in "".join(parsed.text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"after":"in the lab"', '"after":"in the bar"'),
        ('"by":"ana","evidence"', '"by":"eve","evidence"'),
        ('"action":"retire"', '"action":"revise"'),
        ('"n":3', '"n":4'),
        ('"evidence":"secret plan"', '"evidence":"open plan"'),
    ],
)
def test_the_check_finds_any_change(store: Store, tmp_path: Path, old: str, new: str) -> None:
    """A changed value, action or number is named by its record, and the exit status is 1."""
    page = tmp_path / "audit.html"
    Archive(store).bundle(page)
    replaced(page, old, new)
    found = run_check(page)
    assert found.returncode == 1
    assert found.stderr.startswith("BROKEN: record ")


def test_the_check_counts_notes_that_no_record_tells_of(store: Store, tmp_path: Path) -> None:
    """A note is no part of the chain, but it has to read as its last record says."""
    page = tmp_path / "audit.html"
    Archive(store).bundle(page)
    replaced(page, '"text":"in the lab, really"', '"text":"in the bar, really"')
    assert run_check(page).stdout.endswith("1 of 2 notes as they say\n")


def test_the_check_finds_a_missing_end_and_a_missing_middle(store: Store, tmp_path: Path) -> None:
    """The head on the page tells of records that were cut off; the chain tells of one taken out."""
    page = tmp_path / "audit.html"
    for number, message in ((-1, "the chain ends at"), (-3, "BROKEN: record 4")):
        Archive(store).bundle(page)
        replaced(page, data_in(page).splitlines(keepends=True)[number], "")
        found = run_check(page)
        assert (found.returncode, message in found.stderr) == (1, True)


def test_the_check_agrees_with_verify_on_a_fork(store: Store, tmp_path: Path) -> None:
    """Two machines are no tampering: the check goes on from the record that each names as its predecessor."""
    journal = store.root / "JOURNAL.md"
    data = journal.read_bytes()
    store.remember("here")
    ours = journal.read_bytes()
    journal.write_bytes(data)
    store.remember("there")
    journal.write_bytes(ours + journal.read_bytes()[len(data) :])
    page = tmp_path / "audit.html"
    told = Archive(Store(store.root, store.cwd)).bundle(page)
    assert told.notices == ("its chain has faults, which the page lists",)
    assert "forks from an earlier record" in page.read_text("utf-8")
    assert run_check(page).returncode == 0


def test_a_bundle_of_one_scope_hides_the_others_and_still_checks(store: Store, tmp_path: Path) -> None:
    """Of other scopes' records number, action and time are there, their fields only as commitments."""
    page = tmp_path / "audit.html"
    Archive(store).bundle(page, scope="global")
    everything = page.read_text("utf-8") + data_in(page)
    assert store.workspace is not None
    for hidden in ("in the lab", "secret plan", store.workspace.id, "example.org"):
        assert hidden not in everything
    records = [json.loads(line) for line in data_in(page).splitlines() if '"chain"' in line]
    assert len(records) == 5
    assert sum(not record["fields"] for record in records) == 2
    assert run_check(page).returncode == 0
    assert "(not part of this bundle)" in page.read_text("utf-8")


def test_purged_fields_are_checked_by_their_commitments(root: Path, tmp_path: Path) -> None:
    """A record that lost a field to a purge keeps its place in the chain."""
    from memory_magic.store import journal_format as form
    from memory_magic.store.export import sealed

    store = Store(root)
    store.remember("one")
    store.remember("two")
    records = store.journal()
    text = form.HEADING + form.render(sealed(records[0], ["after"])) + form.render(records[1])
    (root / "JOURNAL.md").write_text(text, encoding="utf-8")
    page = tmp_path / "audit.html"
    Archive(Store(root, read_only=True)).bundle(page)
    assert run_check(page).returncode == 0


def test_a_bundle_shows_a_bounded_number_of_rows(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit the tables is said and stays in the data."""
    monkeypatch.setattr(bundle, "SHOWN_NOTES", 3)
    monkeypatch.setattr(bundle, "SHOWN_RECORDS", 4)
    monkeypatch.setattr(bundle, "_CHUNK", 30)
    store = Store(root)
    store.remember_many([f"note {n}" for n in range(9)])
    page = tmp_path / "audit.html"
    Archive(store).bundle(page)
    text = page.read_text("utf-8")
    assert text.count("<tr><td") == 3 + 4
    assert "6 further notes" in text
    assert "5 further records" in text
    assert len(data_in(page).splitlines()) == 2 + 9 + 9
    assert run_check(page).returncode == 0


def test_a_bundle_of_nothing_and_one_inside_the_store(root: Path, tmp_path: Path) -> None:
    """An empty store has a head, too; a bundle may not lie in the store."""
    page = tmp_path / "audit.html"
    told = Archive(Store(root)).bundle(page)
    assert (told.notes, told.records, told.head) == (0, 0, "")
    assert run_check(page).returncode == 0
    with pytest.raises(UsageError, match="inside the store"):
        Archive(Store(root)).bundle(root / "audit.html")


def test_no_secret_is_in_a_bundle_and_its_data_can_be_imported(root: Path, tmp_path: Path) -> None:
    """What was typed by hand goes out redacted; the page itself is no import, its data are."""
    store = Store(root)
    file = store.scopes[0].memory_file
    file.parent.mkdir(parents=True)
    file.write_text(f"- the token is {SECRET}\n- fine\n", encoding="utf-8")
    page = tmp_path / "audit.html"
    Archive(store).bundle(page)
    assert SECRET not in page.read_text("utf-8") + data_in(page)
    other = Archive(Store(tmp_path / "other"))
    with pytest.raises(ImportFileError, match=r"memory\.jsonl"):
        other.import_from(page)
    (tmp_path / "memory.jsonl").write_text(data_in(page), encoding="utf-8")
    assert other.import_from(tmp_path / "memory.jsonl", history=True).added == 2


def test_a_bundle_streams(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal is read record by record, never held."""
    store = Store(root)
    store.remember_many([f"note {n} with some words" for n in range(300)])
    alive: list[int] = [0]
    real = Journal.records

    def records(self: Journal, start: int = 0) -> Any:
        for record in real(self, start):
            alive[0] += 1
            yield record

    monkeypatch.setattr(Journal, "records", records)
    Archive(store).bundle(tmp_path / "audit.html")
    assert alive[0] == 600  # once for the data, once for the table
