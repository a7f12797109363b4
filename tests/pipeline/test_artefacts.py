"""The stage-one file: a format that nothing can forge, names that no file system minds."""

from __future__ import annotations

import os
import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import FileStateError, StoreAccessError
from memory_magic.pipeline import artefacts
from memory_magic.pipeline.artefacts import Artefact

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2026, 11, 30, 18, 38, 49, tzinfo=UTC)


def artefact(**changes: Any) -> Artefact:
    """Return an artefact with an output."""
    values: dict[str, Any] = {
        "session": "s1",
        "source": "codex",
        "path": "/home/ana/x.jsonl",
        "cwd": "/home/ana",
        "updated": "2026-11-30T18:38:50.233Z",
        "version": "0" * 64,
        "model": "offline",
        "input_tokens": 12,
        "truncated": False,
        "redacted": {"openai": 1},
        "generated": "2026-11-30T19:00:00.000Z",
        "slug": "tabs",
        "raw_memory": "- preference: tabs",
        "rollout_summary": "1 request",
    }
    return Artefact(**{**values, **changes})


def empty(**changes: Any) -> Artefact:
    """Return an artefact without output."""
    return artefact(slug=None, raw_memory="", rollout_summary="", **changes)


TEXT = st.text(st.characters(codec="utf-8"), max_size=60)
LINES = st.lists(
    st.sampled_from(
        ["# Raw memory", "# Summary", "\\# Summary", "\\\\# Raw memory \t", "# Summary\r", "---", "", "x", "model: y"]
    ),
    min_size=1,
    max_size=8,
).map("\n".join)
BODY = (LINES | TEXT).filter(bool)


@given(
    st.builds(
        artefact,
        session=TEXT,
        path=TEXT,
        cwd=TEXT | st.none(),
        updated=TEXT | st.none(),
        slug=TEXT | st.none(),
        input_tokens=st.integers(0, 10**9),
        truncated=st.booleans(),
        redacted=st.dictionaries(TEXT, st.integers(0, 99), max_size=3),
        raw_memory=BODY,
        rollout_summary=BODY,
    )
)
def test_what_is_written_is_read_back(value: Artefact) -> None:
    """For every text, parse(render(x)) == x: headings, fences, blank lines and foreign line ends included."""
    assert artefacts.parse(artefacts.render(value)) == value


@given(TEXT, TEXT)
def test_no_value_can_forge_a_key(session: str, cwd: str) -> None:
    """Whatever a session calls itself, the front matter has the same lines."""
    lines = artefacts.render(empty(session=f"x\nmodel: gpt\n---\n{session}", cwd=cwd)).split("\n")
    assert [line.split(":")[0] for line in lines] == [
        "---", "format", "session", "source", "path", "cwd", "updated", "version", "model", "input_tokens", "truncated",
        "redacted", "generated", "slug", "---", "",
    ]  # fmt: skip
    assert len("\n".join(lines).splitlines()) == len(lines) - 1


def test_a_result_without_output_is_front_matter_only() -> None:
    """Nothing follows the closing fence."""
    text = artefacts.render(empty())
    assert text.endswith("\nslug: null\n---\n")
    assert artefacts.parse(text) == empty()
    assert not artefacts.parse(text).has_output


def test_half_an_output_is_refused() -> None:
    """An output without a summary could not be read back."""
    with pytest.raises(ValueError, match="or neither"):
        artefact(rollout_summary="")


def test_later_formats_may_add_keys() -> None:
    """A key that this version does not know is passed over."""
    text = artefacts.render(artefact()).replace("\nslug:", "\ncost: 0.1\nslug:")
    assert artefacts.parse(text) == artefact()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("---\nformat", "format", "front matter"),
        ("\n---\n", "\n", "front matter"),
        ("format: 1", "format: 2", "format is not 1"),
        ("format: 1\n", "", "format is not 1"),
        ('session: "s1"\n', "", "a key is missing"),
        ('session: "s1"', "session: 7", "session has a value of another type"),
        ('session: "s1"', "session: s1", "Expecting value"),
        ('session: "s1"', 'session: "s1"\nsession: "s2"', "a key twice"),
        ("truncated: false", "truncated: 0", "truncated has a value of another type"),
        ("input_tokens: 12", "input_tokens: true", "input_tokens has a value of another type"),
        ('{"openai": 1}', '{"openai": "x"}', "no number"),
        ("cwd: ", "cwd:", "no key"),
        ("# Summary", "# Sum", "two parts"),
        ("# Raw memory", "stray\n# Raw memory", "two parts"),
        ('session: "s1"', f"session: {'[' * 100_000}", "no stage-one file"),
    ],
)
def test_a_damaged_file_is_an_error_that_says_what_is_wrong(old: str, new: str, says: str) -> None:
    """A file that somebody broke by hand is named, with what to do."""
    text = artefacts.render(artefact()).replace(old, new, 1)
    with pytest.raises(FileStateError, match=says) as caught:
        artefacts.parse(text, where="x.md")
    assert caught.value.where == "x.md"
    assert "run --session" in caught.value.hint


def test_golden_file(data: Path) -> None:
    """The format does not change unseen: a change shows as a difference in this file."""
    path = data / "golden" / "stage_one" / "2026-11-30T18-38-49-5422a8a2-i-prefer-tabs.md"
    assert artefacts.render(artefacts.read(path)) == path.read_text(encoding="utf-8")


@pytest.fixture
def wide_open() -> Any:
    """Set a umask that takes nothing away, and one that takes everything, back afterwards."""
    old = os.umask(0)
    yield
    os.umask(old)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_files_and_folders_are_private_whatever_the_umask(tmp_path: Path, umask: int, wide_open: None) -> None:
    """0600 and 0700, temporary file included, and nothing is left beside the file."""
    os.umask(umask)
    path = artefacts.write(tmp_path / "root" / "unscoped" / "none" / "stage_one", "x", artefact())
    assert path.stat().st_mode & 0o777 == 0o600
    for folder in [path.parent, *path.parents][:4]:
        assert folder.stat().st_mode & 0o777 == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["x.md"]


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """Writing again leaves an open reader the old bytes: a new file took the name."""
    path = artefacts.write(tmp_path, "x", artefact())
    with path.open(encoding="utf-8") as stream:
        artefacts.write(tmp_path, "x", empty())
        assert artefacts.parse(stream.read()) == artefact()
    assert artefacts.read(path) == empty()


def test_what_the_disk_refuses_is_our_error(tmp_path: Path) -> None:
    """A folder that cannot be made and a file that is a folder are named, not raised raw."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StoreAccessError, match="file"):
        artefacts.write(tmp_path / "file" / "stage_one", "x", artefact())
    with pytest.raises(FileStateError):
        artefacts.read(tmp_path)
    with pytest.raises(FileStateError, match="no such"):
        artefacts.read(tmp_path / "none.md")
    (tmp_path / "bad.md").write_bytes(b"---\n\xff")
    with pytest.raises(FileStateError, match="UTF-8"):
        artefacts.read(tmp_path / "bad.md")


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Fix-login bug", "fix-login-bug"),
        ("CON", "session-con"),
        ("lpt1", "session-lpt1"),
        ("trailing dot.", "trailing-dot"),
        ("...", None),
        ("../../etc/passwd", "etc-passwd"),
        ("a/b\\c:d*e?f\0g", "a-b-c-d-e-f-g"),
        ("🎉🎉", None),
        ("❤️ it", "it"),
        ("", None),
        (None, None),
        ("深色模式 图表", "深色模式-图表"),
        ("सेंसर गैप", "सेंसर-गैप"),
        ("ＦＵＬＬ Width ﬁne", "full-width-fine"),
        ("Straße İstanbul", "strasse-i̇stanbul"),
        ("one " * 40, "one-one-one-one-one-one-one-one-one-one-one-one-one-one-one"),
        ("x" * 100, "x" * 60),
        ("\u202egnp.exe", "gnp-exe"),
    ],
)
def test_slugs_are_safe_on_every_file_system(text: str | None, slug: str | None) -> None:
    """Device names, dots, separators, emoji, hidden characters and length make no trouble; other scripts stay."""
    assert artefacts.safe_slug(text) == slug


@given(st.text(max_size=200))
def test_any_text_gives_a_short_safe_slug_or_none(text: str) -> None:
    """At most 60 characters (68 with the prefix) and 255 bytes with the rest of the name; stable when made again."""
    slug = artefacts.safe_slug(text)
    if slug is not None:
        assert 0 < len(slug) <= 68
        assert len(f"2026-11-30T18-38-49-{'0' * 8}-{slug}.md".encode()) <= 255
        assert not set(slug) & set('/\\:*?"<>|.\0 \n')
        assert slug.casefold() == slug or unicodedata.normalize("NFKC", slug) != slug


def test_stems_differ_by_session_not_by_slug(tmp_path: Path) -> None:
    """Two sessions of one second with slugs of one case or normal form get two files."""
    names = set()
    for session, text in (("a", "Café"), ("b", "CAFÉ"), ("c", "cafe\u0301")):
        stem = artefacts.new_stem(tmp_path, "codex", session, START, artefacts.safe_slug(text))
        artefacts.write(tmp_path, stem, artefact(session=session))
        names.add(stem)
    assert len({unicodedata.normalize("NFC", name).casefold() for name in names}) == 3
    assert all(name.startswith("2026-11-30T18-38-49-") for name in names)


def test_a_stem_that_is_taken_gets_a_longer_hash(tmp_path: Path) -> None:
    """Even eight equal digits of two hashes cost nobody a file."""
    first = artefacts.new_stem(tmp_path, "codex", "a", START, None)
    artefacts.write(tmp_path, first, artefact(session="somebody else"))
    second = artefacts.new_stem(tmp_path, "codex", "a", START, None)
    assert second.startswith(first)
    assert len(second) == len(first) + 8
    artefacts.write(tmp_path, second, artefact(session="a"))
    assert artefacts.find(tmp_path, "codex", "a") == tmp_path / f"{second}.md"


def test_a_session_without_a_time_has_a_stem_too(tmp_path: Path) -> None:
    """The name says that the time is not known."""
    assert artefacts.new_stem(tmp_path, "codex", "a", None, "x").startswith("undated-")


def test_find_ignores_copies_and_damaged_files(tmp_path: Path) -> None:
    """A conflicted copy of a sync tool is not taken for the file, nor is one that cannot be read."""
    stem = artefacts.new_stem(tmp_path, "codex", "s1", START, "x")
    assert artefacts.find(tmp_path / "missing", "codex", "s1") is None
    artefacts.write(tmp_path, f"{stem} (conflicted copy)", artefact())
    artefacts.write(tmp_path, f"{stem}.sync-conflict-1", artefact())
    (tmp_path / f"{stem}-broken.md").write_text("x", encoding="utf-8")
    assert artefacts.find(tmp_path, "codex", "s1") is None
    path = artefacts.write(tmp_path, stem, artefact())
    assert artefacts.find(tmp_path, "codex", "s1") == path
