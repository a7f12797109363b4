"""The product's own client against a real local server: good answers, bad answers, and everything a network does."""

from __future__ import annotations

import asyncio
import gzip
import json
import pickle
import subprocess
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from memory_magic.errors import MissingExtraError, SettingError
from memory_magic.pipeline import models, models_answer, models_names
from memory_magic.pipeline.models import Question, Reply
from memory_magic.pipeline.models_errors import (
    ModelAnswerError,
    ModelCancelledError,
    ModelError,
    ModelLimitError,
    ModelRefusedError,
    ModelServerError,
    ModelTimeoutError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from memory_magic.pipeline.models_limits import Limits

PROMPT = "the session says swordfish-7"
KEY = "sk-test-0123456789abcdefghijklmnop"
QUESTION = Question("be careful", PROMPT, schema=models_answer.SCHEMA, schema_name=models_answer.SCHEMA_NAME)

PROTOCOLS = pytest.mark.parametrize("text", ["openai:gpt-5-mini", "anthropic:claude-haiku-4-5"])


def environ(server: Any) -> dict[str, str]:
    """Name the local server as both providers' own, with keys."""
    return {
        "OPENAI_BASE_URL": server.openai,
        "OPENAI_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": server.anthropic,
        "ANTHROPIC_API_KEY": KEY,
    }


def opened(
    server: Any, text: str, *, timeout: float = 20, on_limits: Callable[[Limits], None] | None = None
) -> models.Model:
    """Open a model at the local server."""
    name = models_names.parse(text, environ=environ(server))
    return models.open_model(name, environ=environ(server), timeout=timeout, on_limits=on_limits)


def asked(server: Any, text: str = "openai:gpt-5-mini", **options: Any) -> Reply:
    """Ask the model once."""
    return opened(server, text, **options).ask(QUESTION)


def failure(server: Any, text: str = "openai:gpt-5-mini", **options: Any) -> ModelError:
    """Ask once, and return the error: it must hold neither prompt nor key nor the server's words, and chain nothing."""
    with pytest.raises(ModelError) as caught:
        asked(server, text, **options)
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value.__dict__)
    assert not any(secret in told for secret in ("swordfish", KEY, "SERVER-SAYS"))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return caught.value


@PROTOCOLS
def test_answer_with_tokens_and_cost(model_server: Any, text: str) -> None:
    """A good answer comes back with the server's token counts, a price, and parses."""
    reply = asked(model_server, text)
    assert (reply.input_tokens, reply.output_tokens) == (1234, 56)
    assert reply.cost is not None
    assert reply.cost > 0
    assert models_answer.parse(reply.text).rollout_slug == "deploys"


def test_what_is_sent_to_openai(model_server: Any) -> None:
    """System, user, low effort and the strict schema go out in OpenAI's form, with the key."""
    asked(model_server)
    request = model_server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert [message["content"] for message in request.body["messages"]] == ["be careful", PROMPT]
    assert request.body["reasoning_effort"] == "low"
    wanted = request.body["response_format"]["json_schema"]
    assert wanted["strict"] is True
    assert wanted["schema"]["required"] == ["raw_memory", "rollout_summary", "rollout_slug"]


def test_what_is_sent_to_anthropic(model_server: Any) -> None:
    """The schema goes out in Anthropic's form, and medium effort where the model takes one."""
    question = Question("be careful", PROMPT, effort="medium", schema=models_answer.SCHEMA)
    opened(model_server, "anthropic:claude-opus-5").ask(question)
    request = model_server.requests[0]
    assert request.path == "/v1/messages"
    assert request.body["output_config"]["effort"] == "medium"
    assert request.body["output_config"]["format"]["schema"]["additionalProperties"] is False
    assert request.body["max_tokens"] == models.ANSWER_TOKENS


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
def test_server_of_ones_own_gets_no_foreign_key(
    model_server: Any, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server named by its address gets no key, token or organisation that the environment holds for a provider."""
    for one in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(one, KEY)
    name = models_names.parse(f"{protocol}@{getattr(model_server, protocol)}:qwen3:8b")
    reply = models.open_model(name, timeout=20).ask(QUESTION)
    assert (reply.input_tokens, reply.cost) == (1234, None)
    assert model_server.requests[0].body["model"] == "qwen3:8b"
    assert not any(KEY in value for value in model_server.requests[0].headers.values())


@pytest.mark.parametrize("key", ["response_format", "reasoning_effort"])
def test_server_that_knows_no_schema_or_effort(model_server: Any, saying: Any, key: str) -> None:
    """A server that refuses schema or effort is asked once more without them."""
    model_server.say(saying(refuse_key=key))
    assert models_answer.parse(asked(model_server).text).raw_memory
    assert len(model_server.requests) == 2
    assert key not in model_server.requests[1].body


@PROTOCOLS
def test_rate_limit_with_retry_after(model_server: Any, saying: Any, text: str) -> None:
    """429 is an error of its own that carries how long the server asks to wait; it is not tried again here."""
    model_server.say(saying(status=429, headers={"Retry-After": "17"}, raw=b'{"error": {"message": "SERVER-SAYS"}}'))
    error = failure(model_server, text)
    assert isinstance(error, ModelLimitError)
    assert error.retry_after == 17
    assert "17 seconds" in str(error)
    assert len(model_server.requests) == 1


@PROTOCOLS
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, ModelRefusedError),
        (403, ModelRefusedError),
        (404, ModelRefusedError),
        (400, ModelRefusedError),
        (500, ModelServerError),
        (503, ModelServerError),
        (529, ModelServerError),
    ],
)
def test_failing_status(model_server: Any, saying: Any, text: str, status: int, kind: type[ModelError]) -> None:
    """Each failing status is an error of its kind, and the server's words, prompt and key stay out of it."""
    words = f"SERVER-SAYS you sent {PROMPT} with {KEY}"
    model_server.say(saying(status=status, raw=json.dumps({"error": {"message": words, "type": "x"}}).encode()))
    error = failure(model_server, text)
    assert type(error) is kind
    assert f"status {status}" in str(error)


def test_session_that_is_too_long_for_the_model(model_server: Any, saying: Any) -> None:
    """A server's 'context length exceeded' says which setting to make smaller, and is asked once only."""
    body = {"error": {"message": "maximum context length is 8192", "type": "x", "code": "context_length_exceeded"}}
    model_server.say(saying(status=400, raw=json.dumps(body).encode()))
    error = failure(model_server)
    assert isinstance(error, ModelRefusedError)
    assert "stage_one_token_limit" in str(error)
    assert len(model_server.requests) == 1


@PROTOCOLS
def test_hanging_server(model_server: Any, saying: Any, text: str) -> None:
    """A server that never answers is given up after the time-out."""
    model_server.say(saying(hang=True))
    begin = time.monotonic()
    assert isinstance(failure(model_server, text, timeout=0.5), ModelTimeoutError)
    assert time.monotonic() - begin < 5


@PROTOCOLS
@pytest.mark.parametrize("after", [0, 40])
def test_dropped_connection(model_server: Any, saying: Any, text: str, after: int) -> None:
    """A connection that breaks before or within the body is an error of the server."""
    model_server.say(saying(drop_after=after))
    assert isinstance(failure(model_server, text), ModelServerError)


def test_no_server(model_server: Any) -> None:
    """A server that does not run is named, with what to do."""
    name = models_names.parse("openai@http://127.0.0.1:9/v1:x")
    with pytest.raises(ModelServerError, match=r"127\.0\.0\.1 failed or was dropped.*Check that the server runs"):
        models.open_model(name, timeout=5).ask(QUESTION)


@PROTOCOLS
def test_ten_megabytes(model_server: Any, saying: Any, text: str) -> None:
    """A reply of 10 MB is not read to its end."""
    model_server.say(saying(text="x" * 10_000_000))
    error = failure(model_server, text)
    assert isinstance(error, ModelAnswerError)
    assert "longer" in str(error)


def test_compressed_bomb(model_server: Any, saying: Any) -> None:
    """A compressed reply, which nobody asked for, is not unpacked."""
    model_server.say(saying(raw=gzip.compress(b" " * 50_000_000), headers={"Content-Encoding": "gzip"}))
    assert isinstance(failure(model_server), ModelAnswerError)


@PROTOCOLS
def test_reply_of_another_protocol(model_server: Any, saying: Any, text: str) -> None:
    """A web page in place of a reply is an error without the page in it."""
    model_server.say(saying(raw=f"<html>SERVER-SAYS {PROMPT}</html>".encode()))
    assert isinstance(failure(model_server, text), ModelError)


@pytest.mark.parametrize(
    ("text", "finish"), [("openai:gpt-5-mini", "length"), ("anthropic:claude-haiku-4-5", "max_tokens")]
)
def test_answer_cut_off(model_server: Any, saying: Any, text: str, finish: str) -> None:
    """An answer that reached its limit of tokens is told as such."""
    model_server.say(saying(text='{"raw_mem', finish=finish))
    error = failure(model_server, text)
    assert isinstance(error, ModelAnswerError)
    assert "cut off" in str(error)


def test_redirect_is_not_followed(model_server: Any, saying: Any) -> None:
    """A session is not carried on to where a redirect points."""
    model_server.say(saying(status=307, headers={"Location": f"{model_server.openai}/elsewhere"}, raw=b""))
    failure(model_server)
    assert len(model_server.requests) == 1


def test_cancel(model_server: Any, saying: Any) -> None:
    """A question that is taken back ends at once."""
    model_server.say(saying(hang=True))
    begin = time.monotonic()
    with pytest.raises(ModelCancelledError):
        opened(model_server, "openai:gpt-5-mini").ask(QUESTION, cancel=model_server.arrived.is_set)
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    ("headers", "percent"),
    [
        ({"x-ratelimit-limit-tokens": "1000", "x-ratelimit-remaining-tokens": "100"}, 10),
        ({"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "20"}, 40),
    ],
)
@pytest.mark.parametrize("status", [200, 429])
def test_limits_of_every_response(
    model_server: Any, saying: Any, headers: dict[str, str], percent: float, status: int
) -> None:
    """What a response tells of rate limits is handed on, when the request failed, too."""
    found: list[Limits] = []
    model_server.say(saying(status=status, headers=headers))
    if status == 200:
        asked(model_server, on_limits=found.append)
    else:
        failure(model_server, on_limits=found.append)
    assert [window.percent for window in found[0].windows] == [percent]
    assert found[0].host == "127.0.0.1"


def test_several_threads_at_once(model_server: Any) -> None:
    """One opened model answers eight threads."""
    model, replies = opened(model_server, "openai:gpt-5-mini"), list[Reply]()
    threads = [threading.Thread(target=lambda: replies.append(model.ask(QUESTION))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(replies) == 8


def test_inside_a_running_loop(model_server: Any, saying: Any) -> None:
    """A notebook, whose loop already runs, asks the same way, and gets the same errors."""

    async def cell() -> Reply:
        """Ask as a notebook cell does, inside a running loop."""
        return asked(model_server)

    assert asyncio.run(cell()).output_tokens == 56
    model_server.say(saying(status=500))

    async def failing() -> Reply:
        """Ask for what fails."""
        return asked(model_server)

    with pytest.raises(ModelServerError):
        asyncio.run(failing())


def test_missing_packages(monkeypatch: pytest.MonkeyPatch, model_server: Any) -> None:
    """Without the client's packages one line says what to install."""
    monkeypatch.setitem(sys.modules, "pydantic_ai.models.openai", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'memory-magic\[models\]'"):
        opened(model_server, "openai:gpt-5-mini")


def test_missing_key(model_server: Any) -> None:
    """A remote model without its key names the variable and the way back to the rules."""
    with pytest.raises(SettingError, match=r"OPENAI_API_KEY.*config set extract_model offline"):
        models.open_model(models_names.parse("openai:gpt-5-mini", setting="extract_model", environ={}), environ={})


def test_rules_are_no_model() -> None:
    """Nobody can open the offline rules as a model."""
    with pytest.raises(ValueError, match="no model"):
        models.open_model(models_names.parse("offline"))


def test_windows_and_prices() -> None:
    """The window and the price to expect come from the installed list; what it does not know is None."""
    known = models_names.parse("openai:gpt-4o", environ={})
    strange = models_names.parse("openai@http://localhost:1/v1:gpt-4o", environ={})
    assert models.context_window(known) == 128_000
    assert models.context_window(strange) is None
    price = models.expected_cost(known, 1_000_000, 0)
    assert price is not None
    assert price > 0
    assert models.expected_cost(strange, 1, 1) is None
    assert models.expected_cost(models_names.parse(""), 1, 1) == 0


def test_error_travels_between_processes() -> None:
    """An error keeps all its parts when it is pickled."""
    error = pickle.loads(pickle.dumps(ModelLimitError("full", where="x", hint="wait", retry_after=3.5)))  # noqa: S301
    assert (type(error), error.what, error.where, error.hint, error.retry_after) == (
        ModelLimitError, "full", "x", "wait", 3.5,
    )  # fmt: skip


def test_names_need_no_client() -> None:
    """To tell which model is meant, and whether it is remote, loads no client."""
    code = (
        "import sys; from memory_magic.pipeline import models, models_names, models_limits;"
        "models_names.parse('openai:x', environ={}).remote;"
        "print([n for n in ('pydantic_ai', 'openai', 'anthropic', 'httpx2', 'genai_prices') if n in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert told.strip() == "[]"
