from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import SettingError
from memory_magic.pipeline import models_names
from memory_magic.pipeline.models_names import DEFAULT, SMOL, for_role, is_local, parse
from memory_magic.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping


@pytest.mark.parametrize(
    ("text", "protocol", "name", "url", "remote", "variable"),
    [
        ("", "offline", "offline", "", False, ""),
        (" Offline ", "offline", "offline", "", False, ""),
        ("openai:gpt-5-mini", "openai", "gpt-5-mini", "https://api.openai.com/v1", True, "OPENAI_API_KEY"),
        ("openai:ft:gpt-4o:me::x", "openai", "ft:gpt-4o:me::x", "https://api.openai.com/v1", True, "OPENAI_API_KEY"),
        ("anthropic:claude", "anthropic", "claude", "https://api.anthropic.com", True, "ANTHROPIC_API_KEY"),
        ("openai@http://localhost:11434/v1:qwen3:8b", "openai", "qwen3:8b", "http://localhost:11434/v1", False, ""),
        ("openai@http://[::1]:8000:Qwen/Q3", "openai", "Qwen/Q3", "http://[::1]:8000", False, ""),
        ("openai@http://localhost:tiny", "openai", "tiny", "http://localhost", False, ""),
        ("openai@http://192.168.1.5:1/v1/:m", "openai", "m", "http://192.168.1.5:1/v1", False, ""),
        ("openai@https://openrouter.ai/api/v1:a/b", "openai", "a/b", "https://openrouter.ai/api/v1", True,
         "OPENROUTER_API_KEY"),
        ("openai@https://api.groq.com/openai/v1:x", "openai", "x", "https://api.groq.com/openai/v1", True,
         "GROQ_API_KEY"),
        ("openai@https://api.openai.com/v1:x", "openai", "x", "https://api.openai.com/v1", True, "OPENAI_API_KEY"),
        ("anthropic@https://8.8.8.8/a:x", "anthropic", "x", "https://8.8.8.8/a", True, "MODEL_API_KEY"),
        ("openai@https://gateway/v1:x", "openai", "x", "https://gateway/v1", True, "GATEWAY_API_KEY"),
    ],
)  # fmt: skip
def test_names(text: str, protocol: str, name: str, url: str, remote: bool, variable: str) -> None:  # noqa: FBT001
    """A setting's text gives protocol, name, server, whether it is remote, and the variable of its key."""
    found = parse(text, environ={})
    assert (found.protocol, found.name, found.base_url) == (protocol, name, url)
    assert found.remote is remote
    assert found.key_variable == variable


@pytest.mark.parametrize(
    "text",
    [
        "gpt-5",
        "openai:",
        "openai:two words",
        "openai@localhost:1/v1:x",
        "openai@http://localhost:8000",
        "openai@http://localhost:8000/v1",
        "openai@http://localhost:99999999/v1:x",
        "openai@ftp://localhost/v1:x",
        "openai@https://host/v1?key=sk-SECRETSECRET:x",
        "openai@https://user:sk-SECRETSECRET@host/v1:x",
        "openai@http://example.com/v1:x",
        "openai@http://0.0.0.0:1/v1:x",
        "sk-SECRETSECRETSECRETSECRET",
    ],
)
def test_what_names_no_model(text: str) -> None:
    """What names no model, holds credentials or would send sessions unencrypted is an error that does not quote it."""
    with pytest.raises(SettingError) as caught:
        parse(text, setting="extract_model", environ={})
    assert caught.value.where == "extract_model"
    assert "SECRET" not in str(caught.value)


def test_servers_of_the_environment() -> None:
    """OPENAI_BASE_URL and ANTHROPIC_BASE_URL move the short forms, and are held to the same rules."""
    environ = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1/", "ANTHROPIC_BASE_URL": "http://example.org"}
    found = parse("openai:x", environ=environ)
    assert (found.base_url, found.remote, found.key({})) == ("http://127.0.0.1:9/v1", False, None)
    with pytest.raises(SettingError, match="ANTHROPIC_BASE_URL"):
        parse("anthropic:x", environ=environ)


@pytest.mark.parametrize(
    ("chosen", "stage_one", "consolidation"),
    [
        ({}, "offline", "offline"),
        ({"model_default": "openai:a"}, "a", "a"),
        ({"model_default": "openai:a", "model_smol": "openai:b"}, "a", "b"),
        ({"model_default": "openai:a", "extract_model": "openai:c"}, "c", "a"),
        ({"model_default": "openai:a", "model_smol": "openai:b", "consolidation_model": "openai:d"}, "a", "d"),
        ({"model_default": "openai:a", "extract_model": "offline"}, "offline", "a"),
    ],
)
def test_roles(chosen: Mapping[str, str], stage_one: str, consolidation: str) -> None:
    """An override wins over its role, `smol` falls back to `default`, and with nothing named the rules work."""
    settings = Settings(**chosen)  # type: ignore[arg-type]
    assert for_role(DEFAULT, settings, {}).name == stage_one
    assert for_role(SMOL, settings, {}).name == consolidation


def test_role_tells_its_setting() -> None:
    """A slip is reported with the setting that it stands in."""
    with pytest.raises(SettingError) as caught:
        for_role(SMOL, Settings(model_smol="nonsense"), {})
    assert caught.value.where == "model_smol"
    assert models_names.EFFORTS == {DEFAULT: "low", SMOL: "medium"}


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True), ("LOCALHOST.", True), ("a.localhost", True), ("127.9.9.9", True), ("::1", True),
        ("10.0.0.1", True), ("172.16.0.1", True), ("fd00::1", True), ("172.32.0.1", False), ("8.8.8.8", False),
        ("localhost.example.com", False), ("10.0.0.1.example.com", False), ("printer", False), ("", False),
        ("::", False), ("::ffff:8.8.8.8", False),
    ],
)  # fmt: skip
def test_local_hosts(host: str, local: bool) -> None:  # noqa: FBT001
    """Loopback and private addresses are local; every name whose end is not known is remote."""
    assert is_local(host) is local
