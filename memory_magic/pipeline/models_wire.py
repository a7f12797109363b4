"""The HTTP client through which models are asked: what may leave, and how much may come back.

- A redirect is not followed: it would take a session to a server that no setting names.
- A server that a setting names by its address gets none of the headers that the providers' libraries make of the
  environment (organisation, project, another provider's token).
- A response is read up to `LONGEST_RESPONSE` bytes, uncompressed: no server can fill the memory.
- A server on this machine is not reached through a proxy.
- Rate limits are read off every response, failures included.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NoReturn

import httpx2

from memory_magic.pipeline import models_limits
from memory_magic.pipeline.models_names import is_this_machine

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from memory_magic.pipeline.models_limits import Limits
    from memory_magic.pipeline.models_names import ModelName

LONGEST_RESPONSE: Final = 4_000_000
"""Bytes of a response's body: the longest answer with every character escaped, and the protocol around it."""

CONNECT_SECONDS: Final = 10.0
_CREDENTIALS = ("authorization", "x-api-key")
_OF_THE_ENVIRONMENT = ("openai-organization", "openai-project")


class TooLongError(httpx2.HTTPError):
    """A response is longer than we read."""


class Wire:
    """One conversation's HTTP client; *too_long* tells afterwards why a response broke off."""

    def __init__(
        self, model: ModelName, key: str | None, seconds: float, on_limits: Callable[[Limits], None] | None
    ) -> None:
        self.too_long = False
        self._credentials = frozenset() if key is None else frozenset({key, f"Bearer {key}"})
        self._model = model
        self._on_limits = on_limits
        self.client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds)),
            follow_redirects=False,
            trust_env=not is_this_machine(model.host),
            event_hooks={"request": [self._before], "response": [self._after]},
        )

    async def _before(self, request: httpx2.Request) -> None:
        """Take out what a stranger need not know, and every credential but the one that was chosen for this server."""
        request.headers["Accept-Encoding"] = "identity"
        for name in _CREDENTIALS:
            if request.headers.get(name) not in self._credentials:
                request.headers.pop(name, None)
        if self._model.stated:
            for name in _OF_THE_ENVIRONMENT:
                request.headers.pop(name, None)

    async def _after(self, response: httpx2.Response) -> None:
        """Read the limits off the headers and put a measure on the body."""
        limits = models_limits.of_headers(response.headers, self._model.host, time.time())
        if limits is not None and self._on_limits is not None:
            self._on_limits(limits)
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            self.refuse()
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Measured(response.stream, self)

    def refuse(self) -> NoReturn:
        """Break a response off."""
        self.too_long = True
        raise TooLongError("the response is longer than is read")


class _Measured(httpx2.AsyncByteStream):
    """A body that is counted while it comes."""

    def __init__(self, stream: httpx2.AsyncByteStream, wire: Wire) -> None:
        self._stream = stream
        self._wire = wire

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for part in self._stream:
            length += len(part)
            if length > LONGEST_RESPONSE:
                self._wire.refuse()
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
