"""From the client's exceptions to our errors, by their kind and status alone: what they say is never repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic_ai import exceptions as theirs

from memory_magic.pipeline.models_errors import (
    ModelAnswerError,
    ModelError,
    ModelLimitError,
    ModelRefusedError,
    ModelServerError,
    ModelTimeoutError,
)

if TYPE_CHECKING:
    from memory_magic.pipeline.models_names import ModelName

LONGEST_WAIT: Final = 86_400.0
"""Seconds: no server may put a job off for longer than a day."""

_REFUSED = frozenset({400, 422})


def may_be_the_extras(error: theirs.ModelHTTPError) -> bool:
    """Tell whether a server refused a request whose schema or effort it may not know."""
    return error.status_code in _REFUSED and not isinstance(error, theirs.ModelContextWindowExceededError)


def explained(error: BaseException, model: ModelName, *, too_long: bool) -> ModelError:
    """Return our error for one of the client's; *too_long* tells that we ourselves broke the response off."""
    if too_long:
        return ModelAnswerError("the model's answer is longer than is read", where=model.text)
    if isinstance(error, theirs.ModelHTTPError):
        return _of_status(error, model)
    if isinstance(error, theirs.ModelConnectionError) and not isinstance(error, theirs.ModelTimeoutError):
        hint = "check that the server runs"
        what = f"the connection to {model.host} failed or was dropped"
        return ModelServerError(what, where=model.text, hint=hint)
    for theirs_kind, ours, what in _KINDS:
        if isinstance(error, theirs_kind):
            return ours(what, where=model.text)
    # a library's own fault: its kind may be told, its words may not
    return ModelServerError(f"asking the model failed ({type(error).__name__})", where=model.text)


_KINDS: Final[tuple[tuple[type[Exception], type[ModelError], str], ...]] = (
    (theirs.ModelRequestTimeout, ModelTimeoutError, "the model took too long to answer"),
    (theirs.ModelTimeoutError, ModelTimeoutError, "the model took too long to answer"),
    (theirs.ContentFilterError, ModelAnswerError, "the model's provider filtered the answer"),
    (theirs.UnexpectedModelBehavior, ModelAnswerError, "the server's reply is not what its protocol asks for"),
)


def _of_status(error: theirs.ModelHTTPError, model: ModelName) -> ModelError:
    """Return our error for a status."""
    wait = None if error.retry_after is None else min(max(error.retry_after, 0.0), LONGEST_WAIT)
    for kind, ours, what, hint in _STATUSES:
        if isinstance(error, kind):
            later = f"; it asks to wait {wait:,.0f} seconds" if wait is not None else ""
            words = {"host": model.host, "status": error.status_code, "key": model.key_variable or "the key"}
            return ours(what.format_map(words) + later, where=model.text, hint=hint.format_map(words), retry_after=wait)
    return ModelServerError(f"{model.host} failed (status {error.status_code})", where=model.text, retry_after=wait)


# the more special kind first
_STATUSES: Final[tuple[tuple[type[Exception], type[ModelError], str, str], ...]] = (
    (
        theirs.ModelContextWindowExceededError,
        ModelRefusedError,
        "the session is longer than the model reads",
        "set a smaller stage_one_token_limit",
    ),
    (theirs.ModelQuotaExceededError, ModelLimitError, "the account's quota at {host} is used up", ""),
    (theirs.ModelRateLimitError, ModelLimitError, "the rate limit of {host} is reached", ""),
    (theirs.ModelAuthenticationError, ModelRefusedError, "{host} refused the key (status {status})", "check {key}"),
    (
        theirs.ModelNotFoundError,
        ModelRefusedError,
        "{host} knows no such model or address (status {status})",
        "check the model's name and the server's address",
    ),
    (theirs.ModelRequestRejectedError, ModelRefusedError, "{host} refused the request (status {status})", ""),
)
