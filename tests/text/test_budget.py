"""Which notes go into a block of limited size: ranks, shares, long notes, headroom."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.text import budget
from memory_magic.text.budget import Choice, Use, choose


@dataclass(frozen=True)
class Item:
    """A note as the budget sees it, with its size."""

    id: str
    scope: str = "global"
    pinned: bool = False
    n: int = 0
    size: int = 100


def _choose(items: list[Item], **limits: int) -> Choice:
    return choose(items, size=lambda item: item.size, **limits)  # type: ignore[arg-type]


def _many(count: int, scope: str, *, size: int = 100, first: int = 1) -> list[Item]:
    return [Item(f"{scope[0]}{n}", scope, n=n, size=size) for n in range(first, first + count)]


def _line(older: int, too_long: int) -> int:
    return 30 + len(f"{older}{too_long}") if older or too_long else 0


def test_pinned_come_first_then_the_newest() -> None:
    """Rank is pin, then journal number; equal numbers keep the order in which they are given."""
    items = [
        Item("old", n=1),
        Item("new", n=9),
        Item("pin", pinned=True, n=2),
        Item("same a", n=5),
        Item("same b", n=5),
    ]
    assert _choose(items).chosen == ("pin", "new", "same a", "same b", "old")


def test_the_cap_on_entries_leaves_out_the_oldest() -> None:
    """Of 201 notes the newest 32 go in, so what corrects the third is there and the rest is named."""
    choice = _choose(_many(201, "global", size=10))
    assert choice.chosen == tuple(f"g{n}" for n in range(201, 169, -1))
    assert choice.omitted == tuple(f"g{n}" for n in range(169, 0, -1))
    assert choice.reasons == {}
    assert (choice.entries, choice.older, choice.too_long) == (Use("entries", 32, 32), 169, 0)


def test_the_cap_on_characters_counts_the_whole_block() -> None:
    """Sixty long notes fill the block up to the cap, wrapper and line about omissions included."""
    choice = choose(_many(60, "global", size=700), size=lambda item: item.size, wrapper=200, omission=_line)
    assert len(choice.chosen) == (12_000 - 200 - _line(60, 0)) // 700
    assert choice.characters == Use("characters", 200 + 16 * 700 + _line(44, 0), 12_000)
    assert choice.fuller == choice.characters
    assert choice.other == choice.entries


def test_a_block_that_just_fits_has_no_line_about_omissions() -> None:
    """Room for that line is only kept when something is left out."""
    fits = choose(_many(10, "global"), size=lambda item: item.size, characters=1_200, wrapper=200, omission=_line)
    assert (len(fits.chosen), fits.characters.used) == (10, 1_200)
    short = choose(_many(10, "global"), size=lambda item: item.size, characters=1_199, wrapper=200, omission=_line)
    assert (len(short.chosen), short.characters.used) == (9, 200 + 900 + _line(1, 0))


@pytest.mark.parametrize("size", [10, 700])
@pytest.mark.parametrize("loud", ["global", "workspace"])
def test_neither_scope_squeezes_the_other(loud: str, size: int) -> None:
    """Newer and pinned notes of one scope leave a third of both caps to the other."""
    quiet = "workspace" if loud == "global" else "global"
    newer = [Item(f"{loud}{n}", loud, pinned=n % 2 == 0, n=n, size=size) for n in range(100, 200)]
    choice = _choose(newer + _many(100, quiet, size=size))
    theirs = [name for name in choice.chosen if name.startswith(quiet[0]) and name[1:].isdigit()]
    assert len(theirs) >= 11 or len(theirs) * size >= 4_000
    assert len(choice.chosen) > len(theirs)


def test_a_share_that_is_not_needed_is_free() -> None:
    """A scope with two notes leaves thirty places to the other."""
    choice = _choose(_many(50, "global", first=10) + _many(2, "workspace"))
    assert sum(name.startswith("g") for name in choice.chosen) == 30


def test_a_note_longer_than_the_block_is_passed_over() -> None:
    """It is named as too long; every other note is there."""
    choice = _choose([*_many(5, "global"), Item("long", n=99, size=20_000)])
    assert choice.chosen == ("g5", "g4", "g3", "g2", "g1")
    assert (choice.omitted, choice.reasons) == (("long",), {"long": budget.TOO_LONG})
    assert choice.too_long == 1


def test_a_long_note_behind_short_ones_lets_older_ones_pass() -> None:
    """A note that takes more than a third does not keep the older ones out."""
    choice = _choose([Item("new", n=9, size=3_000), Item("long", n=8, size=10_000), Item("old", n=7)])
    assert choice.chosen == ("new", "old")
    assert (choice.omitted, choice.reasons) == (("long",), {"long": budget.TOO_LONG})


def test_a_long_note_goes_in_where_it_fits() -> None:
    """Alone in the newest place it may take nearly the whole block."""
    choice = _choose([Item("long", n=9, size=11_500), *_many(8, "global")])
    assert choice.chosen == ("long", "g8", "g7", "g6", "g5", "g4")


def test_no_older_note_stands_where_a_newer_one_was_left_out() -> None:
    """Small old notes do not slip into the gap that a newer one was too big for."""
    items = [*_many(4, "global", size=2_900, first=10), Item("tiny", n=1, size=10)]
    choice = _choose(items, characters=10_000)
    assert choice.chosen == ("g13", "g12", "g11")
    assert choice.omitted == ("g10", "tiny")


def test_a_closed_scope_leaves_the_rest_to_the_other() -> None:
    """Where the notes of one scope do not fit any more, those of the other still may."""
    choice = _choose(_many(3, "global", size=3_000, first=50) + _many(9, "workspace", size=400), characters=10_000)
    assert [name for name in choice.chosen if name[0] == "g"] == ["g52", "g51"]
    assert sum(name[0] == "w" for name in choice.chosen) == 9


def test_a_note_with_nothing_to_show_is_left_out() -> None:
    """It is named with its reason and takes no place."""
    choice = _choose([Item("empty", n=9, size=0), Item("full", n=1)], entries=1)
    assert choice.chosen == ("full",)
    assert (choice.omitted, choice.reasons) == (("empty",), {"empty": budget.NOTHING_VISIBLE})


@pytest.mark.parametrize("limits", [{"entries": 0}, {"characters": 0}, {"characters": 199, "wrapper": 200}])
def test_without_room_nothing_is_chosen(limits: dict[str, int]) -> None:
    """A budget of nothing, or smaller than the wrapper, gives no block and says why."""
    choice = _choose(_many(2, "global") + _many(2, "workspace"), **limits)
    assert (choice.chosen, choice.entries.used, choice.characters.used, choice.next_out) == ((), 0, 0, None)
    assert choice.reasons == dict.fromkeys(choice.omitted, budget.NO_ROOM)
    assert len(choice.omitted) == 4


def test_no_notes_use_nothing() -> None:
    """An empty memory has an empty choice and all its headroom."""
    choice = _choose([])
    assert (choice.chosen, choice.omitted) == ((), ())
    assert choice.headroom() == {
        "used": 0,
        "cap": 32,
        "unit": "entries",
        "next_out": None,
        "other": {"used": 0, "cap": 12_000, "unit": "characters"},
    }


def test_headroom_names_what_the_next_note_pushes_out() -> None:
    """While there is room that is nothing; at the cap it is the last-ranked note of the scope without a claim."""
    assert _choose(_many(31, "global")).headroom()["next_out"] is None
    assert _choose(_many(32, "global")).headroom()["next_out"] == "g1"
    crowded = _many(40, "global") + _many(11, "workspace", first=100)
    assert choose(crowded, size=lambda item: item.size, coming="workspace").next_out == "g20"
    assert choose(
        crowded[:40] + _many(40, "workspace", first=100), size=lambda item: item.size, coming="global"
    ).next_out


def test_headroom_of_characters_supposes_a_note_of_average_size() -> None:
    """Where characters are the fuller cap the next average note decides."""
    choice = _choose(_many(10, "global", size=1_100))
    assert choice.headroom()["unit"] == "characters"
    assert choice.next_out == "g1"
    assert _choose(_many(9, "global", size=1_100)).next_out is None


def test_sizes_are_asked_only_where_they_matter() -> None:
    """A store of many notes is not rendered to fill thirty-two places."""
    asked: list[str] = []

    def size(item: Item) -> int:
        asked.append(item.id)
        return item.size

    choose(_many(5_000, "global") + _many(5_000, "workspace"), size=size)
    assert len(asked) == len(set(asked)) < 70


SIZES = st.one_of(st.integers(0, 60), st.integers(0, 1_100))
ROWS = st.lists(
    st.tuples(st.sampled_from(["global", "workspace", "alias"]), st.booleans(), st.integers(0, 9), SIZES), max_size=40
)
ITEMS = ROWS.map(lambda rows: [Item(f"id{place}", *row) for place, row in enumerate(rows)])


@given(ITEMS, st.integers(0, 12), st.integers(0, 1_200), st.integers(0, 80))
def test_caps_hold_and_nothing_is_lost(items: list[Item], entries: int, characters: int, wrapper: int) -> None:
    """Both caps hold with wrapper and line; chosen and omitted together are all notes; rank is the order."""
    choice = choose(
        items, size=lambda item: item.size, entries=entries, characters=characters, wrapper=wrapper, omission=_line
    )
    sizes = {item.id: item.size for item in items}
    assert len(choice.chosen) <= entries
    used = wrapper + sum(sizes[name] for name in choice.chosen) + _line(choice.older, choice.too_long)
    assert choice.characters.used == (used if choice.chosen else 0) <= characters
    assert {*choice.chosen, *choice.omitted} == set(sizes)
    assert len(choice.chosen) + len(choice.omitted) == len(items)
    ranks = {item.id: (not item.pinned, -item.n) for item in items}
    assert list(choice.chosen) == sorted(choice.chosen, key=lambda name: ranks[name])
    assert choice.next_out is None or choice.next_out in choice.chosen


@given(ITEMS)
def test_every_scope_gets_its_third(items: list[Item]) -> None:
    """The best note that a scope misses would not have fitted into a third of both caps, long ones apart."""
    choice = _choose(items, entries=12, characters=3_000)
    for scope in {item.scope for item in items}:
        mine = sorted((item for item in items if item.scope == scope), key=lambda item: (not item.pinned, -item.n))
        missing = [item for item in mine if item.id not in choice.chosen and 0 < item.size <= 1_000]
        if missing:
            got = [item for item in mine[: mine.index(missing[0])] if item.id in choice.chosen]
            assert len(got) >= 4 or sum(item.size for item in got) + missing[0].size > 1_000


def test_notes_that_are_not_given_count_as_older() -> None:
    """Of a large scope the best-ranked notes are enough; the line about the others tells of all."""
    told: list[tuple[int, int]] = []

    def line(older: int, too_long: int) -> int:
        told.append((older, too_long))
        return _line(older, too_long)

    choice = choose(_many(40, "global", size=10), size=lambda item: item.size, beyond=960, omission=line)
    assert (len(choice.chosen), choice.older, len(choice.omitted)) == (32, 968, 8)
    assert (968, 0) in told


def test_whoever_cannot_be_shown_is_named_with_the_caller_s_reason() -> None:
    """It lets others pass, in both rounds and whether a share or the entries end the search."""
    items = [*_many(3, "workspace", size=0, first=500), *_many(40, "workspace"), *_many(40, "global", size=10)]
    choice = choose(items, size=lambda item: item.size, unfit=lambda item: f"not {item.id}")
    assert choice.reasons == {f"w{n}": f"not w{n}" for n in (500, 501, 502)}
    assert len(choice.chosen) == 32
    assert choice.older == 48


def test_the_end_of_a_scope_is_reached_when_all_were_passed_over() -> None:
    """Then more of it may fit; with all entries used, or an older note waiting, nothing more would."""
    hidden = _many(5, "global", size=0)
    choice = choose(hidden, size=lambda item: item.size, beyond=10)
    assert choice.reached_end(item.id for item in hidden)
    full = choose(_many(5, "global"), size=lambda item: item.size, entries=5, beyond=10)
    assert not full.reached_end(f"g{n}" for n in range(1, 6))
    closed = choose(_many(5, "global", size=900), size=lambda item: item.size, characters=3_000, beyond=10)
    assert not closed.reached_end(f"g{n}" for n in range(1, 6))
    nothing = choose(_many(5, "global"), size=lambda item: item.size, characters=0, beyond=10)
    assert not nothing.reached_end(f"g{n}" for n in range(1, 6))
