"""A local model server that speaks OpenAI's and Anthropic's real protocols, misbehaving as a test tells it to.

No client is mocked: the product's own client connects to 127.0.0.1 and reads real HTTP. `model_server.say(...)` queues
what the next requests get, each once; the last one stays. Every request is kept in `model_server.requests`.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

GOOD = json.dumps({"raw_memory": "- Deploys run on Tuesdays", "rollout_summary": "Deploys.", "rollout_slug": "deploys"})


@dataclass
class Saying:
    """What one request gets: a model's *text*, or a *raw* body, or no answer at all."""

    text: str = GOOD
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    input_tokens: int = 1234
    output_tokens: int = 56
    finish: str = ""
    hang: bool = False
    drop_after: int | None = None
    refuse_key: str = ""


@dataclass
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class ModelServer:
    """The server's script and its memory."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.released = threading.Event()
        self.arrived = threading.Event()
        self._script: list[Saying] = [Saying()]
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"script": self}))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Return the port on which the server listens."""
        return int(self._http.server_address[1])

    @property
    def openai(self) -> str:
        """Return the base URL of the OpenAI protocol."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic(self) -> str:
        """Return the base URL of the Anthropic protocol."""
        return f"http://127.0.0.1:{self.port}"

    def say(self, *sayings: Saying) -> None:
        """Queue what the next requests get; the last stays."""
        self._script = list(sayings)

    def take(self, request: Request) -> Saying:
        """Note a request and return what it gets."""
        with self._lock:
            self.requests.append(request)
            self.arrived.set()
            return self._script.pop(0) if len(self._script) > 1 else self._script[0]

    def close(self) -> None:
        """Stop the server and wait for its thread."""
        self.released.set()
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection as the script says."""

    script: ModelServer

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class names it so
        """Be quiet."""

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        body = json.loads(self.rfile.read(length))
        saying = self.script.take(Request(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        if saying.hang:
            self.script.released.wait(30)
            self.close_connection = True
            return
        if saying.refuse_key and saying.refuse_key in body:
            saying = Saying(status=400, raw=_error(f"unknown field {saying.refuse_key}: {body}"))
        self._send(saying, body)

    def _send(self, saying: Saying, body: dict[str, Any]) -> None:
        if saying.raw is not None:
            data = saying.raw
        elif self.path.endswith("/chat/completions"):
            data = _chat(saying, body)
        elif self.path.endswith("/messages"):
            data = _message(saying, body)
        else:
            saying, data = Saying(status=404), b"{}"
        self.send_response(saying.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in saying.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if saying.drop_after is not None:
            data = data[: saying.drop_after]
            self.close_connection = True
        try:
            self.wfile.write(data)
        except OSError:  # the client has heard enough
            self.close_connection = True


def _error(words: str) -> bytes:
    return json.dumps({"error": {"message": words, "type": "invalid_request_error", "code": None}}).encode()


def _chat(saying: Saying, body: dict[str, Any]) -> bytes:
    """Return a chat completion."""
    return json.dumps({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1796083200, "model": body["model"],
        "choices": [{
            "index": 0, "finish_reason": saying.finish or "stop", "logprobs": None,
            "message": {"role": "assistant", "content": saying.text, "refusal": None},
        }],
        "usage": {
            "prompt_tokens": saying.input_tokens, "completion_tokens": saying.output_tokens,
            "total_tokens": saying.input_tokens + saying.output_tokens,
        },
    }).encode()  # fmt: skip


def _message(saying: Saying, body: dict[str, Any]) -> bytes:
    """Return a message of Anthropic's."""
    return json.dumps({
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
        "content": [{"type": "text", "text": saying.text}],
        "stop_reason": saying.finish or "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": saying.input_tokens, "output_tokens": saying.output_tokens},
    }).encode()  # fmt: skip


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """Give a model server on 127.0.0.1 that answers well until it is told otherwise."""
    server = ModelServer()
    yield server
    server.close()


@pytest.fixture
def saying() -> type[Saying]:
    """Give the class of what the server may say."""
    return Saying
