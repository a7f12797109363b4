"""What a model must answer in stage one, checked by ourselves whatever the provider promises, and made safe to keep.

The whole answer is one JSON object with exactly `raw_memory`, `rollout_summary` (texts) and `rollout_slug` (text or
null). Prose around it, a code fence, a key too many or too few, or a value of another type fail: a model that cannot
keep to three keys has not kept to the rules about what to keep either. Nothing of a bad answer is quoted in the error.

What passes is still an untrusted text: it is read as a person sees it, our own blocks, private spans and secrets are
cut out of it, and it is escaped so that it can forge no tag, heading or role line. A heading of `# Raw memory` is the
stage-one file's affair.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from memory_magic.pipeline.models_errors import ModelAnswerError
from memory_magic.pipeline.offline import Extraction
from memory_magic.text import fence, own_block, private
from memory_magic.text.invisible import visible
from memory_magic.text.redact import redact

LONGEST_ANSWER: Final = 1_000_000
"""Bytes of an answer's text: a hundred times what an output needs, and still nothing to a machine."""

SCHEMA_NAME: Final = "stage_one_output"
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "raw_memory": {"type": "string"},
        "rollout_summary": {"type": "string"},
        "rollout_slug": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["raw_memory", "rollout_summary", "rollout_slug"],
    "additionalProperties": False,
}
"""The contract as JSON Schema, in the strict form that OpenAI and Anthropic enforce."""


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    raw_memory: str
    rollout_summary: str
    rollout_slug: str | None


@dataclass(frozen=True, slots=True)
class Safe:
    """An answer that may be kept, and how many secrets of each kind were taken out of it."""

    extraction: Extraction
    redacted: dict[str, int]


_decoder = msgspec.json.Decoder(_Answer, strict=True)


def parse(text: str, *, where: str = "") -> Extraction:
    """Return what a model's answer says; raise `ModelAnswerError` for anything but the three keys."""
    if len(text) > LONGEST_ANSWER or len(data := text.encode("utf-8", "surrogatepass")) > LONGEST_ANSWER:
        raise ModelAnswerError(f"the model's answer is longer than {LONGEST_ANSWER:,} bytes", where=where)
    try:
        answer = _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        fault = _fault(data)
    else:
        return Extraction(answer.raw_memory, answer.rollout_summary, answer.rollout_slug)
    raise ModelAnswerError(f"the model's answer is not the JSON that was asked for: {fault}", where=where)


def safe(extraction: Extraction) -> Safe:
    """Return an answer without secrets, private spans, our own blocks and anything that could pass for structure.

    Either text empty means that nothing was worth keeping (codex), and then all three are empty.
    """
    kinds: Counter[str] = Counter()

    def wash(text: str) -> str:
        seen = own_block.cut(visible(text))
        result = redact(private.cut(seen) if "<" in seen else seen)
        kinds.update(result.kinds)
        return fence.escape_text(result.text.strip())

    raw, summary = wash(extraction.raw_memory), wash(extraction.rollout_summary)
    if not (raw and summary):
        return Safe(Extraction("", "", None), dict(sorted(kinds.items())))
    slug = wash(extraction.rollout_slug or "") or None
    return Safe(Extraction(raw, summary, slug), dict(sorted(kinds.items())))


def _fault(data: bytes) -> str:
    """Say in our own words what is wrong with an answer."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return "it is no JSON, or there is text around it"
    if not isinstance(value, dict):
        return "it is no object"
    wanted = SCHEMA["required"]
    if missing := [key for key in wanted if key not in value]:
        return f"{' and '.join(missing)} missing"
    extra = len(value.keys() - set(wanted))
    if extra:
        return f"{extra} key{'' if extra == 1 else 's'} that nobody asked for"
    wrong = [key for key in wanted if not isinstance(value[key], str)]
    return f"{' and '.join(wrong)} of another type"
