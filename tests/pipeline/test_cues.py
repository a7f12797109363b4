"""The tables of cues: which language a text is in, and that every pattern is sound."""

from __future__ import annotations

import re

import pytest

from memory_magic.pipeline.cues import lexicon_of
from memory_magic.pipeline.cues.arabic import ARABIC
from memory_magic.pipeline.cues.asian import CHINESE, HINDI, JAPANESE, KOREAN
from memory_magic.pipeline.cues.english import ENGLISH
from memory_magic.pipeline.cues.european import FRENCH, GERMAN, ITALIAN, PORTUGUESE, RUSSIAN, SPANISH
from memory_magic.pipeline.cues.lexicon import (
    ADOPTION,
    COMMITMENT,
    DECISION,
    FACT,
    OPINION,
    PLAN,
    PREFERENCE,
    Lexicon,
)

ALL = (
    ARABIC, CHINESE, ENGLISH, FRENCH, GERMAN, HINDI, ITALIAN, JAPANESE, KOREAN, PORTUGUESE, RUSSIAN, SPANISH,
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "lexicon"),
    [
        ("We decided to use tabs in the project.", ENGLISH),
        ("", ENGLISH),
        ("12345 !!", ENGLISH),
        ("我们决定用 polars 代替 pandas", CHINESE),
        ("हमने index के लिए B-tree चुना", HINDI),
        ("日本語で答えて。RUN: `echo 深色模式; uname -a`", JAPANESE),
        ("우리는 polars를 쓰기로 결정했다", KOREAN),
        ("Мы решили использовать polars", RUSSIAN),
        ("قررنا استخدام polars", ARABIC),
        ("Decidimos usar polars en el proyecto para los datos", SPANISH),
        ("Nous avons décidé de passer à polars pour le projet", FRENCH),
        ("Wir haben uns für polars entschieden und nicht für pandas", GERMAN),
        ("Decidimos não usar pandas para os dados do projeto em uma base", PORTUGUESE),
        ("Abbiamo deciso di usare polars per il progetto e non pandas", ITALIAN),
    ],
)
def test_a_language_is_known_by_script_or_small_words(text: str, lexicon: Lexicon) -> None:
    """A text in one language is read with the table of that language."""
    assert lexicon_of(text) is lexicon


def test_a_few_foreign_words_do_not_change_the_language() -> None:
    """One Chinese term in an English sentence leaves it English."""
    assert lexicon_of("Please keep 深色模式 as the name of the dark mode in all of the menus") is ENGLISH


@pytest.mark.parametrize("lexicon", ALL)
def test_each_table_has_the_five_kinds_and_patterns_that_compile(lexicon: Lexicon) -> None:
    """No language lacks a kind, and no pattern matches the empty text, which would make everything a memory."""
    kinds = [kind for kind, _ in lexicon.cues]
    assert set(kinds) - {PLAN, ADOPTION} == {FACT, DECISION, COMMITMENT, PREFERENCE, OPINION}
    patterns = [cue for _, cue in lexicon.cues]
    patterns += [lexicon.quantity, lexicon.speaker, lexicon.future, lexicon.passing, lexicon.crowd, lexicon.hedge]
    patterns += [lexicon.doubtful, lexicon.lead_in, lexicon.motive, lexicon.also, lexicon.report, lexicon.ask]
    assert [pattern for pattern in patterns if re.compile(pattern).search("")] == []
