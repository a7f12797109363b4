"""Which lines of a conversation that was rewound still count.

A transcript is a tree: each line names its parent, and what the person took back stays in the file. Following the
parents up from the last line would be enough if each fork were a rewind, but there are others: the answers of tools
that ran side by side, the blocks of one answer, lines about hooks. So a line off the live chain is dropped only if it
hangs on something that was taken back:

- a prompt that the live chain does not contain, or
- an answer beside which the live chain holds another answer.

Where the chain is broken (a parent that is missing, a root that is no prompt) the line before it in the file goes on,
so that damage costs only itself. A prompt without a parent, further down in the file, is a rewind to the beginning.
"""

from __future__ import annotations

from itertools import pairwise

import msgspec


class Node(msgspec.Struct):
    """One line: *answer* is the id of the answer that it belongs to, *follows* a parent in meaning only."""

    uuid: str
    parent: str | None
    prompt: bool = False
    answer: str | None = None
    spoken: bool = False
    follows: str | None = None


def living(nodes: list[Node], leaf: str | None) -> list[bool]:
    """Tell for each line whether it counts. *leaf* names the line where the conversation stands, None: the last one."""
    return _Tree(nodes).living(leaf)


class _Tree:
    """The lines by place in the file, and the live chain through them."""

    def __init__(self, nodes: list[Node]) -> None:
        self._nodes = nodes
        self._places: dict[str, int] = {}
        for place, node in enumerate(nodes):
            self._places.setdefault(node.uuid, place)

    def living(self, leaf: str | None) -> list[bool]:
        last = next((at for at in reversed(range(len(self._nodes))) if self._nodes[at].spoken), None)
        if last is None:
            return [True] * len(self._nodes)
        chain = self._chain(self._standing(leaf, last))
        following = {above: below for below, above in pairwise(chain)}
        on_chain = set(chain)
        dead: dict[int, bool] = dict.fromkeys(chain, False)
        for place in range(len(self._nodes)):
            path: list[int] = []
            at: int | None = place
            while at is not None and at not in dead:
                if self._taken_back(at, on_chain, following):
                    dead[at] = True
                    break
                path.append(at)
                dead[at] = False  # ends the walk where parents run in a circle
                at = self._above(at)
            verdict = at is not None and dead[at]
            for passed in path:
                dead[passed] = verdict
        return [not dead[place] for place in range(len(self._nodes))]

    def _standing(self, leaf: str | None, last: int) -> int:
        """Return where the conversation stands: at *leaf* only if prompts were taken back by going there."""
        place = self._places.get(leaf) if leaf is not None else None
        if place is None or place >= last:
            return last
        chain = self._chain(last)
        if place not in chain:
            return place
        after = chain[: chain.index(place)]
        return place if any(self._nodes[at].prompt for at in after) else last

    def _chain(self, place: int) -> list[int]:
        """Return the places from a line up to the beginning."""
        chain: dict[int, None] = {}
        at: int | None = place
        while at is not None and at not in chain:
            chain[at] = None
            at = self._above(at)
        return list(chain)

    def _above(self, place: int) -> int | None:
        """Return the place of the line that a line goes on from."""
        node = self._nodes[place]
        parent = self._places.get(node.parent) if node.parent is not None else None
        if parent is not None and parent != place:
            return parent
        if node.parent is None and node.prompt:
            return None
        follows = self._places.get(node.follows) if node.follows is not None else None
        if follows is not None and follows != place:
            return follows
        return place - 1 if place else None

    def _taken_back(self, place: int, on_chain: set[int], following: dict[int, int]) -> bool:
        """Tell whether a line off the chain begins something that was taken back."""
        node = self._nodes[place]
        if place in on_chain:
            return False
        if node.prompt:
            return True
        parent = self._above(place)
        beside = following.get(parent) if parent is not None else None
        if node.answer is None or parent is None or beside is None or self._nodes[parent].answer is not None:
            return False
        return self._nodes[beside].answer not in (None, node.answer)
