"""The guidance: rules and their override, summaries and how they share the limit, and that braces mean nothing."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import pytest

from memory_magic.prompt import guidance, memory_block
from memory_magic.prompt.memory_files import Clean, Head, clean
from memory_magic.prompt.records import FileSeen
from memory_magic.store.store import Store
from memory_magic.text import tokens
from memory_magic.text.fence import escape_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RULES = guidance.own_template()


@pytest.fixture
def on(root: Path) -> Path:
    """Give a root that is switched on."""
    root.mkdir()
    (root / "config.toml").write_text("[memories]\nenabled = true\n")
    return root


def _summary(scope: Path, text: str) -> None:
    (scope / "consolidated").mkdir(parents=True)
    (scope / "consolidated" / "memory_summary.md").write_text(text, encoding="utf-8")


def _of(name: str, text: str) -> guidance.Summary:
    return guidance.Summary(name, clean(Head(text, 0, len(text), "0" * 64)), FileSeen(name))


def test_our_rules_say_what_the_design_asks() -> None:
    """A hint and not the present state, cite and check, stale when repository or user disagree; nothing to escape."""
    text = RULES.before + RULES.after
    for words in (
        "hint",
        "not the present state",
        "cite",
        "check it against the repository first",
        "stale",
        "memory://",
    ):
        assert words in text
    assert escape_text(text) == text
    assert "{{" not in text


def test_the_section_has_heading_rules_and_summary(on: Path) -> None:
    """It stands before the notes and after the files."""
    _summary(on / "global", "The team ships on Tuesdays.\n")
    (on / "memory.md").write_text("mine")
    with Store() as store:
        store.remember("a note")
    text = memory_block().text
    assert f"mine\n\n# Memory Guidance\n\n{RULES.before}\n\nThe team ships on Tuesdays.\n\n<native" in text


@pytest.mark.parametrize("text", ["", " \n", "\ufeff"])
def test_without_a_summary_there_is_no_guidance(text: str, on: Path) -> None:
    """Rules about nothing are left out, also where the file is there."""
    _summary(on / "global", text)
    assert memory_block().text == ""


def test_workspace_comes_before_global(
    on: Path, git_repo: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are told, and the account names them."""
    monkeypatch.chdir(git_repo("repo"))
    _summary(on / "global", "of everything")
    with Store() as store:
        assert store.workspace is not None
        _summary(store.workspace.path, "of this repository")
    made = memory_block()
    assert "\n\nof this repository\n\nof everything" in made.text
    assert made.report.sections[0].entries == ("workspace", "global")


def test_an_unscoped_directory_sees_its_own_summary(on: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the hash of its real path; a directory beside it sees nothing of it."""
    here, there = tmp_path / "work", tmp_path / "elsewhere"
    there.mkdir()
    digest = hashlib.sha256(os.fsencode(os.path.realpath(here))).hexdigest()[:16]
    _summary(on / "unscoped" / digest, "of this folder")
    assert "of this folder" in memory_block().text
    monkeypatch.chdir(there)
    assert memory_block().text == ""


def test_an_override_is_used(on: Path) -> None:
    """With text before and after; its text is escaped as any file's."""
    _summary(on / "global", "S")
    (on / "prompts").mkdir()
    (on / "prompts" / "read_path.md").write_text("Mine first.\n\n{{memory_summary}}\n\nSystem: mine last\n")
    made = memory_block()
    assert made.text == "# Memory Guidance\n\nMine first.\n\nS\n\nSystem\\: mine last"
    assert made.report.sections[0].reasons == {}


@pytest.mark.parametrize(
    "text",
    [
        "no place for it",
        "{{ memory_summary }} {{ memory_summary }}",
        "{{ memory_summary }} {{ learned }}",
        "{% if x %}{{ memory_summary }}{% endif %}",
        "{{ memory_summary | upper }}",
        "{{ memory_summary",
        "{{ learned }}",
        "{# note #}{{ memory_summary }}",
        "",
        "x" * 70_000 + "{{ memory_summary }}",
    ],
)
def test_an_override_that_asks_for_more_is_reported_and_not_obeyed(text: str, on: Path) -> None:
    """Our own rules are used instead, and nothing is held up."""
    _summary(on / "global", "S")
    (on / "prompts").mkdir()
    (on / "prompts" / "read_path.md").write_text(text)
    made = memory_block()
    assert made.text == f"# Memory Guidance\n\n{RULES.before}\n\nS"
    (reason,) = made.report.sections[0].reasons.values()
    assert "{{ memory_summary }} once" in reason or "longer than" in reason


def test_an_override_that_cannot_be_read_is_reported(on: Path) -> None:
    """A folder in its place."""
    _summary(on / "global", "S")
    (on / "prompts" / "read_path.md").mkdir(parents=True)
    made = memory_block()
    assert RULES.before in made.text
    assert made.report.sections[0].reasons == {"prompts/read_path.md": "a folder stands in its place"}


def test_braces_in_a_summary_mean_nothing(on: Path) -> None:
    """One plain replacement: what it brings in is not looked at again."""
    _summary(on / "global", "use {{ memory_summary }} and {% raw %}")
    assert memory_block().text.endswith("use {{ memory_summary }} and {% raw %}")


def test_a_long_summary_is_cut_at_a_line_and_says_how_much_is_missing() -> None:
    """The line about it counts towards the limit and tells where the whole is."""
    part = guidance.guidance_part(RULES, [_of("global", "one line of it\n" * 2_000)], 100)
    assert part.section.used <= 100
    assert part.section.truncated
    lines = part.text.split("\n")
    assert (
        lines[-1] == f"({part.section.dropped.count:,} tokens of this summary omitted: memory://root shows all of it)"
    )
    assert set(lines[lines.index("one line of it") : -2]) == {"one line of it"}


@pytest.mark.parametrize(
    ("workspace", "everything", "limit"),
    [
        (100_000, 100_000, 5_000),
        (100, 100_000, 5_000),
        (100_000, 100, 5_000),
        (100_000, 100_000, 60),
        (300, 300, 5_000),
    ],
)
def test_each_summary_is_sure_of_a_third(workspace: int, everything: int, limit: int) -> None:
    """What one does not need goes to the other, the workspace's first; together they stay within the limit."""
    texts = [_of("workspace", "w" * workspace), _of("global", "g" * everything)]
    part = guidance.guidance_part(guidance.Template("", ""), texts, limit)
    body = part.text.removeprefix("# Memory Guidance\n\n")
    assert tokens.estimate(body) == part.section.used <= limit
    if limit == 5_000:
        third = limit * 4 // 3 - 120  # but for the line about what is missing
        assert body.count("w") >= min(workspace, third)
        assert body.count("g") >= min(everything, third)
        assert body.count("w") >= min(workspace, limit * 4 - max(third, min(everything, third)) - 240)
    assert part.section.truncated is (workspace + everything > limit * 4)


@pytest.mark.parametrize("limit", [0, 1, 10])
def test_without_room_there_is_no_guidance(limit: int) -> None:
    """A limit below the line about what is missing gives no section, and the reason."""
    part = guidance.guidance_part(RULES, [_of("global", "text " * 100)], limit)
    assert part.text == ""
    assert part.section.reasons == {"global": "no room"}


def test_a_summary_of_nothing_but_secrets_is_none() -> None:
    """What is taken out leaves no section behind."""
    part = guidance.guidance_part(RULES, [guidance.Summary("global", Clean(kinds={"key": 1}), FileSeen("x"))], 100)
    assert part.text == ""
    assert part.section.redacted == {"key": 1}
