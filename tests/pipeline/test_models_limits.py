from __future__ import annotations

import json

import pytest

from memory_magic.pipeline.models_limits import KEPT_SECONDS, Limits, Window, from_json, of_headers

OPENAI = {
    "x-ratelimit-limit-requests": "500",
    "x-ratelimit-remaining-requests": "499",
    "x-ratelimit-limit-tokens": "1000",
    "x-ratelimit-remaining-tokens": "100",
    "x-ratelimit-reset-tokens": "6m0s",
}
ANTHROPIC = {
    "Anthropic-RateLimit-Input-Tokens-Limit": "40000",
    "Anthropic-RateLimit-Input-Tokens-Remaining": "30000",
    "anthropic-ratelimit-input-tokens-reset": "2026-01-27T12:00:00Z",
}


def test_openai_headers() -> None:
    """Both windows of OpenAI are read."""
    limits = of_headers(OPENAI, "api.openai.com", 50.0)
    assert limits == Limits("api.openai.com", 50.0, (Window("requests", 500, 499), Window("tokens", 1000, 100)))


def test_anthropic_headers() -> None:
    """A window of Anthropic is read, in any case of the headers' names."""
    limits = of_headers(ANTHROPIC.items(), "h", 0.0)
    assert limits is not None
    assert limits.windows == (Window("input-tokens", 40_000, 30_000),)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-ratelimit-limit-tokens": "1000"},
        {"x-ratelimit-limit-tokens": "0", "x-ratelimit-remaining-tokens": "0"},
        {"x-ratelimit-limit-tokens": "many", "x-ratelimit-remaining-tokens": "few"},
        {"x-ratelimit-limit-tokens": "9" * 99, "x-ratelimit-remaining-tokens": "1"},
        {"x-ratelimit-limit-tokens": "-5", "x-ratelimit-remaining-tokens": "-7"},
    ],
)
def test_headers_that_tell_nothing(headers: dict[str, str]) -> None:
    """Headers without a whole, sensible pair are no limit."""
    assert of_headers(headers, "h", 0.0) is None


def test_the_scarcest_window_decides() -> None:
    """The guard gets the window of which least is left, and only when that is less than asked for."""
    limits = of_headers(OPENAI, "h", 1000.0)
    assert limits is not None
    assert limits.short(10, 1000.0) is None
    found = limits.short(10.1, 1000.0)
    assert found is not None
    assert (found.what, found.percent) == ("tokens", 10)


@pytest.mark.parametrize(("after", "counts"), [(0, True), (KEPT_SECONDS - 1, True), (KEPT_SECONDS, False), (-1, False)])
def test_an_hour(after: float, counts: bool) -> None:  # noqa: FBT001
    """A reading counts for an hour; one from the future, after the clock was set back, does not."""
    limits = of_headers(OPENAI, "h", 10_000.0)
    assert limits is not None
    assert (limits.short(25, 10_000.0 + after) is not None) is counts


def test_kept_and_read_again() -> None:
    """A reading survives JSON; a damaged one is no reading."""
    limits = of_headers(OPENAI, "h", 5.0)
    assert limits is not None
    assert from_json(json.loads(json.dumps(limits.as_json()))) == limits
    kept = {"host": "h", "taken": 1, "windows": [["a", 0, 0]]}
    for damaged in (None, 3, {}, kept, {**kept, "taken": "x", "windows": []}, {**kept, "windows": [[1]]}):
        assert from_json(damaged) is None
