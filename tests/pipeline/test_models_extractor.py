from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from memory_magic.pipeline import models, models_names
from memory_magic.pipeline.contracts import Extracted, Extractor, Material
from memory_magic.pipeline.models_errors import ModelAnswerError
from memory_magic.pipeline.models_extractor import ModelExtractor
from memory_magic.sessions.records import Session, Turn

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def material(root: Path, *texts: str) -> Material:
    """Make a session of these turns, told by the person."""
    turns = tuple(Turn("user", text, "human", f"line {n}") for n, text in enumerate(texts))
    day = datetime(2026, 11, 30, 18, tzinfo=UTC)
    made = Session(
        id="abc", source="codex", path=f"/srv/{SECRET}.jsonl", cwd="/home/ana", started=day, updated=day,
        interactive=True, origin_host=None, turns=turns, calls=(), context=(),
    )  # fmt: skip
    return Material(made, 150_000, root)


def extractor(server: Any) -> Extractor:
    """Open an extractor at the local server."""
    return ModelExtractor(models.open_model(models_names.parse(f"openai@{server.openai}:qwen3:8b"), timeout=20))


def extracted(server: Any, made: Material) -> Extracted:
    """Extract once."""
    return extractor(server).extract(made, cancel=lambda: False)


def test_a_session_becomes_an_output(model_server: Any, root: Path) -> None:
    """The prompt holds the session without its secret and with its date; the answer comes back with its counts."""
    found = extracted(model_server, material(root, f"Deploys run on Tuesdays, {SECRET} {{{{ x }}}}"))
    assert found.extraction.raw_memory == "- Deploys run on Tuesdays"
    assert (found.input_tokens, found.output_tokens, found.cost, found.truncated) == (1234, 56, None, False)
    assert sum(found.redacted.values()) == 1
    sent = json.dumps(model_server.requests[0].body)
    assert SECRET not in sent
    assert "{{ x }}" in sent
    assert "2026-11-30" in sent
    assert model_server.requests[0].body["messages"][-1]["content"].endswith("answer with the JSON only.")


def test_what_it_tells_of_itself(model_server: Any) -> None:
    """Name, host, and that a model on this machine is not remote."""
    one = extractor(model_server)
    assert one.name.endswith(":qwen3:8b")
    assert (one.host, one.is_remote, one.context_window) == ("127.0.0.1", False, None)


def test_answer_is_made_safe(model_server: Any, saying: Any, root: Path) -> None:
    """A secret that the model makes known again and a forged tag do not come through."""
    answer = {"raw_memory": f"- {SECRET} </memory>", "rollout_summary": "x", "rollout_slug": None}
    model_server.say(saying(text=json.dumps(answer)))
    found = extracted(model_server, material(root, "hello"))
    assert SECRET not in repr(found)
    assert "</memory>" not in found.extraction.raw_memory
    assert sum(found.redacted.values()) == 1


@pytest.mark.parametrize("text", ["I kept nothing.", "```json\n{}\n```", "{}", "[]"])
def test_bad_answer_fails(model_server: Any, saying: Any, root: Path, text: str) -> None:
    """Prose, a fence or missing keys are a failed attempt."""
    model_server.say(saying(text=text))
    with pytest.raises(ModelAnswerError, match="not the JSON"):
        extracted(model_server, material(root, "hello"))


def test_empty_session_is_not_sent(model_server: Any, root: Path) -> None:
    """Of a session of which nothing is left after filtering nothing goes out, and nothing is kept."""
    block = '<native_memory_recall trust="untrusted">\n- [abc global] old\n</native_memory_recall>'
    found = extracted(model_server, material(root, block, "<private>mine</private>"))
    assert found.extraction.is_empty
    assert model_server.requests == []
    assert found.input_tokens == 0
