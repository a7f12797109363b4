"""What can go wrong with a model, as errors that say nothing of the session, the answer or the key.

A server's own words are never quoted: an error page may repeat the prompt, and the prompt is somebody's session. What
is left is the kind of failure, the status, and how long the server asked us to wait (*retry_after*, in seconds).
"""

from __future__ import annotations

from memory_magic.errors import MemoryMagicError


class ModelError(MemoryMagicError, RuntimeError):
    """A model could not be asked, or its answer could not be used."""

    def __init__(self, what: str, *, where: str = "", hint: str = "", retry_after: float | None = None) -> None:
        """Keep how long the server asked us to wait."""
        super().__init__(what, where=where, hint=hint)
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling between processes with all parts."""
        return (_restore, (type(self), self.what, self.where, self.hint, self.retry_after))


def _restore(kind: type[ModelError], what: str, where: str, hint: str, retry_after: float | None) -> ModelError:
    return kind(what, where=where, hint=hint, retry_after=retry_after)


class ModelAnswerError(ModelError):
    """The model answered, but not what was asked for: prose, other keys, too long, cut off."""


class ModelLimitError(ModelError):
    """The server's rate limit or the account's quota is reached."""


class ModelRefusedError(ModelError):
    """The server refused the request for good: wrong key, unknown model, a session that does not fit."""


class ModelServerError(ModelError):
    """The server failed, dropped the connection or cannot be reached."""


class ModelTimeoutError(ModelServerError):
    """The server took longer than we wait."""


class ModelCancelledError(ModelError):
    """The caller took the question back."""
