"""Models behind one small protocol: a question goes out, a reply with its tokens and its price comes back.

    name = models_names.for_role(DEFAULT, settings)         which model, where, local or remote: no client needed
    model = open_model(name, on_limits=keep)                needs the `models` extra, MissingExtraError says so
    reply = model.ask(Question(system, user, ...), cancel=stop.is_set)

`ask` blocks, may be called from several threads at once, and from inside a running event loop (a notebook's). It makes
one request; trying again is the job queue's affair. The one exception: a server that refuses the strict schema or
the effort is asked once more without them, because our own check of the answer does not depend on either.

Whatever goes wrong is a `ModelError` (models_errors) with neither prompt, answer, key nor the server's words in it, and
with nothing chained to it. Costs come from the price list that is installed with the client, without a network; what a
server costs that the list does not know is None, which means unknown and not nothing.
"""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from memory_magic.errors import MissingExtraError
from memory_magic.pipeline.models_errors import (
    ModelAnswerError,
    ModelCancelledError,
    ModelError,
    ModelTimeoutError,
)
from memory_magic.pipeline.models_names import ANTHROPIC, ModelName

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model as ClientModel
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings as ClientSettings

    from memory_magic.pipeline.models_limits import Limits
    from memory_magic.pipeline.models_wire import Wire

TIMEOUT_SECONDS: Final = 600.0
"""For one whole answer: what both providers' own clients wait."""

ANSWER_TOKENS: Final = 16_000
"""Most tokens of an answer, thinking included; below what Anthropic sends without streaming."""

_CANCEL_POLL_SECONDS = 0.1
_HINT_EXTRA = "install them with: pip install 'memory-magic[models]'"


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked; *schema* (JSON Schema of an object, named *schema_name*) goes out where it is known."""

    system: str
    user: str
    effort: str = "low"
    schema: Mapping[str, Any] | None = None
    schema_name: str = "answer"
    answer_tokens: int = ANSWER_TOKENS


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: tokens as the server counted them (0 when it does not say), *cost* in US dollars or None."""

    text: str
    input_tokens: int
    output_tokens: int
    cost: float | None
    seconds: float


class Model(Protocol):
    """Anything that can be asked."""

    @property
    def name(self) -> ModelName:
        """Return what the setting says about it."""

    @property
    def context_window(self) -> int | None:
        """Return the window in tokens, None when it is not known."""

    def ask(self, question: Question, *, cancel: Callable[[], bool] | None = None) -> Reply:
        """Return the reply, or raise a `ModelError`; *cancel* is polled ten times a second."""


def open_model(
    name: ModelName,
    *,
    on_limits: Callable[[Limits], None] | None = None,
    timeout: float = TIMEOUT_SECONDS,
    environ: Mapping[str, str] | None = None,
) -> Model:
    """Return the model that *name* names.

    *on_limits* is called with what each response tells of rate limits, in the thread that asks. Raises
    `MissingExtraError` without the client's packages, `SettingError` without a key, `ValueError` for the offline rules.
    """
    if name.is_offline:
        raise ValueError("the offline rules are no model")
    check_installed()
    key = name.key() if environ is None else name.key(environ)
    return _Client(name, key, on_limits, timeout)


def check_installed() -> None:
    """Raise `MissingExtraError` when the packages that talk to models are not installed."""
    try:
        import pydantic_ai.direct
        import pydantic_ai.models.anthropic
        import pydantic_ai.models.openai  # noqa: F401
    except ImportError as error:
        missing = error.name or "pydantic-ai-slim"
    else:
        return
    raise MissingExtraError(f"asking a model needs packages that are not installed ({missing})", hint=_HINT_EXTRA)


def context_window(name: ModelName) -> int | None:
    """Return the tokens that a model reads at once, None when the installed price list does not know it."""
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return None
    provider, url = (None, name.base_url) if name.stated else (name.protocol, None)
    try:
        _, info = get_snapshot().find_provider_model(name.name, None, provider, url)
    except LookupError:
        return None
    return info.context_window


def expected_cost(name: ModelName, input_tokens: int, output_tokens: int) -> float | None:
    """Return the price in US dollars of so many tokens; None when it is not known."""
    if name.is_offline:
        return 0.0
    try:
        from genai_prices import Usage
    except ImportError:
        return None
    return _price(name, Usage(input_tokens=input_tokens, output_tokens=output_tokens))


def _price(name: ModelName, usage: object) -> float | None:
    """Return what a *usage*, cached tokens told apart, costs in US dollars."""
    from genai_prices import calc_price

    try:
        if name.stated:
            return float(calc_price(usage, name.name, provider_api_url=name.base_url).total_price)
        return float(calc_price(usage, name.name, provider_id=name.protocol).total_price)
    except (LookupError, ValueError):
        return None


class _Client:
    """A model that pydantic-ai's client asks."""

    def __init__(
        self, name: ModelName, key: str | None, on_limits: Callable[[Limits], None] | None, timeout: float
    ) -> None:
        self._name = name
        self._key = key
        self._on_limits = on_limits
        self._timeout = timeout

    @property
    def name(self) -> ModelName:
        return self._name

    @property
    def context_window(self) -> int | None:
        return context_window(self._name)

    def ask(self, question: Question, *, cancel: Callable[[], bool] | None = None) -> Reply:
        """Ask once."""
        begin = time.monotonic()
        response = _run(self._asked(question, cancel))
        usage = response.usage
        return Reply(
            text=response.text or "",
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost=_price(self._name, usage),
            seconds=time.monotonic() - begin,
        )

    async def _asked(self, question: Question, cancel: Callable[[], bool] | None) -> ModelResponse:
        """Ask in the loop; whatever fails leaves as an error of ours with nothing chained to it."""
        from memory_magic.pipeline.models_faults import explained
        from memory_magic.pipeline.models_wire import Wire

        wire = Wire(self._name, self._key, self._timeout, self._on_limits)
        fault: ModelError
        try:
            async with wire.client, asyncio.timeout(self._timeout):
                response = await _unless(cancel, self._tried(question, wire), self._name)
        except ModelError:
            raise
        except TimeoutError:
            fault = ModelTimeoutError(
                f"the model did not answer within {self._timeout:,.0f} seconds", where=self._name.text
            )
        except Exception as error:  # noqa: BLE001 -- a client's library may raise anything, and its text may quote a session
            fault = explained(error, self._name, too_long=wire.too_long)
        else:
            if response.finish_reason == "length":
                raise ModelAnswerError("the model's answer was cut off at its limit", where=self._name.text)
            return response
        raise fault

    async def _tried(self, question: Question, wire: Wire) -> ModelResponse:
        """Ask with schema and effort, and where the server refuses these, without."""
        from pydantic_ai.exceptions import ModelHTTPError

        from memory_magic.pipeline.models_faults import may_be_the_extras

        full = _parameters(question, client := self._client_model(wire))
        try:
            return await self._request(question, client, full, plain=False)
        except ModelHTTPError as error:
            if not may_be_the_extras(error):
                raise
        return await self._request(question, client, None, plain=True)

    async def _request(
        self, question: Question, client: ClientModel, parameters: ModelRequestParameters | None, *, plain: bool
    ) -> ModelResponse:
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest

        settings: ClientSettings = {
            "max_tokens": question.answer_tokens,
            "timeout": self._timeout,
            "max_retries": 0,
            "framing_announcement": "never",
        }
        if not plain and _has_effort(client):
            settings["thinking"] = question.effort  # type: ignore[typeddict-item]
        message = ModelRequest.user_text_prompt(question.user, instructions=question.system)
        return await model_request(
            client, [message], model_settings=settings, model_request_parameters=parameters, instrument=False
        )

    def _client_model(self, wire: Wire) -> ClientModel:
        """Return the client's model for one question."""
        key, url = self._key or "none", self._name.base_url
        if self._name.protocol == ANTHROPIC:
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            provider = AnthropicProvider(api_key=key, base_url=url, http_client=wire.client)
            return AnthropicModel(self._name.name, provider=provider)
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        if self._name.stated:
            other = OpenAICompatibleProvider("openai-compatible", base_url=url, api_key=key, http_client=wire.client)
            return OpenAIChatModel(self._name.name, provider=other)
        return OpenAIChatModel(
            self._name.name, provider=OpenAIProvider(base_url=url, api_key=key, http_client=wire.client)
        )


def _has_effort(client: ClientModel) -> bool:
    """Tell whether a model is known to take an effort; asked of others it is an error at some servers."""
    return bool(client.profile.get("supports_thinking"))


def _parameters(question: Question, client: ClientModel) -> ModelRequestParameters | None:
    """Return the strict schema in the client's form, None when the provider has none for this model."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if question.schema is None or not client.profile.get("supports_json_schema_output"):
        return None
    wanted = OutputObjectDefinition(dict(question.schema), name=question.schema_name, strict=True)
    return ModelRequestParameters(output_mode="native", output_object=wanted)


async def _unless(
    cancel: Callable[[], bool] | None, work: Coroutine[Any, Any, ModelResponse], name: ModelName
) -> ModelResponse:
    """Wait for *work*, and drop it as soon as the caller takes the question back."""
    if cancel is None:
        return await work
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            if cancel():
                raise ModelCancelledError("the question to the model was taken back", where=name.text)
            await asyncio.wait({task}, timeout=_CANCEL_POLL_SECONDS)
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def _run(work: Coroutine[Any, Any, ModelResponse]) -> ModelResponse:
    """Run *work* to its end, in a thread of its own where this one already runs a loop (a notebook's does)."""
    if not _loop_runs():
        return asyncio.run(work)
    found: list[ModelResponse] = []
    failed: list[BaseException] = []

    def apart() -> None:
        try:
            found.append(asyncio.run(work))
        except BaseException as error:  # noqa: BLE001 -- carried over to the thread that asked
            failed.append(error)

    thread = threading.Thread(target=apart, name="memory-magic model", daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]


def _loop_runs() -> bool:
    """Tell whether this thread runs an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
