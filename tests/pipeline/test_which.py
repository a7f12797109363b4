"""Which sessions are extracted: each rule with its sentence, and an order in which no workspace starves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory_magic.pipeline.which import DAY, HOUR, LOCAL, OFF, Candidate, Rules, against, choose, is_local

NOW = 1_924_992_000.0  # 2031-01-01: no test depends on today's date
RULES = Rules(now=NOW, age_days=30, idle_hours=12)
REMOTE = replace(RULES, remote=True)
PLAIN = Candidate("codex", "s1", "/s1.jsonl", "a", NOW - DAY, True, "v1", origin_host="api.openai.com")  # noqa: FBT003


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"interactive": False}, "nobody sat in front"),
        ({"mode": OFF}, "memory is off"),
        ({"updated": NOW - 12 * HOUR + 1}, "rested for less than 12 hours"),
        ({"updated": NOW + DAY}, "rested for less than"),
        ({"updated": NOW - 30 * DAY - 1}, "older than 30 days"),
        ({"updated": None}, "has no time"),
        ({"trouble": "it cannot be read"}, "cannot be read"),
        ({"purged": True}, "was purged"),
    ],
)
def test_each_rule_says_why(change: dict[str, object], words: str) -> None:
    """Every rule gives its own sentence, and the boundary itself is let through."""
    assert words in against(replace(PLAIN, **change), RULES)  # type: ignore[arg-type]


@pytest.mark.parametrize("ago", [12 * HOUR, 30 * DAY])
def test_the_boundaries_are_let_through(ago: float) -> None:
    """A session exactly at the limit of rest or age is extracted."""
    assert against(replace(PLAIN, updated=NOW - ago), RULES) == ""


def test_the_session_that_runs_is_left_alone() -> None:
    """By its id or by its path."""
    for current in ({"s1"}, {"/s1.jsonl"}):
        assert "runs now" in against(PLAIN, replace(RULES, current=current))


def test_asking_sets_aside_time_and_nothing_else() -> None:
    """A named session may be old, fresh or not interactive; off, purged and local-only stay out."""
    for change in ({"interactive": False}, {"updated": NOW}, {"updated": 0.0}, {"updated": None}):
        assert against(replace(PLAIN, **change), RULES, asked=True) == ""
    assert against(replace(PLAIN, mode=OFF), RULES, asked=True)
    assert against(replace(PLAIN, purged=True), RULES, asked=True)
    assert against(replace(PLAIN, local_only=True), REMOTE, asked=True)


@pytest.mark.parametrize(
    "change",
    [
        {"local_only": True},
        {"mode": LOCAL},
        {"origin_host": None},
        {"origin_host": "localhost"},
        {"origin_host": "::1"},
    ],
)
def test_what_must_stay_here_stays(change: dict[str, object]) -> None:
    """Only a remote model is refused, and only until the setting names the kind of session."""
    one = replace(PLAIN, **change)  # type: ignore[arg-type]
    assert "remote_sources" in against(one, REMOTE)
    assert against(one, RULES) == ""
    assert against(one, replace(REMOTE, remote_sources=frozenset({"codex"}))) == ""
    assert against(one, replace(REMOTE, remote_sources=frozenset({"notebook"})))


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "10.0.0.5", "192.168.1.2", "169.254.1.1", "fe80::1", "gpu-box",
                                  "nas.local", "LocalHost.", "llm.internal"])  # fmt: skip
def test_private_hosts(host: str) -> None:
    """Addresses and names that only a private network has are local."""
    assert is_local(host)


@pytest.mark.parametrize("host", ["api.openai.com", "8.8.8.8", "2606:4700::1111", "local.example.org"])
def test_public_hosts(host: str) -> None:
    """Everything else is not."""
    assert not is_local(host)


def test_no_workspace_starves() -> None:
    """The newest of each workspace comes before the second of any, however busy one is."""
    busy = [replace(PLAIN, session=f"b{n:03}", updated=NOW - DAY - n) for n in range(100)]
    quiet = [replace(PLAIN, session=f"q{n}", group="quiet", updated=NOW - 9 * DAY - n) for n in range(2)]
    due = choose([*quiet, *busy], RULES).due
    assert [one.session for _, one in sorted(due, key=lambda pair: pair[0])][:5] == ["b000", "q0", "b001", "q1", "b002"]
    assert len({rank for rank, _ in due}) == len(due)


def test_what_is_done_is_eligible_and_not_due() -> None:
    """A session whose content was extracted counts, and is taken up again once it has changed."""
    chosen = choose([replace(PLAIN, done="v1"), replace(PLAIN, session="s2", done="v0")], RULES)
    assert [one.session for one in chosen.eligible] == ["s1", "s2"]
    assert [one.session for _, one in chosen.due] == ["s2"]


def test_two_records_of_one_session_count_once() -> None:
    """The newer record is the session; the order in which they are found does not matter."""
    older = replace(PLAIN, path="/copy.jsonl", updated=NOW - 2 * DAY)
    for records in ([PLAIN, older], [older, PLAIN]):
        assert [one.path for one in choose(records, RULES).eligible] == ["/s1.jsonl"]
