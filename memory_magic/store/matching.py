"""Whether a note holds every word of a query, as substrings, after NFKC and case folding.

The plain rule that a scan can apply without an index. Pure.
"""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """Return *text* as it is compared."""
    return unicodedata.normalize("NFKC", text).casefold()


def matches(query: str, text: str) -> bool:
    """Tell whether every word of *query* is a part of *text*; a query without words matches nothing."""
    words = fold(query).split()
    folded = fold(text)
    return bool(words) and all(word in folded for word in words)
