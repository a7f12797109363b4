"""The order of found notes: tiers, score, what stands around a note, and the breaking of ties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.store import ranking
from memory_magic.store.ranking import ALL, PHRASE, SOME, Collection, Ranking, Scanned, packed, scan
from memory_magic.text import words

FILLER = " ".join(f"filler{number}" for number in range(120))


def notes_of(*texts: str, heading: str = "", section: tuple[str, ...] = ()) -> list[Scanned]:
    """Return notes in file order, each newer than the one before."""
    return [Scanned(i, packed(text, heading), section, age=(i, i)) for i, text in enumerate(texts)]


def order(query: str, notes: list[Scanned], limit: int = 8) -> list[int]:
    """Return the keys of what a scan finds, best first."""
    return [found.key for found in scan(query, notes, limit)]


# -- packed terms ----------------------------------------------------------------------------------------------


def test_packed_terms_can_be_counted() -> None:
    """Neighbouring equal terms are counted singly, and the heading is not part of the length."""
    held = packed("very very good", "Deploy rules")
    assert held == f" veri  veri  good {ranking.SEPARATOR} deploy  rule "
    assert held.count(" veri ") == 2
    assert ranking.length_of(held) == 3
    assert ranking.length_of(packed("", "Deploy")) == 0
    assert packed("") == ""


@given(st.text(max_size=50), st.text(max_size=20))
def test_the_length_is_the_number_of_terms(text: str, heading: str) -> None:
    """For every text the packed length is that of its terms."""
    assert ranking.length_of(packed(text, heading)) == len(words.terms(text))


# -- tiers -----------------------------------------------------------------------------------------------------


def test_phrase_comes_before_all_words_before_some() -> None:
    """The exact phrase is first, then the note with all words, then one with a rare word many times."""
    notes = notes_of("deploy " * 9, "on friday we never deploy", "never deploy friday builds", "lunch")
    found = scan("deploy friday", notes)
    assert [one.key for one in found] == [2, 1, 0]
    assert [one.tier for one in found] == [PHRASE, ALL, SOME]
    assert [int(one.score) for one in found] == [PHRASE, ALL, SOME]


def test_the_score_falls_along_the_list() -> None:
    """Scores are ordered as the results are, across tiers."""
    notes = notes_of("red", "red blue", "blue red", "green red blue", "blue", "red red", FILLER + " red blue")
    scores = [one.score for one in scan("red blue", notes)]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 7


def test_a_long_note_has_all_words_only_within_one_passage() -> None:
    """Words that stand far apart in a long note do not make it hold all of them."""
    notes = notes_of(f"alpha {FILLER} beta", f"{FILLER} beta then alpha", f"{FILLER} beta")
    tiers = {one.key: one.tier for one in scan("alpha beta", notes)}
    assert tiers == {0: SOME, 1: ALL, 2: SOME}


def test_a_question_needs_its_function_words_in_a_long_note() -> None:
    """For a question, a long note holds all words only with the function words; a short one without."""
    notes = notes_of(f"{FILLER} beta alpha", f"{FILLER} what did beta do to alpha", "beta alpha")
    tiers = {one.key: one.tier for one in scan("What did beta do to alpha?", notes)}
    assert tiers[0] == SOME
    assert tiers[1] == PHRASE
    assert tiers[2] == ALL


def test_one_wanted_word_in_a_long_note_is_all() -> None:
    """A long note with the only word of the query holds all of it."""
    (found,) = scan("alpha", notes_of(f"{FILLER} alpha"))
    assert found.tier == PHRASE


def test_chinese_phrase_is_told_from_its_characters() -> None:
    """A run of characters as it stands comes before a note that has its pairs apart."""
    notes = notes_of("空格四空，格缩进", "使用四空格缩进")
    assert order("四空格", notes) == [1, 0]
    assert scan("进", notes)[0].tier == PHRASE


# -- score -----------------------------------------------------------------------------------------------------


def test_rare_words_count_more() -> None:
    """Of two notes with one word each, that with the rarer word is first."""
    notes = notes_of("kubernetes notes", *["deploy notes"] * 9)
    assert order("kubernetes deploy", notes, 1) == [0]


def test_words_side_by_side_count_more_than_apart() -> None:
    """A pair of the query that stands together lifts a note over one with the same words apart."""
    notes = notes_of("apples are green and the tree is old here", "old here are apples and green tree is the", "x")
    assert order("where is the green tree of the garden", notes, 1) == [1]


def test_an_inflection_counts_a_little() -> None:
    """A word that no stemmer knows lifts a note that has another form of it."""
    notes = notes_of("Kätzchen und Hunde", "Katzenfutter kaufen und Hundefutter", "Vogel und Hunde")
    assert order("Hunde Kätzchens", notes, 1) == [0]


def test_an_unknown_word_finds_its_inflections() -> None:
    """A word that no note holds finds notes with terms of the same beginning; a known one does not."""
    notes = notes_of("Hausaufgaben machen", "Einkaufen gehen", "Hausaufgabe fertig")
    assert set(order("Hausaufgabenheft", notes)) == {0, 2}
    assert order("Hausaufgaben", notes[:2]) == [0]


def test_a_word_among_grams_counts_for_several() -> None:
    """In a Chinese query an identifier outweighs one pair of characters."""
    notes = notes_of("gen-itgc 失败", "周二部署", *["其他"] * 3)
    assert order("周二 itgc", notes, 1) == [0]


def test_many_wanted_terms_in_a_long_note_are_counted_alike() -> None:
    """The quick count of long notes finds what the plain one finds."""
    text = " ".join(f"word{number} word{number}" for number in range(60))
    query = words.query(" ".join(f"word{number}" for number in range(90)))
    found = Ranking(query, Collection(1, 120.0, dict.fromkeys(query.wanted, 1)))
    found.add(1, packed(text))
    (one,) = found.result(1)
    assert len(one.terms) == 60


# -- surroundings ----------------------------------------------------------------------------------------------


def test_a_short_note_borrows_what_its_neighbours_name() -> None:
    """Of two notes with the same word, that whose neighbour names the other wanted word is first."""
    notes = notes_of("kubernetes cluster", "restarts nightly", "lunch", "tea", "milk", "restarts weekly")
    found = order("restarts kubernetes", notes)
    assert found.index(1) < found.index(5)


def test_a_nearer_neighbour_lends_more() -> None:
    """The note beside comes before the next but one, and that before one without."""
    notes = notes_of("restarts a", "kubernetes b", "filler c", "filler d", "filler e", "restarts f")
    found = order("restarts kubernetes", notes)
    assert found.index(0) < found.index(5)


def test_neighbours_of_another_section_lend_nothing() -> None:
    """A neighbour under another heading does not count."""
    near = [Scanned(0, packed("kubernetes"), ("a",)), Scanned(1, packed("restarts"), ("a",))]
    far = [Scanned(2, packed("restarts"), ("b",), age=(0, 1)), Scanned(3, packed("kubernetes"), ("c",))]
    scores = {one.key: one.score for one in scan("restarts kubernetes", near + far)}
    assert scores[1] > scores[2]


def test_a_heading_lends_its_words() -> None:
    """The heading above a note counts for a wanted word that the note lacks, and finds it alone."""
    notes = [Scanned(0, packed("on fridays never", "Deploy")), Scanned(1, packed("on fridays never", "Food"))]
    assert order("deploy fridays", notes) == [0, 1]
    assert order("deploy", notes) == [0]


def test_a_neighbour_without_wanted_words_is_no_result() -> None:
    """Standing beside a hit makes no hit, and function words make none either."""
    notes = notes_of("what is the plan", "deploy plan", "what is the time")
    assert order("what is the deploy", notes) == [1]


def test_notes_with_equal_words_stay_equal_whatever_stands_around() -> None:
    """Neighbours that repeat a note's own words do not lift it: the newest of equal notes is first."""
    notes = notes_of("deploy one", "deploy two", "deploy three", "deploy four", "lunch at noon with all of them")
    assert order("deploy", notes) == [3, 2, 1, 0]


# -- ties ------------------------------------------------------------------------------------------------------


def test_pinned_and_newer_break_ties() -> None:
    """Of equal notes the pinned is first, then the newer, then the lower line."""
    notes = [
        Scanned(0, packed("deploy a"), age=(5, 1)),
        Scanned(1, packed("deploy b"), pinned=True, age=(1, 2)),
        Scanned(2, packed("deploy c"), age=(7, 3)),
        Scanned(3, packed("deploy d"), age=(7, 4)),
    ]
    assert order("deploy", notes) == [1, 3, 2, 0]


def test_a_pin_does_not_outweigh_words() -> None:
    """A pinned note with fewer of the words comes after."""
    notes = [Scanned(0, packed("deploy"), pinned=True), Scanned(1, packed("deploy friday"))]
    assert order("deploy friday", notes) == [1, 0]


# -- edges -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["", " ", "\x00", "zzz"])
def test_nothing_is_found_for_nothing(query: str) -> None:
    """An empty query, and a word that stands nowhere, find nothing."""
    assert scan(query, notes_of("deploy", "friday")) == []


def test_no_notes_and_no_room_find_nothing() -> None:
    """An empty collection and a limit of nought or less give an empty list."""
    assert scan("deploy", []) == []
    assert scan("deploy", notes_of("deploy"), 0) == []
    assert scan("deploy", notes_of("deploy"), -1) == []


def test_the_terms_that_a_result_holds_are_told() -> None:
    """Each result names the wanted terms that it holds itself."""
    notes = notes_of("deploys on friday", "friday")
    assert [one.terms for one in scan("friday deploy", notes)] == [("friday", "deploy"), ("friday",)]


def test_rarity_is_never_negative() -> None:
    """A term that all notes hold, or seemingly more, still counts a little."""
    assert ranking.rarity(10, 10) > 0
    assert ranking.rarity(12, 10) == ranking.rarity(10, 10)
    assert ranking.rarity(1, 1000) > ranking.rarity(10, 1000)


@given(st.lists(st.text(max_size=30), max_size=6), st.text(max_size=40))
def test_a_scan_never_raises_and_never_invents(texts: list[str], query: str) -> None:
    """For every text and query each result is one of the notes, once, in falling order of score."""
    notes = notes_of(*texts, heading="Notes")
    found = scan(query, notes)
    assert len({one.key for one in found}) == len(found)
    assert all(0 <= one.key < len(texts) for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
