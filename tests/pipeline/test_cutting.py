from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.pipeline import cutting, render
from memory_magic.pipeline.cutting import SPARE, Item, Missing, choose, fit, token_limit, without_middle
from memory_magic.sessions.records import Call, Context, Session, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def session(turns: Sequence[Turn] = (), calls: Sequence[Call] = (), context: Sequence[Context] = ()) -> Session:
    """Make a session of these parts."""
    parts = {"turns": tuple(turns), "calls": tuple(calls), "context": tuple(context)}
    return Session(id="id", source="codex", path="/r.jsonl", cwd="/home/ana", started=None, updated=None,
                   interactive=True, origin_host=None, **parts)  # type: ignore[arg-type]  # fmt: skip


def talk(count: int, length: int = 100) -> list[Turn]:
    """Make numbered turns of person and assistant by turns."""
    return [
        Turn(("user", "assistant")[number % 2], f"turn {number:05} " + "x" * length, "human", f"line {number}")
        for number in range(count)
    ]


def texts(rendered: str) -> list[str]:
    """Return the texts of the messages of a rendered session, the remark about the gap as such."""
    items = json.loads(rendered)
    return [item["text"] if item["type"] == "left_out" else item["content"][0]["text"] for item in items]


@pytest.mark.parametrize(
    ("setting", "window", "limit"),
    [
        (None, None, 150_000), (None, 0, 150_000), (None, -3, 150_000), (None, 272_000, 180_880),
        (None, 123_000, 81_795), (None, 1, 1), (500, 272_000, 500), (1, None, 1),
    ],
)  # fmt: skip
def test_token_limit(setting: int | None, window: int | None, limit: int) -> None:
    """A setting wins, else 70 % of 95 % of the window, else 150,000 (codex' own numbers)."""
    assert token_limit(setting, window) == limit


def test_what_fits_is_whole() -> None:
    """A session within the limit comes whole, without a word about anything missing."""
    rendered = render.rendered(session(talk(10)), 150_000)
    assert not rendered.truncated
    assert len(texts(rendered.text)) == 10
    assert rendered.text == render.contents(session(talk(10)))


def test_both_ends_are_kept_and_the_gap_is_told() -> None:
    """Of a long session the first and the last turns stay, in order, and the gap says how much is gone."""
    rendered = render.rendered(session(talk(5000, 400)), 20_000)
    found = texts(rendered.text)
    gap = next(place for place, text in enumerate(found) if text.startswith("[left out here"))
    first, last = found[:gap], found[gap + 1 :]
    assert first == [turn.text for turn in talk(5000, 400)][: len(first)]
    assert last == [turn.text for turn in talk(5000, 400)][-len(last) :]
    assert f"{5000 - len(first) - len(last):,} turns and 0 tool calls" in found[gap]
    assert len(rendered.text.encode()) <= 80_000
    assert min(len(first), len(last)) > 60
    assert rendered.truncated


def test_cut_lies_at_a_turn() -> None:
    """A gap begins and ends where a turn does: no call is kept without what was asked."""
    turns = talk(400, 300)
    calls = [Call("shell", {"n": n, "k": k}, "out " * 30, "completed", n + 1) for n in range(400) for k in range(3)]
    items = json.loads(render.rendered(session(turns, calls), 20_000).text)
    gap = next(place for place, item in enumerate(items) if item["type"] == "left_out")
    assert items[gap - 1]["type"] == "function_call_output"
    assert items[gap - 1]["call_id"]
    assert json.loads(json.dumps(items[gap - 2]["arguments"]))["k"] == 2
    assert items[gap + 1]["type"] == "message"


def test_endless_answer_does_not_cost_a_side() -> None:
    """Where turns are too far apart the cut lies between entries, and both sides stay filled."""
    calls = [Call("shell", {"n": n}, "output " * 20, "completed", 1) for n in range(5000)]
    items = json.loads(render.rendered(session(talk(1), calls), 10_000).text)
    gap = next(place for place, item in enumerate(items) if item["type"] == "left_out")
    assert gap > 40
    assert len(items) - gap > 40


def test_one_long_text_loses_its_middle() -> None:
    """A single text that is far too long keeps both ends and says what is missing; its neighbours stay."""
    turns = [Turn("user", "first", "human", "1"), Turn("assistant", "A" * 500_000 + "Z" * 500_000, "assistant", "2"),
             Turn("user", "last", "human", "3")]  # fmt: skip
    rendered = render.rendered(session(turns), 20_000)
    found = texts(rendered.text)
    assert found[0] == "first"
    assert found[-1] == "last"
    assert found[1].startswith("AAAA")
    assert found[1].endswith("ZZZZ")
    assert "about 1,000,000 bytes was left out" in found[1]
    assert len(found[1]) < 11_000
    assert rendered.truncated


@pytest.mark.parametrize("shift", range(-60, 61, 3))
def test_secret_across_the_cut_of_a_text(shift: int) -> None:
    """A secret that lies across an edge of what is left out of a text is gone as a whole, wherever the edge falls."""
    longest = cutting.longest_text(20_000)
    at = longest // 2 + shift
    text = "a " * (at // 2) + SECRET + " b" * 500_000
    mirrored = "b " * 500_000 + SECRET + " a" * (at // 2)
    for one in (text, mirrored):
        rendered = render.rendered(session([Turn("user", one, "human", "1")]), 20_000)
        assert not any(SECRET[k : k + 12] in rendered.text for k in range(len(SECRET) - 12))


def test_private_span_across_the_cut() -> None:
    """A private span that begins in what is left out does not show its end."""
    text = "a " * 200_000 + "<private>" + "b " * 200_000 + "mine</private>" + " end"
    rendered = render.rendered(session([Turn("user", text, "human", "1")]), 20_000)
    assert "b b" not in rendered.text
    assert "mine" not in rendered.text
    assert rendered.text.rstrip('"]}\n').endswith(" end")


def test_end_of_a_long_key_block() -> None:
    """The end of a private key whose beginning was left out is not shown either."""
    body = "\n".join("MIIJKQIBAAKCAgEA" + f"{n:04}" + "x7Zq" * 11 for n in range(300))
    text = "a " * 300_000 + f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nthe end"
    rendered = render.rendered(session([Turn("user", text, "human", "1")]), 20_000)
    assert "x7Zq" not in rendered.text
    assert "the end" in rendered.text


def test_call_and_output_stay_together() -> None:
    """A call and its output are one entry: no output stands alone at an edge."""
    calls = [Call("shell", {"n": n}, "o" * 50, "completed", 0) for n in range(3000)]
    items = json.loads(render.rendered(session(calls=calls), 5_000).text)
    ids = [item["call_id"] for item in items if item["type"] != "left_out"]
    assert all(ids.count(one) == 2 for one in ids)


@given(
    st.lists(st.tuples(st.sampled_from("tco"), st.text(max_size=300)), max_size=60),
    st.integers(1, 2_000),
)
def test_never_longer_than_the_limit(parts: list[tuple[str, str]], tokens: int) -> None:
    """Whatever a session holds, the result is JSON and no longer than the limit; what fits is never called cut."""
    turns: list[Turn] = []
    calls: list[Call] = []
    context: list[Context] = []
    for kind, text in parts:
        if kind == "t":
            turns.append(Turn("user", text, "human", ""))
        elif kind == "c":
            calls.append(Call("tool", {"a": text}, text, "completed", len(turns)))
        else:
            context.append(Context("environment_context", text, len(turns), len(calls)))
    made = session(turns, calls, context)
    rendered = render.rendered(made, tokens)
    assert isinstance(json.loads(rendered.text), list)
    assert len(rendered.text.encode()) <= max(tokens * 4, 2)
    assert rendered.input_tokens <= max(tokens, 1)
    if not rendered.truncated:
        assert rendered.text == render.contents(made)


@given(st.text(), st.integers(2, 200))
def test_a_text_keeps_its_ends(text: str, longest: int) -> None:
    """A shortened text begins and ends as the whole one does, on whole characters."""
    shown = without_middle(text * 300, longest, lambda piece: piece)
    if "was left out" not in shown:
        assert shown == text * 300
        return
    front, _, back = shown.partition("\n[the middle of this text")
    assert (text * 300).startswith(front)
    assert (text * 300).endswith(back.split("was left out]\n")[1])


def test_only_the_ends_are_washed() -> None:
    """Of a text that is much too long only the two ends, with something to spare, are looked at for secrets."""
    seen: list[int] = []

    def wash(piece: str) -> str:
        seen.append(len(piece))
        return piece

    without_middle("x" * 1_000_000, 1_000, wash)
    assert seen == [500 + SPARE, 500 + SPARE]


def test_middle_of_a_session_is_not_kept() -> None:
    """Only what can be shown is chosen of a long session, with something to spare on both sides."""
    entries = talk(10_000, 100)
    chosen = choose(entries, 5_000)
    assert isinstance(chosen.missing, Missing)
    assert chosen.missing.turns == 10_000 - len(chosen.head) - len(chosen.tail)
    kept = sum(cutting.size_of(entry) for entry in (*chosen.head, *chosen.tail))
    assert 20_000 < kept <= 20_000 + 2 * SPARE


def test_nothing_at_all() -> None:
    """An empty session is an empty array."""
    assert render.rendered(session(), 1).text == "[]"
    assert fit([], [], None, 1).text == "[]"
    assert fit([Item(b'"x"' * 90)], [], None, 10).truncated
