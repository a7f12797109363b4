"""The order of what happened in a session."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_magic.sessions.records import Call, Context, Session, Turn

Event = Turn | Call | Context


def session_of(kinds: list[str]) -> tuple[Session, list[str]]:
    """Build a session as a reader does, and the names of its items in the order in which they came."""
    turns: list[Turn] = []
    calls: list[Call] = []
    context: list[Context] = []
    for number, kind in enumerate(kinds):
        name = str(number)
        if kind == "turn":
            turns.append(Turn("user", name, "human", name))
        elif kind == "call":
            calls.append(Call(name, None, None, "no output", len(turns), name))
        else:
            context.append(Context("x", name, len(turns), len(calls), name))
    session = Session(
        id="s",
        source="codex",
        path="p",
        cwd=None,
        started=None,
        updated=None,
        interactive=True,
        origin_host=None,
        turns=tuple(turns),
        calls=tuple(calls),
        context=tuple(context),
    )
    return session, [str(number) for number in range(len(kinds))]


@given(st.lists(st.sampled_from(["turn", "call", "context"]), max_size=30))
def test_ordered_gives_back_the_order_of_reading(kinds: list[str]) -> None:
    """However turns, calls and context were mixed, they come out as they came in."""
    session, names = session_of(kinds)
    assert [item.ref for item in session.ordered()] == names
