"""The real Claude Code and Codex, told by what `connect` wrote, talking to a model of ours that records each request.

Where the programs are not installed the tests are skipped. `TEST_CLAUDE` and `TEST_CODEX` name them, else they are
looked for on the PATH:

    npm install --prefix FOLDER @anthropic-ai/claude-code @openai/codex
    TEST_CLAUDE=FOLDER/node_modules/.bin/claude TEST_CODEX=FOLDER/node_modules/.bin/codex pytest THIS_FILE
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from memory_magic import Store
from memory_magic.assistants import connect, rules_files
from memory_magic.assistants.connect_specs import USER, Where, find
from memory_magic.prompt.ledger import Ledger
from memory_magic.settings import find_root, set_value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CLAUDE = os.environ.get("TEST_CLAUDE") or shutil.which("claude")
_CODEX = os.environ.get("TEST_CODEX") or shutil.which("codex")
SECONDS = 120


class Model(ThreadingHTTPServer):
    """A model of both vendors' manner that says "fine" and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        """Return where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def heard(self) -> str:
        """Return all texts of all requests, one after the other."""
        return "\n".join(text for body in self.requests for text in _texts(json.loads(body)))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for one in value for text in _texts(one)] if isinstance(value, list) else []


def _events(path: str, model: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the stream of one short answer."""
    if "messages" in path:
        usage: dict[str, Any] = {"input_tokens": 1, "output_tokens": 1}
        message: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": model, "content": [],
                   "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip
        return [
            ("message_start", {"message": message}),
            ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
            ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": "fine"}}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage}),
            ("message_stop", {}),
        ]
    item = {"type": "message", "role": "assistant", "id": "i", "content": [{"type": "output_text", "text": "fine"}]}
    total = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        ("response.created", {"response": {"id": "r"}}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": {"id": "r", "usage": total}}),
    ]


class _Handler(BaseHTTPRequestHandler):
    server: Model

    def log_message(self, *_: Any) -> None:  # the signature of http.server
        """Stay quiet."""

    def do_GET(self) -> None:
        """Answer what is asked beside the conversation."""
        self._send("application/json", b"{}")

    do_HEAD = do_GET  # noqa: N815 -- the names of http.server

    def do_POST(self) -> None:
        """Keep the request, say fine."""
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        path = self.path.partition("?")[0]
        if not path.endswith(("/messages", "/responses")):
            self._send("application/json", b'{"input_tokens": 1}')
            return
        self.server.requests.append(body)
        events = _events(path, json.loads(body).get("model", ""))
        lines = [f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in events]
        self._send("text/event-stream", "".join(lines).encode())

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def model() -> Iterator[Model]:
    """Give a model that listens on this computer."""
    server = Model()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> dict[str, str]:
    """Fill every section of a memory up to the clients' limit; give the last line that each must show."""
    root = find_root()
    set_value(root, "enabled", value=True)
    (root / "memory.md").write_text("A line of what I like.\n" * 300 + "LAST OF PERSONAL")
    project = tmp_path / "work" / ".memory-magic"
    project.mkdir(parents=True)
    (project / "memory.md").write_text("A line of the project.\n" * 300 + "LAST OF PROJECT")
    summary = root / "global" / "consolidated" / "memory_summary.md"
    summary.parent.mkdir(parents=True)
    summary.write_text("A line of the summary.\n" * 200 + "LAST OF GUIDANCE")
    with Store(root, tmp_path / "work") as store:
        store.remember("LAST OF NOTES")
        for number in range(25):
            store.remember(f"note {number} {'x' * 250}")
    return {one: f"LAST OF {one.upper()}" for one in ("personal", "project", "guidance", "notes")}


def link(name: str, home: Path) -> None:
    """Connect without asking."""
    assistant, where = find(name), Where(home, None, USER, environ={})
    connect.carry_out(find_root(), assistant, where, connect.plan(find_root(), assistant, where))


def say(words: list[str], cwd: Path, **env: str) -> str:
    """Run a client once; return what it printed."""
    done = subprocess.run(
        words, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, timeout=SECONDS,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.skipif(_CLAUDE is None, reason="Claude Code is not installed (npm install @anthropic-ai/claude-code)")
def test_claude_code_is_told_every_section_to_its_last_line(
    home: Path, tmp_path: Path, model: Model, memory: dict[str, str]
) -> None:
    """The request of the real program holds each section's last line, once, and none was cut or moved to a file."""
    link("claude-code", home)
    printed = say(
        [str(_CLAUDE), "-p", "hello"], tmp_path / "work",
        ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="none", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        DISABLE_AUTOUPDATER="1", PYTHONPATH="",
    )  # fmt: skip
    assert model.requests, printed
    for name, last in memory.items():
        assert model.heard.count(last) == 1, (name, printed)
    assert "persisted-output" not in model.heard
    assert {line.assistant for line in Ledger(find_root()).lines()} == {"claude-code"}


@pytest.mark.skipif(_CODEX is None, reason="Codex is not installed (npm install @openai/codex)")
def test_codex_is_told_every_section_to_its_last_line(
    home: Path, tmp_path: Path, model: Model, memory: dict[str, str]
) -> None:
    """The same of Codex, once the person trusts the hooks."""
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(
        f'model_provider = "ours"\n\n[model_providers.ours]\nname = "ours"\nbase_url = "{model.url}/v1"\n'
        'wire_api = "responses"\n'
    )
    link("codex", home)
    words = [str(_CODEX), "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "hello"]
    printed = say(words, tmp_path / "work", OPENAI_API_KEY="none")
    assert model.requests, printed
    for name, last in memory.items():
        assert last in model.heard, (name, printed)


_LOADERS = {
    "marimo": (
        "TEST_MARIMO",
        (
            "from marimo._config.manager import get_default_config_manager as manager\n"
            "config = manager(current_path=None).get_config()\n"
            "print(config['ai']['rules'], config['mcp']['mcpServers']['memory'])\n"
        ),
    ),
    "mito": (
        "TEST_MITO",
        "from mito_ai_core.rules.utils import get_default_rules_content\nprint(get_default_rules_content())\n",
    ),
    "notebook-intelligence": (
        "TEST_NBI",
        (
            "import os\n"
            "from notebook_intelligence.rule_manager import RuleManager\n"
            "rules = RuleManager(os.path.expanduser('~/.jupyter/nbi/rules')).load_rules()\n"
            "print([rule.content for rule in rules.global_rules if rule.active])\n"
        ),
    ),
}


@pytest.mark.parametrize("name", list(_LOADERS))
def test_rules_are_read_by_the_programs_own_loader(home: Path, tmp_path: Path, name: str) -> None:
    """What we wrote is read by the very code of the program; the variable names a Python that has it."""
    variable, code = _LOADERS[name]
    python = os.environ.get(variable)
    if python is None:
        pytest.skip(f"{variable} names no Python with {name}")
    set_value(find_root(), "enabled", value=True)
    with Store(find_root(), tmp_path) as store:
        store.remember("Deploys run on Tuesdays")
    link(name, home)
    assert "Deploys run on Tuesdays" in say([python, "-c", code], tmp_path)
    with Store(find_root(), tmp_path) as store:
        store.retire("Deploys run on Tuesdays", evidence="over")
        rules_files.refresh(store)
    said = say([python, "-c", code], tmp_path)
    assert "Tuesdays" not in said
    assert "Traceback" not in said
