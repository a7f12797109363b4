"""The names of models as settings write them, and what follows from a name alone: server, key, local or remote.

    offline                                  rules, no model
    openai:gpt-5-mini                        OpenAI, or what OPENAI_BASE_URL names
    anthropic:claude-haiku-4-5               Anthropic, or what ANTHROPIC_BASE_URL names
    openai@http://localhost:11434/v1:qwen3   any server that speaks OpenAI's protocol (a model's name may hold colons)
    anthropic@https://host/path:name         the same of Anthropic's protocol

A key never stands in a setting. It comes from OPENAI_API_KEY or ANTHROPIC_API_KEY for the first two forms; a server
that is named by its address gets the key that its host is known by (openrouter.ai: OPENROUTER_API_KEY), never the
one of OpenAI or Anthropic, so that a slip in a setting hands no key to a stranger. A server on this machine needs none.

*remote* is decided by the server's host: loopback and private addresses are local, all else is remote, and so is a
name that is not `localhost`, because where it leads is not known. Nothing here imports a client or opens a connection.
"""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol
from urllib.parse import urlsplit

from memory_magic.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

OFFLINE: Final = "offline"
OPENAI: Final = "openai"
ANTHROPIC: Final = "anthropic"

DEFAULT: Final = "default"
"""The role of stage one (oh-my-pi's name)."""
SMOL: Final = "smol"
"""The role of consolidation; falls back to `default` (oh-my-pi)."""

EFFORTS: Final = {DEFAULT: "low", SMOL: "medium"}
"""How hard a model thinks in each role (codex)."""

_HOMES: Final = {OPENAI: "https://api.openai.com/v1", ANTHROPIC: "https://api.anthropic.com"}
_BASE_VARIABLES: Final = {OPENAI: "OPENAI_BASE_URL", ANTHROPIC: "ANTHROPIC_BASE_URL"}
_KEY_VARIABLES: Final = {OPENAI: "OPENAI_API_KEY", ANTHROPIC: "ANTHROPIC_API_KEY"}

_SHORT = re.compile(r"(openai|anthropic):(\S+)")
_LONG = re.compile(r"(openai|anthropic)@(https?://(?:\[[0-9a-f:.]+\]|[^/\s:\[\]]+)(?::\d+)?(?:/[^\s:]*)?):(\S+)")
_PORT = re.compile(r"\d+(?:/|$)")  # the model's name was forgotten, and a port stands in its place
_CREDENTIALS = re.compile(r"https?://[^/\s]*@", re.IGNORECASE)
_HINT = "write offline, openai:NAME, anthropic:NAME or openai@http://host:port/v1:NAME"


class ModelSettings(Protocol):
    """The settings that choose models."""

    @property
    def model_default(self) -> str:
        """Return the model of stage one."""

    @property
    def model_smol(self) -> str:
        """Return the model of consolidation, or nothing."""

    @property
    def extract_model(self) -> str:
        """Return the model that overrides stage one's role, or nothing."""

    @property
    def consolidation_model(self) -> str:
        """Return the model that overrides consolidation's role, or nothing."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """One model: *protocol* openai or anthropic (or offline), its *name* there, and *base_url* of the server.

    *text* is the name as the setting writes it, *setting* the key that it came from. *stated* tells that the setting
    itself named the server.
    """

    text: str
    protocol: str
    name: str
    base_url: str = ""
    stated: bool = False
    setting: str = ""

    @property
    def is_offline(self) -> bool:
        """Tell the rules from a model."""
        return self.protocol == OFFLINE

    @property
    def host(self) -> str:
        """Return the server's host; empty for the rules."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def remote(self) -> bool:
        """Tell whether a session would leave this machine and its private network."""
        return not self.is_offline and not is_local(self.host)

    @property
    def key_variable(self) -> str:
        """Return the environment variable that holds the server's key; empty where none is needed."""
        if self.is_offline:
            return ""
        if not self.stated or self.base_url.rstrip("/") == _HOMES[self.protocol]:
            return _KEY_VARIABLES[self.protocol]
        return "" if not self.remote else f"{_owner(self.host)}_API_KEY"

    def key(self, environ: Mapping[str, str] = os.environ) -> str | None:
        """Return the key, None where none is needed; raise `SettingError` when it is missing."""
        variable = self.key_variable
        if not variable:
            return None
        found = environ.get(variable, "").strip()
        if found:
            return found
        if not self.remote:
            return None
        raise SettingError(
            f"the model {self.text} needs a key, and {variable} is not set",
            where=self.setting,
            hint=f"set the environment variable {variable}, or choose the rules: memory-magic config set "
            f"{self.setting or 'model_default'} offline",
        )


def parse(text: str, *, setting: str = "", environ: Mapping[str, str] = os.environ) -> ModelName:
    """Return the model that a setting's *text* names; nothing names the rules. Raises `SettingError`."""
    word = text.strip()
    if word.casefold() in {"", OFFLINE}:
        return ModelName(OFFLINE, OFFLINE, OFFLINE, setting=setting)
    if _CREDENTIALS.search(word):
        raise _exposed(setting)
    if found := _LONG.fullmatch(word):
        protocol, url, name = found[1], found[2], found[3]
        if not _PORT.match(name):
            return ModelName(word, protocol, name, _checked(url, setting), stated=True, setting=setting)
    if found := _SHORT.fullmatch(word):
        protocol = found[1]
        variable = _BASE_VARIABLES[protocol]
        given = environ.get(variable, "").strip()
        url = _checked(given, variable) if given else _HOMES[protocol]
        return ModelName(word, protocol, found[2], url, setting=setting)
    # the text is not quoted: it could hold a key that somebody put there
    raise SettingError("this names no model", where=setting, hint=_HINT)


def for_role(role: str, settings: ModelSettings, environ: Mapping[str, str] = os.environ) -> ModelName:
    """Return the model of *role*: override, role's own, for `smol` also `default`; the rules when none is named."""
    keys = ["extract_model", "model_default"] if role == DEFAULT else ["consolidation_model", "model_smol"]
    if role == SMOL:
        keys.append("model_default")
    for key in keys:
        if str(getattr(settings, key)).strip():
            return parse(getattr(settings, key), setting=key, environ=environ)
    return parse("", setting=keys[-1])


def is_local(host: str) -> bool:
    """Tell whether a host lies on this machine or in a private network, as far as its name alone shows."""
    name = host.strip("[]").rstrip(".").casefold()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or (address.is_private and not address.is_unspecified)


def is_this_machine(host: str) -> bool:
    """Tell whether a host is a loopback address, to which no proxy leads."""
    name = host.strip("[]").rstrip(".").casefold()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _checked(url: str, where: str) -> str:
    """Return a base URL that may be used: no credentials in it, and encrypted where it leaves the private network."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme.casefold() in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        raise SettingError("the server's address is no URL", where=where, hint=_HINT)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise _exposed(where)
    if parts.scheme.casefold() == "http" and not is_local(parts.hostname or ""):
        raise SettingError(
            f"the server {parts.hostname} would get your sessions unencrypted", where=where, hint="write https://"
        )
    return url.rstrip("/")


def _exposed(where: str) -> SettingError:
    """Return the error for an address that holds more than a server's place."""
    hint = "put the key into an environment variable"
    return SettingError("the server's address holds a user, a password or a query", where=where, hint=hint)


def _owner(host: str) -> str:
    """Return the name that a host's keys go by: the label before its ending, in capitals."""
    labels = [label for label in host.split(".") if label]
    try:
        ipaddress.ip_address(host)
        word = "MODEL"
    except ValueError:
        word = labels[-2] if len(labels) > 1 else (labels or ["MODEL"])[0]
    return re.sub(r"[^A-Z0-9]", "_", word.upper())
