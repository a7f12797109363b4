"""Writing systems: which are cut into overlapping grams, and which stemmer fits the words of the others.

Scripts that write without spaces have no words to cut at. Overlapping pairs do best for Chinese, Japanese and Korean,
overlapping triples for Thai and its relatives (XQuAD R@1: Chinese 0.940 with pairs, 0.917 with pairs and triples; Thai
0.940 with triples, 0.926 with pairs). For scripts with words a stemmer does better than the word as it stands
(English 0.946 against 0.925, Hindi 0.921 against 0.898).

A stemmer is loaded at first use, its own module alone: the package `snowballstemmer` imports all forty languages when
it is imported, which takes longer than the search, and hands out another library's stemmers where that one is
installed, whose words an index made without it would not hold. Values in, values out.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

# character classes for `re`, each a list of ranges
PAIRED: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b"  # radicals, repetition marks, numerals
    "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u3105-\u312f\u31a0-\u31bf\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"  # bopomofo, hangul
    "\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"  # Han, Yi
)
TRIPLED: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u0edc-\u0edf"  # Thai, Lao
    "\u0f00\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0fbc\u1000-\u103f\u1050-\u108f\u109a-\u109f"  # Tibetan, Myanmar
    "\u1780-\u17d3\u17d7\u17dc\u17dd\u1950-\u1974\u1980-\u19c9\u1a20-\u1a5e\u1a60-\u1a7c"  # Khmer, Tai scripts
    "\ua980-\ua9c0\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f\uaa80-\uaadf"  # Javanese, Tai Viet
)

# first code point after the script, language of its stemmer; a script without an own one has ""
_STEMMERS: Final = (
    (0x0041, ""),
    (0x02B0, "english"),
    (0x0370, ""),
    (0x0400, "greek"),
    (0x0530, "russian"),
    (0x0590, "armenian"),
    (0x0600, ""),
    (0x0780, "arabic"),
    (0x0900, ""),
    (0x0980, "hindi"),
    (0x0B80, ""),
    (0x0C00, "tamil"),
    (0x1E00, ""),
    (0x1F00, "english"),
    (0x2000, "greek"),
)
_PRIVATE_PACKAGE: Final = "memory_magic._snowball"


def _as_it_is(word: str) -> str:
    """Return *word*: its script has no stemmer."""
    return word


def stemmer_for(letter: str) -> Callable[[str], str]:
    """Return the function that stems case-folded words beginning with *letter*."""
    point = ord(letter)
    for end, language in _STEMMERS:
        if point < end:
            return _stemmer(language) if language else _as_it_is
    return _as_it_is


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    """Load the stemmer of *language* without its forty neighbours."""
    if _PRIVATE_PACKAGE not in sys.modules:
        found = find_spec("snowballstemmer")
        if found is None or found.submodule_search_locations is None:
            raise ImportError("snowballstemmer is missing: pip install snowballstemmer")
        package = ModuleType(_PRIVATE_PACKAGE)
        package.__path__ = list(found.submodule_search_locations)
        sys.modules[_PRIVATE_PACKAGE] = package
    module = import_module(f"{_PRIVATE_PACKAGE}.{language}_stemmer")
    stem: Callable[[str], str] = getattr(module, f"{language.capitalize()}Stemmer")().stemWord
    return stem
