"""The extractor that needs no model: rules select sentences of a session and say what kind each is.

Only what the person and the assistant said themselves is looked at, never a tool's output, and not when the assistant
repeats one: a sentence that stands in a tool's output is that tool's, and one whose words come from a memory tool's
answer is our own recall (learning it again would let memory feed itself). Of each paragraph the sentences are taken
in order:

- a question, a condition, an offer or a report of work in progress is passed over;
- a cue of the language's table (`pipeline.cues`) makes a fact, decision, commitment, preference or opinion;
- without a cue, a statement with a number, a date or a duration is a fact;
- what follows an opinion without a cue of its own is its reason and stays with it; a plan that follows a decision or a
  commitment is its detail and stays with it, unless it says what is to be done today.

So the result is a pure function of the session. It quotes and never rephrases, except that a lead-in ("Honestly, …")
and a commitment's motive ("… so they can plan") are cut off. The session must have been through `render.clean`
before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from memory_magic.pipeline.cues import found, lexicon_of, without
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
from memory_magic.pipeline.render import is_memory_tool
from memory_magic.pipeline.sentences import paragraphs, word_count
from memory_magic.sessions.records import ASSISTANT
from memory_magic.text.redact import MARKER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memory_magic.sessions.records import Session, Turn

MODEL = "offline"
KINDS = (FACT, DECISION, COMMITMENT, PREFERENCE, OPINION)

MOST_MEMORIES = 100  # of one session, the last ones: later words correct earlier ones
PASTED = 6000  # characters; in a longer turn of a person plain statements are somebody else's text
LONGEST_OPINION = 400  # characters with its reasons
_REQUESTS_SHOWN = 12
_REQUEST_LENGTH = 160
_FEWEST_WORDS = 3
_FEWEST_WORDS_OF_A_FACT = 5
_RECALLED = 0.75  # share of a sentence's words that a recalled text must hold
_QUESTION = ("?", "？", "؟")
_CLAUSE = re.compile(r"\s*[,;，；、]\s*|\s+(?:and|but|y|et|und|и|और)\s+")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Memory:
    """One sentence worth keeping: its *kind*, its words, and the turn it comes from."""

    kind: str
    text: str
    turn: Turn


@dataclass(frozen=True, slots=True)
class Extraction:
    """What stage one makes of a session; all empty when nothing was worth keeping."""

    raw_memory: str
    rollout_summary: str
    rollout_slug: str | None

    @property
    def is_empty(self) -> bool:
        """Tell a success without output: either text missing (codex' rule)."""
        return not (self.raw_memory.strip() and self.rollout_summary.strip())


def extract(session: Session) -> Extraction:
    """Return raw memory, summary and slug of a cleaned session."""
    kept = memories(session)
    if not kept:
        return Extraction("", "", None)
    return Extraction(_raw_memory(kept), _summary(session), kept[0].text)


def memories(session: Session) -> list[Memory]:
    """Return the memories of a cleaned session in the order of its turns, each text once, at its last place."""
    echoes = _Echoes(session)
    kept: dict[str, Memory] = {}
    for turn in session.turns:
        said_by_assistant = turn.role == ASSISTANT
        for kind, text in select(turn.text, assistant=said_by_assistant):
            if said_by_assistant and echoes.holds(text):
                continue
            key = " ".join(text.casefold().split())
            kept.pop(key, None)
            kept[key] = Memory(kind, text, turn)
    return list(kept.values())[-MOST_MEMORIES:]


def select(text: str, *, assistant: bool = False) -> list[tuple[str, str]]:
    """Return (kind, words) of each memory in one turn's text."""
    lexicon = lexicon_of(text)
    reader = _Reader(lexicon, assistant=assistant, pasted=len(text) > PASTED)
    return [memory for sentences in paragraphs(text) for memory in reader.read(sentences)]


@dataclass(slots=True)
class _Draft:
    """A memory that the sentences after it may still complete."""

    kind: str
    sentences: list[str]

    def add(self, sentence: str) -> None:
        """Add a reason or a detail, as long as the whole stays short."""
        if sum(map(len, self.sentences)) + len(sentence) <= LONGEST_OPINION:
            self.sentences.append(sentence)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads paragraphs of one turn with one language's table."""

    lexicon: Lexicon
    assistant: bool
    pasted: bool

    def read(self, sentences: Iterable[str]) -> list[tuple[str, str]]:
        """Return the memories of one paragraph."""
        drafts: list[_Draft] = []
        for sentence in map(self._without_secret, sentences):
            if self._is_worth_a_look(sentence):
                self._take(sentence, drafts)
        return [(draft.kind, self._worded(draft)) for draft in drafts]

    def _is_worth_a_look(self, sentence: str) -> bool:
        """Pass over questions, conditions, hedges and reports of the moment."""
        lexicon = self.lexicon
        return not (
            word_count(sentence) < _FEWEST_WORDS
            or sentence.endswith(_QUESTION)
            or found(lexicon.hedge, sentence)
            or found(lexicon.doubtful, sentence)
            or (self.assistant and found(lexicon.report, sentence) and not found(lexicon.lasting, sentence))
        )

    def _take(self, sentence: str, drafts: list[_Draft]) -> None:
        """Begin a memory with a sentence, add it to the last one, or leave it."""
        last = drafts[-1] if drafts else None
        kind = self._cue(sentence)
        if last and last.kind == OPINION and kind in {None, FACT, PLAN, OPINION}:
            last.add(sentence)
        elif last and last.kind in {DECISION, COMMITMENT} and kind in {PLAN, ADOPTION}:
            if not found(self.lexicon.passing, sentence):
                last.add(sentence)
        elif kind := self._settled(kind, sentence, last):
            drafts.append(_Draft(kind, [sentence]))

    def _settled(self, kind: str | None, sentence: str, last: _Draft | None) -> str | None:
        """Say what a sentence is that stands for itself."""
        if kind == PREFERENCE and found(self.lexicon.passing, sentence):
            return None
        if kind is not None:
            return {PLAN: COMMITMENT, ADOPTION: DECISION}.get(kind, kind)
        continues = last is not None and last.kind == FACT and found(self.lexicon.also, sentence)
        asked = not self.assistant and found(self.lexicon.ask, sentence)
        return FACT if continues or asked or self._is_plain_fact(sentence) else None

    def _cue(self, sentence: str) -> str | None:
        """Return the kind whose cue stands first in a sentence, if possible behind its lead-in."""
        bare = without(self.lexicon.lead_in, sentence)
        return self._first_cue(bare) or (self._first_cue(sentence) if bare != sentence else None)

    def _first_cue(self, sentence: str) -> str | None:
        hits = ((hit.start(), kind) for kind, cue in self.lexicon.cues if (hit := found(cue, sentence)))
        _, kind = min(hits, key=lambda hit: hit[0], default=(0, None))
        return None if kind == PREFERENCE and found(self.lexicon.crowd, sentence) else kind

    def _is_plain_fact(self, sentence: str) -> bool:
        """Tell a statement that can be looked up later."""
        lexicon = self.lexicon
        return (
            not self.pasted
            and word_count(sentence) >= _FEWEST_WORDS_OF_A_FACT
            and bool(found(lexicon.quantity, sentence) and found(lexicon.verb, sentence))
            and not any(found(cue, sentence) for cue in (lexicon.speaker, lexicon.passing, lexicon.future))
        )

    def _without_secret(self, sentence: str) -> str:
        """Of a sentence that held a secret keep the clause that says something without it."""
        if MARKER not in sentence:
            return sentence
        clauses = (clause for clause in _CLAUSE.split(sentence) if MARKER not in clause)
        return next((clause for clause in clauses if self._cue(clause)), "")

    def _worded(self, draft: _Draft) -> str:
        """Return the memory's words without lead-in and motive."""
        text = without(self.lexicon.lead_in, " ".join(draft.sentences))
        if draft.kind == COMMITMENT:
            text = without(self.lexicon.motive, text)
        return text[:1].upper() + text[1:]


class _Echoes:
    """What tools said in a session, to know it when the assistant repeats it."""

    def __init__(self, session: Session) -> None:
        """Take the session; its outputs are looked at when the first sentence is asked about."""
        self._session = session

    @cached_property
    def _quoted(self) -> list[str]:
        return ["".join(call.output.split()) for call in self._session.calls if call.output]

    @cached_property
    def _recalled(self) -> list[frozenset[str]]:
        answers = (call.output for call in self._session.calls if call.output and is_memory_tool(call.name))
        return [stems for answer in answers for line in _recalled_lines(answer) if (stems := _stems(line))]

    def holds(self, sentence: str) -> bool:
        """Tell whether a tool said this, word for word, or a memory tool in much the same words."""
        squeezed = "".join(sentence.split())
        if any(squeezed.rstrip(".!") in output for output in self._quoted):
            return True
        stems = _stems(sentence)
        return any(len(stems & recalled) >= _RECALLED * len(stems) for recalled in self._recalled)


def _recalled_lines(output: str) -> list[str]:
    """Return the single memories of a memory tool's answer, whether it came as text or as JSON."""
    return re.split(r"\n|\\+n|\\*\"\s*[,}]", output)


def _stems(text: str) -> frozenset[str]:
    """Return the first four letters of each word; of scripts without spaces, each pair of characters."""
    stems: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if word_count(word) > 1:
            stems.update(word[at : at + 2] for at in range(len(word) - 1))
        else:
            stems.add(word[:4])
    return frozenset(stems)


def _raw_memory(kept: list[Memory]) -> str:
    """Lay the memories out as lists, one for each turn that gave any."""
    parts = ["Chosen by rules, not by a model, from what the person and the assistant said."]
    turn: Turn | None = None
    for memory in kept:
        if memory.turn is not turn:
            turn = memory.turn
            day = f", {turn.time:%Y-%m-%d}" if turn.time else ""
            parts.append(f"\n## {turn.role}, {turn.ref}{day}\n")
        parts.append(f"- {memory.kind}: {memory.text}")
    return "\n".join(parts)


def _summary(session: Session) -> str:
    """Say in a few lines what the session was about: what the person asked for, and what ran."""
    requests = [line for turn in session.turns if turn.role != ASSISTANT and (line := _first_line(turn.text))]
    answers = sum(turn.role == ASSISTANT for turn in session.turns)
    names = sorted({call.name for call in session.calls})
    tools = f", {_count(len(session.calls), 'tool call')} ({', '.join(names[:5])})" if names else ""
    lines = [f"{_count(len(requests), 'request')}, {_count(answers, 'answer')}{tools}.", ""]
    lines += (f"- {request}" for request in requests[:_REQUESTS_SHOWN])
    if len(requests) > _REQUESTS_SHOWN:
        lines.append(f"- ({len(requests) - _REQUESTS_SHOWN} later requests are not listed)")
    return "\n".join(lines)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _first_line(text: str) -> str:
    """Return the beginning of a request on one line."""
    line = " ".join(text[: _REQUEST_LENGTH * 4].split())
    return line if len(line) <= _REQUEST_LENGTH else f"{line[:_REQUEST_LENGTH].rstrip()}…"
