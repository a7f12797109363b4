"""Words, marks and numbers are written as a person reads them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_dashboard import words

NOW = datetime(2026, 11, 30, 18, 42, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-11-30T18:35:00Z", "7 min"),
        ("2026-11-30T16:41:00Z", "2 h"),
        ("2026-10-27T18:00:00.123456Z", "34 d"),
        ("2026-11-30T18:41:50Z", "now"),
        ("2026-11-30T18:42:30Z", "now"),
        ("2027-11-30T18:42:30Z", "in the future"),
        ("2026-11-30T18:35:00", "7 min"),
        (None, "–"),
        ("yesterday", "–"),
    ],
)
def test_age_is_the_largest_whole_unit(text: str | None, shown: str) -> None:
    """Ages need one look; a time that is none, or lies ahead, says so."""
    assert words.age(text, NOW) == shown


def test_times_are_utc_and_name_the_year_only_when_it_is_another() -> None:
    """A column is short, a detail complete."""
    assert words.day_time("2026-11-03T08:05:00+02:00", NOW) == "3 Nov 06:05"
    assert words.day_time("2025-11-03T08:05:00Z", NOW) == "3 Nov 2025 08:05"
    assert words.day_time(None, NOW) == "–"
    assert words.full_time("2026-11-03T08:05:07Z") == "3 Nov 2026 08:05:07 UTC"
    assert words.full_time("") == "not known"


def test_numbers_have_separators_and_units() -> None:
    """Counts and sizes say what they count."""
    assert words.counted(1, "note") == "1 note"
    assert words.counted(2418, "record") == "2,418 records"
    assert [words.size(n) for n in (1, 999, 24_300, 3_100_000)] == ["1 byte", "999 bytes", "24 kB", "3.1 MB"]


def test_every_action_has_a_sign() -> None:
    """No meaning hangs on colour: known actions have their own sign, unknown ones a dot."""
    assert words.action_words("revise") == "⇄ revise"
    assert words.action_words("whatever") == "• whatever"
