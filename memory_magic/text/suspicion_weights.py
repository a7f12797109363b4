"""Weigh the words of a note: what no rule foresaw is marked when enough of its words speak for an attack.

Each class of words (`suspicion_words`) has a weight; the classes that occur in two neighbouring sentences are added
up, with how many words are of no class and how many words there are. The weights are those of a logistic regression,
fitted by `tests/text/fit_suspicion.py` on tests/data/suspicion_dev.jsonl; a sum above `THRESHOLD` marks the note.
Pure and linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memory_magic.text.suspicion_rules import EXFILTRATION, ORIGIN, OVERRIDE, ROLE, STANDING

if TYPE_CHECKING:
    from collections.abc import Iterator

WEIGHTS: Final[dict[str, int]] = {
    "!": 76, "#": -140, "%": 129, "&": 33, "*0": -84, "*1": -46, "*2": 27, "*3": 15, "0": -94, "2": 22, "9": -126,
    ":": 143, "?0": 137, "?1": 52, "?2": -65, "?3": -113, "?4": -98, "@": -58, "A": 61, "B": 57, "C": 186, "D": 150,
    "E": 122, "F": 47, "G": 116, "H": 118, "I": 194, "J": 245, "K": 147, "L": 188, "M": 51, "N": -85, "O": 137,
    "P": -65, "Q": 34, "R": 44, "S": 66, "T": -28, "U": 134, "V": 180, "W": 76, "X": 13, "Y": 110, "Z": 172,
    "a": 27, "c": 38, "d": -16, "e": 94, "f": -93, "g": -11, "h": -83, "i": 74, "j": 167, "k": -15, "l": 60,
    "m": 26, "n": -15, "o": 91, "p": -88, "q": 266, "r": 77, "s": -115, "t": -28, "u": 104, "v": 88, "w": 77,
    "x": 18, "y": 127, "z": 50, "§": -118, "Þ": 37, "Č": 82, "ď": 25, "Ģ": 24, "ĵ": 41, "Ř": 74, "Ť": 60, "Ŧ": 65,
    "ů": 11, "ƥ": 63, "Λ": 35, "Ξ": 111, "Φ": 26, "α": 60, "ε": 31, "ζ": 79, "η": 71, "θ": 83, "κ": 48, "λ": -4,
    "μ": -17, "ξ": 90, "π": 179, "ρ": 42, "ς": 1, "σ": 43, "τ": 9, "υ": -47, "φ": -36, "χ": 18, "ψ": 68, "ω": 31,
    "Ḃ": 112, "ṡ": -33, "": -198,
}  # fmt: skip
"""Hundredths. `?0` to `?4`: words of no class in quarters; `*0` to `*3`: words in fives."""

THRESHOLD: Final = 75
_KINDS: Final = {
    OVERRIDE: "VvoPpIrπSTE!nŦ",
    ROLE: "wyqtŤJjĵ",
    EXFILTRATION: "XξRŘρKs%OUeλκχHωφυ",
    STANDING: "MkμBḂbzZζηGĢgQςΦWΩΛαψτσďεmuN",
    ORIGIN: "FfcCČÞLΞlxṡ",
}


def weighed(codes: str) -> str:
    """Return the reason that most of the weight of *codes* speaks for, or an empty text when it is too light."""
    for window in windows(codes):
        found = features(window)
        if sum(WEIGHTS.get(one, 0) for one in found) + WEIGHTS.get("", 0) > THRESHOLD:
            return max(
                _KINDS, key=lambda kind: sum(max(WEIGHTS.get(one, 0), 0) for one in found if one in _KINDS[kind])
            )
    return ""


def windows(codes: str) -> Iterator[str]:
    """Yield each sentence of *codes* with the one that follows."""
    sentences = [sentence for sentence in codes.split(".") if sentence]
    for at, sentence in enumerate(sentences):
        yield sentence + "".join(sentences[at + 1 : at + 2])


def features(window: str) -> set[str]:
    """Return the classes of *window*, and how much of it is of no class, and its length."""
    words = len(window) - window.count(",") - window.count(":")
    unknown = window.count("_") + window.count("#") + window.count("§")
    return (set(window) - {"_", ","}) | {f"?{4 * unknown // max(words, 1)}", f"*{min(words // 5, 3)}"}
