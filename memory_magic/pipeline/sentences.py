"""Prose of a turn as paragraphs of sentences, in any script; what is not prose is left out.

Fenced and indented code, tables, quotes of others, headings and lines that look like code or data are dropped first,
because a sentence that somebody pasted is nobody's statement. Soft-wrapped lines are joined; a list item is a
paragraph of its own. Every step is one linear pass.
"""

from __future__ import annotations

import re

from memory_magic.text.invisible import visible

LONGEST = 600  # characters; what runs on longer without a full stop is a dump, not a sentence
LONGEST_PARAGRAPH = 20_000  # characters; the same of a paragraph
_SYMBOL_SHARE = 5  # one character in five; a sentence that names a path or two stays below

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?=\S)")
_NOT_PROSE = re.compile(r"(?: {4}|\t| {0,3}(?:>|\||#{1,6}[ \t]|\$ |%|<[!/?a-zA-Z]|[-=_*]{3,}[ \t]*$))")
_TASK_BOX = re.compile(r"\[[ xX]\][ \t]+")
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.{1,300}?)(?<=\S)\1")

# an end mark with its closing quotes; CJK marks need no space after them
_END = re.compile(r"(?:[。！？｡]+[”’」』）)\"']*|(?:[.!?…]+|[।॥؟۔]+)[”’»)\]\"']*(?=\s))\s*")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|dr|mr|mrs|ms|prof|st|no|nr|fig|eq|sec|inc|ltd|jr|sr|al|z\.b|d\.h|bzw|ca|sra?|p\.ex)"
    r"|\b[A-Za-z])\.$",
    re.IGNORECASE,
)
_SYMBOL = re.compile(r"[{}\[\]()<>=;|\\/_\"$&*^~+#@]")
_WORD = re.compile(r"[^\W\d_].*[^\W\d_]")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")  # scripts that do not separate words


def paragraphs(text: str) -> list[list[str]]:
    """Return the sentences of each paragraph of prose, in order."""
    return [sentences for block in _blocks(text) if (sentences := split(block))]


def _blocks(text: str) -> list[str]:
    """Return the paragraphs and list items, each on one line."""
    blocks: list[list[str]] = [[]]
    fence = ""
    for line in re.split(r"\r\n|\n|\r", text):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
            blocks.append([])
        elif item := _LIST_ITEM.match(line):
            blocks.append([_TASK_BOX.sub("", line[item.end() :], count=1)])
        elif not line.strip() or _NOT_PROSE.match(line):
            if blocks[-1]:
                blocks.append([])
        else:
            blocks[-1].append(line)
    joined = (" ".join(line.strip() for line in block) for block in blocks if block)
    return [block for block in joined if len(block) <= LONGEST_PARAGRAPH]


def split(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph without those that look like code or data."""
    text = _EMPHASIS.sub(r"\2", " ".join(visible(paragraph).split()))
    found, start = [], 0
    for end in _END.finditer(text):
        candidate = text[start : end.end()].rstrip()
        following = text[end.end() : end.end() + 1]
        if candidate.endswith(".") and (following.islower() or _ABBREVIATION.search(candidate[-8:])):
            continue
        found.append(candidate)
        start = end.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence and _is_prose(sentence)]


def word_count(text: str) -> int:
    """Count words: runs between spaces, and for scripts that write none one word for two characters."""
    unspaced = 0 if text.isascii() else len(_UNSPACED.findall(text))
    return len(text.split()) + unspaced // 2


def _is_prose(sentence: str) -> bool:
    """Tell a sentence from a line of code, JSON or a dump."""
    if len(sentence) > LONGEST:
        return False
    return len(_SYMBOL.findall(sentence)) * _SYMBOL_SHARE < len(sentence) and _WORD.search(sentence) is not None
