from __future__ import annotations

import ast
import base64
import inspect
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.pipeline.washing import Wash, is_harmless, without_hidden
from memory_magic.sessions.records import Call
from memory_magic.text import secret_places
from memory_magic.text.invisible import HIDDEN, visible
from memory_magic.text.redact import redact, redact_json

if TYPE_CHECKING:
    from pathlib import Path

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=8,
)


def corpus(data: Path) -> list[str]:
    """Return every text of the secrets' test data."""
    found = []
    for path in sorted((data / "secrets").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            found.append(base64.b64decode(record["text_b64"]).decode() if "text_b64" in record else record["text"])
    return found


def test_short_cut_never_passes_a_secret(data: Path) -> None:
    """Whatever redaction changes is never told to be harmless: as a text, as an argument, as a named value."""
    texts = corpus(data)
    assert len(texts) > 100
    wash = Wash()
    for text in texts:
        seen = visible(text)
        for value in (text, [text], {"command": ["bash", "-lc", text]}, {"q": {"text": text}}):
            if is_harmless(value):
                assert redact_json(value) == (value, {})
        if "<" not in seen:
            assert wash.text(text) == redact(seen).text


@pytest.mark.parametrize(
    "value",
    [
        {"password": "hunter22"}, {"password": 12345678}, {"dropbox": "k3j9x8q2m1"}, {"Authorization": "Basic Zm9v"},
        {"name": "DB_PASSWORD", "value": "hunter22"}, {"name": "dropbox", "value": "k3j9x8q2m1"}, "<private>x",
        "a\u200bb", "a\x1b[31m", [[[[[[[[[[[[[[[[[[[[["deep"]]]]]]]]]]]]]]]]]]]]], "x" * 20, "http//h a:pw", {"a": "ä"},
    ],
)  # fmt: skip
def test_what_is_not_told_to_be_harmless(value: object) -> None:
    """Names of secrets, tags, hidden characters, long runs, addresses and great depth go the long way."""
    assert not is_harmless(value)


def test_every_place_is_an_anchor() -> None:
    """Whatever the finder of places looks for sends a text the long way, also what somebody adds there later."""
    source = ast.parse(inspect.getsource(secret_places))
    needles = {
        node.value.decode()
        for call in ast.walk(source)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "_all"
        for node in call.args
        if isinstance(node, ast.Constant) and isinstance(node.value, bytes)
    }
    assert len(needles) >= 7
    assert [needle for needle in needles if is_harmless(f"a{needle}b")] == []


def test_usual_arguments_are_harmless() -> None:
    """A plain call takes the short way, and comes back as the very same value."""
    arguments = {"command": ["bash", "-lc", "python run.py --day 2026-11-30"], "workdir": "/home/ana/prices", "n": 3}
    assert is_harmless(arguments)
    assert Wash().arguments(arguments) is arguments


@given(JSON)
def test_harmless_is_certain(value: object) -> None:
    """What is told to be harmless is left alone by redaction."""
    if is_harmless(value):
        assert redact_json(value) == (value, {})


@given(st.text(st.characters() | st.sampled_from("\u200b\u202e\u200d\ufe0f\r\x1b\x00\u00ad😀äन"), max_size=60))
def test_hidden_characters_as_ever(text: str) -> None:
    """The quick way to tell that nothing is hidden gives what `visible` gives."""
    assert without_hidden(text) == visible(text)


def test_every_hidden_character_of_the_basic_plane() -> None:
    """No hidden character is missed by the quick way."""
    assert HIDDEN
    for code in range(0x10000):
        for text in (f"ä{chr(code)}b", f"a{chr(code)}b"):
            assert without_hidden(text) == visible(text)


def test_calls_are_washed_everywhere() -> None:
    """Secrets in name, argument keys and values and in the output are taken out and counted."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    wash = Wash()
    call = wash.call(Call(secret, {secret: [secret]}, secret, "completed", 0))
    assert secret not in repr(call)
    assert sum(wash.kinds.values()) == 4
