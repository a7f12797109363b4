"""What the table of one language holds.

A cue says what a sentence is. The cue that stands first in the sentence decides; of two at one place, the earlier in
the table. Two kinds are weak: a *plan* ("we'll …") and an *adoption* ("adopting …", "adjusting … accordingly") are a
commitment and a decision by themselves, but details when they follow one. All patterns are searched without regard to
case.
"""

from __future__ import annotations

from dataclasses import dataclass

FACT = "fact"
DECISION = "decision"
COMMITMENT = "commitment"
PREFERENCE = "preference"
OPINION = "opinion"
PLAN = "plan"
ADOPTION = "adoption"

_NEVER = r"(?!)"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The patterns of one language.

    *quantity*: a number, date or duration; with a *verb* (where a language needs one to tell a statement from a
    heading) it makes a plain statement a fact, unless the *speaker* is its subject, it lies in the *future*, or a
    *passing* word says that it is true today only. *crowd*: a statement about people at large, never somebody's
    preference. *hedge*: says nothing of its own. *doubtful*: a condition, an offer, a question. *lead_in*: cut off
    the front. *motive*: cut off a commitment. *also*: continues a list of facts. *report*: what an assistant says
    about its own work of the moment. *ask*: the person wants it remembered. *lasting*: holds from now on, so no
    report of the moment. *small_words*: by which a language in Latin letters is known.
    """

    cues: tuple[tuple[str, str], ...]
    quantity: str
    verb: str = ""
    speaker: str = _NEVER
    future: str = _NEVER
    passing: str = _NEVER
    crowd: str = _NEVER
    hedge: str = _NEVER
    doubtful: str = _NEVER
    lead_in: str = _NEVER
    motive: str = _NEVER
    also: str = _NEVER
    report: str = _NEVER
    ask: str = _NEVER
    lasting: str = _NEVER
    small_words: str = ""


def one_of(*alternatives: str) -> str:
    """Join alternatives to one pattern."""
    return "|".join(alternatives)
