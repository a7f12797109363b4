"""Which lines of a rewound conversation still count."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_magic.sessions.branches import Node, living

NODES = st.lists(
    st.builds(
        Node,
        uuid=st.sampled_from("abcdefgh"),
        parent=st.none() | st.sampled_from("abcdefghx"),
        prompt=st.booleans(),
        answer=st.none() | st.sampled_from("12"),
        spoken=st.booleans(),
        follows=st.none() | st.sampled_from("abx"),
    ),
    max_size=12,
)


def alive(*nodes: Node, leaf: str | None = None) -> str:
    """Return the names of the lines that count."""
    return "".join(node.uuid for node, lives in zip(nodes, living(list(nodes), leaf), strict=True) if lives)


def prompt(name: str, parent: str | None) -> Node:
    """Return a line of the person."""
    return Node(name, parent, prompt=True, spoken=True)


def answer(name: str, parent: str | None, of: str) -> Node:
    """Return a line of the assistant."""
    return Node(name, parent, answer=of, spoken=True)


@given(NODES, st.none() | st.sampled_from("abcdefghx"))
def test_any_tree_has_a_verdict_for_each_line(nodes: list[Node], leaf: str | None) -> None:
    """Circles, missing parents and repeated names end, and the last line that is not taken back counts."""
    verdicts = living(nodes, leaf)
    assert len(verdicts) == len(nodes)
    spoken = [place for place, node in enumerate(nodes) if node.spoken]
    if spoken and leaf is None:
        assert verdicts[spoken[-1]]


@given(st.integers(1, 30))
def test_a_chain_counts_whole(length: int) -> None:
    """Nothing is taken back where nothing was."""
    nodes = [prompt(str(n), str(n - 1) if n else None) for n in range(length)]
    assert all(living(nodes, None))


def test_a_place_on_another_branch_is_where_the_conversation_stands() -> None:
    """The person went back, on, and back to the first branch."""
    nodes = (prompt("a", None), prompt("b", "a"), prompt("c", "a"))
    assert alive(*nodes) == "ac"
    assert alive(*nodes, leaf="b") == "ab"
    assert alive(*nodes, leaf="nowhere") == "ac"


def test_what_hangs_on_something_taken_back_is_gone_too() -> None:
    """Also where a line between them is missing."""
    assert alive(prompt("a", None), prompt("b", "a"), answer("c", "lost", "1"), prompt("d", "a")) == "ad"


def test_a_cut_chain_goes_on_where_it_says() -> None:
    """A boundary names the line that it follows in meaning; without that it is the line before it."""
    cut = Node("c", None, follows="a")
    assert alive(prompt("a", None), prompt("b", "a"), cut, prompt("d", "c")) == "acd"
    assert alive(prompt("a", None), prompt("b", "a"), Node("c", None), prompt("d", "c")) == "abcd"
    assert alive(Node("c", None, follows="c"), prompt("d", "c")) == "cd"


def test_only_another_answer_replaces_an_answer() -> None:
    """Blocks of one answer, and lines of tools, may hang side by side."""
    asked = prompt("a", None)
    assert alive(asked, answer("b", "a", "1"), answer("c", "a", "2")) == "ac"
    assert alive(asked, answer("b", "a", "1"), answer("c", "a", "1")) == "abc"
    assert alive(asked, answer("b", "a", "1"), Node("t", "b"), Node("u", "b"), answer("c", "u", "2")) == "abtuc"


def test_without_a_spoken_line_everything_counts() -> None:
    """There is nothing to go back from."""
    assert alive(Node("a", None), Node("b", "x")) == "ab"
    assert alive() == ""
