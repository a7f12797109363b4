"""The search terms of a text: every script, every spelling, never an exception."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.text import scripts, words
from memory_magic.text.stop_words import stop_words

HARD = (
    "\x00",
    "a\x00b",
    "\ud800",
    "x\udfff y",
    "\u202e",
    "\ufdd0",
    "\U0010ffff",
    "((((",
    '"',
    "*",
    "NEAR(",
    "…",
    "x" * 10_000,
    "缩" * 10_000,
    "a " * 5_000,
    "-" * 10_000,
)


def found_by(query: str, text: str) -> bool:
    """Tell whether a text has one of the terms that a query looks for."""
    held = words.terms(text)
    return any(
        any(term.startswith(wanted.removesuffix(words.TAIL)) for term in held)
        if wanted.endswith(words.TAIL)
        else wanted in held
        for wanted in words.query(query).wanted
    )


def is_clean(term: str) -> bool:
    """Tell whether a term is neither empty nor cut by white space, and FTS5 can take it."""
    return len(term.split()) == 1 and not any(unicodedata.category(char) in {"Cc", "Cs"} for char in term)


# -- words -----------------------------------------------------------------------------------------------------


def test_english_words_are_stemmed_and_folded() -> None:
    """Inflections and capitals of an English word give one term."""
    assert words.terms("Deploys deployed DEPLOYING deploy") == ["deploy"] * 4


@pytest.mark.parametrize(
    ("one", "other"),
    [("заметка", "заметки"), ("σημείωση", "σημειώσεις"), ("लड़का", "लड़के"), ("كتاب", "الكتاب")],
)
def test_scripts_with_a_stemmer_use_it(one: str, other: str) -> None:
    """Russian, Greek, Hindi and Arabic inflections give one term."""
    assert words.terms(one) == words.terms(other)


def test_a_script_without_stemmer_keeps_its_words() -> None:
    """Hebrew and Georgian words stay as they are."""
    assert words.terms("שלום გამარჯობა") == ["שלום", "გამარჯობა"]


def test_combining_marks_stay_with_their_letters() -> None:
    """A Hindi word is one term, marks included, and not cut at its vowel signs."""
    (term,) = words.terms("नमस्ते")
    assert term.startswith("नमस्")


@pytest.mark.parametrize("word", ["café", "impôt", "Ångström", "नमस्ते", "ガギグ", "한국어", "ёлка"])
def test_composed_and_decomposed_spelling_are_equal(word: str) -> None:
    """NFC and NFD give the same terms."""
    assert words.terms(unicodedata.normalize("NFC", word)) == words.terms(unicodedata.normalize("NFD", word))


@pytest.mark.parametrize(("plain", "written"), [("cafe", "café"), ("lodz", "Łódź"), ("hanoi", "Hànội")])
def test_a_word_without_diacritics_finds_the_one_with(plain: str, written: str) -> None:
    """A Latin word is also indexed without its diacritics, and the query with them finds the plain word."""
    assert found_by(plain, written)
    assert found_by(written, plain)


def test_the_plain_form_of_a_word_counts_half() -> None:
    """A query's word with diacritics weighs more than the same word without."""
    query = words.query("café")
    assert dict(zip(query.wanted, query.weights, strict=True)) == {"café": 1.0, "cafe": 0.5}


def test_compatibility_forms_are_equal() -> None:
    """Full-width letters, ligatures and half-width kana are what they stand for."""
    assert words.terms("ｆｉｌｅ ﬁle ｶﾅ") == words.terms("file file カナ")


# -- identifiers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "whole", "parts"),
    [
        ("gen-itgc", "gen-itgc", ["gen", "itgc"]),
        ("20.04", "20.04", ["20", "04"]),
        ("don't", "don't", ["don", "t"]),
        ("don’t", "don't", ["don", "t"]),
        ("Downloads/transcripts", "downloads/transcripts", ["download", "transcript"]),
        ("snake_case", "snake_case", ["snake", "case"]),
        ("camelCase", "camelcas", ["camel", "case"]),
        ("HTTPServer", "httpserver", ["http", "server"]),
        ("pre‑edit", "pre-edit", ["pre", "edit"]),
        ("--error-on-warnings", "error-on-warnings", ["error", "on", "warn"]),
        ("(~/.ssh/id_rsa),", "ssh/id_rsa", ["id_rsa", "ssh", "id", "rsa"]),
        ("1,000", "1,000", ["1000", "1", "000"]),
        ("user@example.org", "user@example.org", ["example.org", "user", "exampl", "org"]),
        ("C++", "c++", ["c"]),
        ("C#", "c#", ["c"]),
    ],
)
def test_joined_words_are_found_whole_and_by_part(text: str, whole: str, parts: list[str]) -> None:
    """An identifier, path, version or hyphenated word gives itself first and then its parts."""
    assert words.terms(text) == [whole, *parts]


def test_a_possessive_is_the_word() -> None:
    """Caroline's is found by Caroline, and the other way round."""
    assert words.query("Caroline's").wanted == words.query("Caroline").wanted


def test_ascii_inside_chinese_is_a_word_of_its_own() -> None:
    """An identifier glued to Chinese is found, and so is the Chinese around it."""
    held = words.terms("重跑gen-itgc后")
    assert {"重跑", "gen-itgc", "gen", "itgc"} <= set(held)
    assert found_by("itgc", "重跑gen-itgc后")
    assert found_by("后", "重跑gen-itgc后")


def test_symbols_are_terms_and_come_off_words() -> None:
    """An emoji is found, with or without variation selector, and a trademark sign hides no word."""
    assert found_by("❤", "I ❤\ufe0f tea")
    assert found_by("foo", "Foo™ is fine")
    assert words.terms("🇩🇪") == ["🇩", "🇪"]


def test_punctuation_alone_is_found_as_it_stands() -> None:
    """A chunk of nothing but punctuation is its own term, so that an arrow can be found."""
    assert words.terms("a -> b") == ["a", "->", "b"]
    assert words.query("->").wanted == ("->",)
    assert "->" not in words.query("a -> tree").wanted


def test_a_long_word_is_cut_alike_on_both_sides() -> None:
    """A word beyond the limit is found by itself."""
    assert found_by("y" * 5_000, f"see {'y' * 5_000} there")
    assert max(map(len, words.terms("y" * 5_000))) == words.LONGEST_TERM


# -- scripts without spaces ------------------------------------------------------------------------------------


def test_chinese_gives_overlapping_pairs_and_a_tail() -> None:
    """A Chinese run gives its pairs, and its last character as the beginning that it is."""
    assert words.terms("四空格") == ["四空", "空格", f"格{words.TAIL}"]


def test_thai_gives_overlapping_triples() -> None:
    """A Thai run gives its triples and the two shorter ends."""
    assert words.terms("กขคง") == ["กขค", "ขคง", f"คง{words.TAIL}", f"ง{words.TAIL}"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("设备", "请重启设备。"),
        ("悬空", "修复悬空指针"),
        ("缩进", "我习惯使用四空格缩进，部署只在周二进行"),
        ("周二", "我习惯使用四空格缩进，部署只在周二进行"),
        ("进", "我习惯使用四空格缩进，部署只在周二"),
        ("四", "我习惯使用四空格缩进"),
        ("サンドボックス", "サンドボックスで実行"),
        ("ビルド", "ビルドは夜に走る"),
        ("字幕", "動画の字幕"),
        ("한국", "한국어 메모"),
        ("กา", "กาแฟ"),
        ("แ", "กาแฟ"),
        ("ฟ", "กาแฟ"),
    ],
)
def test_every_piece_of_an_unspaced_text_is_found(query: str, text: str) -> None:
    """One, two and more characters find a text of a script without spaces, also at its very end."""
    assert found_by(query, text)


def test_a_query_has_no_tails_unless_it_is_one() -> None:
    """The end of a query's run is no wanted term; a run too short for a gram is the beginning of one."""
    assert words.query("缩进").wanted == ("缩进",)
    assert words.query("进").wanted == (f"进{words.TAIL}",)


def test_grams_share_the_weight_of_a_word() -> None:
    """Overlapping grams count by their share beside words."""
    assert words.query("缩进").weights == (0.5,)
    assert words.query("กขค").weights == (1 / 3,)
    assert words.query("itgc").weights == (1.0,)
    assert [words.gram_size(one) for one in ("缩进", "กขค", "word", "नम")] == [2, 3, 0, 0]


# -- queries ---------------------------------------------------------------------------------------------------


def test_a_query_leaves_stop_words_out() -> None:
    """A question looks for its content words only, and keeps all its words for the phrase."""
    query = words.query("What did the deploy break?")
    assert query.wanted == ("deploy", "break")
    assert query.words == ("what", "did", "the", "deploy", "break")
    assert not query.complete
    assert words.query("deploy break").complete


def test_stop_words_alone_are_looked_for() -> None:
    """A query of nothing but stop words falls back to them."""
    assert words.query("to be or not to be").wanted == ("to", "be", "or", "not")


def test_stop_words_of_another_language_need_company() -> None:
    """German articles go from a German question; in an English one "die" and "war" are nouns."""
    assert words.query("Was ist die Hauptstadt der Schweiz").wanted == ("hauptstadt", "schweiz")
    assert {"die", "war"} <= set(words.query("die cast war").wanted)
    assert "die" not in stop_words(["the", "die", "is", "cast"])


def test_joined_words_lose_their_stop_words() -> None:
    """Inside a hyphenated word the stop words are no wanted terms, the whole is."""
    assert words.query("state-of-the-art").wanted == ("state-of-the-art", "state", "art")


def test_a_very_long_query_keeps_its_longest_words() -> None:
    """Beyond the limit of distinct terms the longest stay, in their order."""
    text = " ".join([f"ab{number:03}" for number in range(300)] + ["extraordinarily"])
    query = words.query(text)
    assert len(query.wanted) == words.MOST_WANTED
    assert query.wanted[-1] == "extraordinarili"
    assert len(query.weights) == len(query.wanted)


def test_an_empty_query_wants_nothing() -> None:
    """Without any term nothing is wanted."""
    assert words.query(" \n\x00").wanted == ()


# -- what always holds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HARD)
def test_hard_texts_never_raise(text: str) -> None:
    """Control characters, lone surrogates, NUL, operators and 10 kB without a blank are taken."""
    assert all(is_clean(term) for term in words.terms(text))
    assert len(words.query(text).wanted) <= words.MOST_WANTED


@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_terms_are_clean_for_every_text(text: str) -> None:
    """No term is empty, holds white space or a control character, or cannot be written as UTF-8."""
    assert all(is_clean(term) for term in words.terms(text))


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_a_text_is_found_by_each_of_its_words(text: str) -> None:
    """Each white-space word of a text finds it, if the word has any term."""
    for word in text.split():
        if words.terms(word):
            assert found_by(word, text)


@given(st.text(max_size=40), st.text(max_size=40))
def test_terms_depend_on_nothing_but_the_chunk(one: str, other: str) -> None:
    """The terms of two texts joined by a blank are those of both: the cache cannot change them."""
    assert words.terms(f"{one} {other}") == words.terms(one) + words.terms(other)


def test_a_full_cache_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the cache is full it is emptied, and the terms stay the same."""
    monkeypatch.setattr(words, "_MOST_KEPT", 4)
    text = " ".join(f"número{number}" for number in range(50))
    assert words.terms(text) == words.terms(text)
    words.terms("one more")
    assert len(words._CHUNKS) <= 5


def test_importing_words_loads_no_stemmer() -> None:
    """Neither the import nor a text of numbers loads a stemmer; the first word loads its own language only."""
    script = (
        "import sys; from memory_magic.text import words\n"
        "loaded = lambda: sorted(m for m in sys.modules if 'stemmer' in m or 'snowball' in m)\n"
        "words.terms('42 缩进'); print(loaded()); words.terms('running'); print(loaded())"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    before, after = printed.splitlines()
    assert before == "[]"
    assert "english_stemmer" in after
    assert "russian" not in after
    assert "'snowballstemmer'" not in after


def test_a_missing_stemmer_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without snowballstemmer the error names the package."""
    monkeypatch.setattr(scripts, "find_spec", lambda _name: None)
    monkeypatch.delitem(sys.modules, scripts._PRIVATE_PACKAGE, raising=False)
    scripts._stemmer.cache_clear()
    with pytest.raises(ImportError, match="pip install snowballstemmer"):
        scripts._stemmer("english")
