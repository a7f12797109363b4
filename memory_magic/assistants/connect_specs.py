"""Which assistants can be connected, and which files of each say so: one row for each, made of `editors.Step`s.

Every mechanism was observed with the real program (hooks, MCP entries, rules); where a program can be told to look
elsewhere by a variable (`CLAUDE_CONFIG_DIR`, `CODEX_HOME`), that is followed. The command that is written is the
absolute path of this very installation, because assistants are started with other PATHs than a terminal has.

Only personal files get personal text; files in a work tree get the workspace's notes (`rules_files`).
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memory_magic.assistants import config_files, json_comments, toml_edit
from memory_magic.assistants.agent_hooks import EVENTS, SECTIONS
from memory_magic.assistants.editors import ADD, PUT, REGION, RULES, TABLE, Step, is_ours
from memory_magic.assistants.rules_files import PERSONAL, WORKSPACE
from memory_magic.errors import MemoryMagicError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

USER, PROJECT = "user", "project"
SERVER: Final = "memory"
OTHER_SERVER: Final = "memory-magic"
TOOLS: Final = ("memory_search", "memory_get", "remember")
HOOK_SECONDS: Final = 10
_MITO_ID: Final = "6d656d6f-7279-4d61-8a67-69630000b10c"
_RULES_NAME: Final = "memory-magic"
_NBI_HEAD: Final = "---\napply: always\nactive: true\npriority: 5\n---\n"
AGENT_FILES: Final = ("AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md")


@dataclass(frozen=True, slots=True)
class Where:
    """For whom and from where something is connected. *root* is None for the default store."""

    home: Path
    project: Path | None
    level: str
    root: Path | None = None
    approve: bool = True
    environ: Any = None

    @property
    def base(self) -> str:
        """Return the project's folder, empty for the person."""
        return str(self.project) if self.level == PROJECT and self.project else ""

    def folder(self, variable: str, default: str) -> Path:
        """Return a program's folder: what its variable names, else the one in the home directory."""
        named = (os.environ if self.environ is None else self.environ).get(variable)
        return Path(named).expanduser() if named else self.home / default

    def words(self, *rest: str) -> list[str]:
        """Return the command line of this installation."""
        script = Path(sys.executable).with_name("memory-magic")
        start = [str(script)] if script.is_file() else [sys.executable, "-m", "memory_magic"]
        return [*start, *rest, *(["--root", str(self.root)] if self.root else [])]


@dataclass(frozen=True, slots=True)
class Target:
    """One file and what is done to it; *create*: also where it does not exist yet."""

    path: Path
    steps: tuple[Step, ...]
    private: bool = True
    create: bool = True
    keep: bool = False
    """Emptied rather than deleted: the program would not notice that the file is gone."""


@dataclass(frozen=True, slots=True)
class Assistant:
    """A row: what it is called, for whom it can be connected (the first by default), its files, what is left to do."""

    name: str
    title: str
    levels: tuple[str, ...]
    targets: Callable[[Where], list[Target]]
    folders: tuple[str, ...]
    programs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def is_here(self, where: Where) -> bool:
        """Tell whether the program seems to be on this computer."""
        there = any((where.home / one).exists() for one in self.folders)
        return there or any(shutil.which(one) for one in self.programs)


# -- pieces -----------------------------------------------------------------------------------------------------------


def _server_words(where: Where) -> list[str]:
    return where.words("mcp", *(["--workspace", where.base] if where.base else []))


def _server_name(path: Path, group: tuple[str, ...], *, toml: bool = False) -> str:
    """Return the name of our entry: another one where somebody else's server has the usual name."""
    try:
        text = config_files.read(path).text
        plain = toml_edit.value_of(text) if toml else json_comments.value_of(text)
    except MemoryMagicError:
        return SERVER  # the plan will say what is wrong with the file
    there = json_comments.find(plain, (*group, SERVER))
    return SERVER if there is None or is_ours(there) else OTHER_SERVER


def _hooks(name: str, where: Where) -> tuple[Step, ...]:
    """Return one entry a section for each event that may bring memory."""
    entries = [
        {"type": "command", "command": shlex.join(where.words("hook", name, "--section", one)), "timeout": HOOK_SECONDS}
        for one in SECTIONS
    ]
    return tuple(Step(ADD, ("hooks", event), {"hooks": entries}, mark=f"hook {name}") for event in EVENTS)


def _claude_code(where: Where) -> list[Target]:
    if where.level == PROJECT and where.project:
        settings, servers = where.project / ".claude" / "settings.json", where.project / ".mcp.json"
    else:
        folder = where.folder("CLAUDE_CONFIG_DIR", ".claude")
        settings = folder / "settings.json"
        moved = folder != where.home / ".claude"
        servers = folder / ".claude.json" if moved else where.home / ".claude.json"
    name = _server_name(servers, ("mcpServers",))
    command, *args = _server_words(where)
    entry = {"type": "stdio", "command": command, "args": args, "alwaysLoad": True}
    allow = [Step(ADD, ("permissions", "allow"), f"mcp__{name}__{tool}") for tool in TOOLS] if where.approve else []
    private = where.level == USER
    return [
        Target(settings, (*_hooks("claude-code", where), *allow), private),
        Target(servers, (Step(PUT, ("mcpServers", name), entry),), private),
    ]


def _codex(where: Where) -> list[Target]:
    folder = where.folder("CODEX_HOME", ".codex")
    config = folder / "config.toml"
    name = _server_name(config, ("mcp_servers",), toml=True)
    command, *args = _server_words(where)
    entry: dict[str, Any] = {"command": command, "args": args}
    if where.approve:
        entry["default_tools_approval_mode"] = "approve"
    return [
        Target(folder / "hooks.json", _hooks("codex", where)),
        Target(config, (Step(TABLE, ("mcp_servers", name), entry),)),
    ]


def _agents_md(where: Where) -> list[Target]:
    if where.level == USER:
        places = (
            where.folder("CODEX_HOME", ".codex") / "AGENTS.md",
            where.folder("CLAUDE_CONFIG_DIR", ".claude") / "CLAUDE.md",
            where.home / ".copilot" / "copilot-instructions.md",
        )
        return [Target(path, (Step(REGION, audience=PERSONAL),), create=path.parent.is_dir()) for path in places]
    if where.project is None:
        raise UsageError("this folder belongs to no project", hint="change to the project's folder, or use --user")
    there = [one for one in AGENT_FILES if (where.project / one).exists()]
    step = Step(REGION, audience=WORKSPACE)
    return [Target(where.project / one, (step,), private=False) for one in there or AGENT_FILES[:1]]


def _notebook_intelligence(where: Where) -> list[Target]:
    folder = where.folder("JUPYTER_CONFIG_DIR", ".jupyter") / "nbi"
    servers = folder / "mcp.json"
    name = _server_name(servers, ("mcpServers",))
    command, *args = _server_words(where)
    entry: dict[str, Any] = {"command": command, "args": args}
    if where.approve:
        entry["autoApprove"] = list(TOOLS)
    rules = Step(REGION, value=_NBI_HEAD, audience=PERSONAL)
    return [
        Target(folder / "rules" / f"{_RULES_NAME}.md", (rules,), keep=True),
        Target(servers, (Step(PUT, ("mcpServers", name), entry),)),
    ]


def _mito(where: Where) -> list[Target]:
    folder = where.home / ".mito"
    command, *args = _server_words(where)
    entry = {"name": SERVER, "command": command, "args": args, "env": {}}
    return [
        Target(folder / "rules" / f"{_RULES_NAME}.md", (Step(REGION, audience=PERSONAL),)),
        Target(folder / "rules" / "_metadata.json", (Step(PUT, (_RULES_NAME,), {"is_default": True}, mark="own"),)),
        Target(folder / "mcp" / "servers.json", (Step(PUT, (_MITO_ID,), entry, mark="own"),)),
    ]


def _marimo(where: Where) -> list[Target]:
    if where.level == PROJECT and where.project:
        path, audience = where.project / ".marimo.toml", WORKSPACE
        if not path.exists():
            raise UsageError(
                "this project has no .marimo.toml, and a new one would hide your own settings from marimo here",
                hint="use --user, or make the file first",
            )
    else:
        own = where.home / ".marimo.toml"
        path = own if own.exists() else where.folder("XDG_CONFIG_HOME", ".config") / "marimo" / "marimo.toml"
        audience = PERSONAL
    name = _server_name(path, ("mcp", "mcpServers"), toml=True)
    command, *args = _server_words(where)
    steps = (
        Step(RULES, ("ai", "rules"), audience=audience),
        Step(TABLE, ("mcp", "mcpServers", name), {"command": command, "args": args}),
    )
    return [Target(path, steps, private=where.level == USER)]


ASSISTANTS: Final[dict[str, Assistant]] = {
    one.name: one
    for one in (
        Assistant(
            "claude-code",
            "Claude Code",
            (USER, PROJECT),
            _claude_code,
            (".claude", ".claude.json"),
            ("claude",),
            ("Claude Code keeps a memory of its own, too (~/.claude/projects/…/memory): nothing changes there.",),
        ),
        Assistant(
            "codex",
            "Codex",
            (USER,),
            _codex,
            (".codex",),
            ("codex",),
            ("Codex runs a new hook only after you trust it: it asks at its next start (or type /hooks there).",),
        ),
        Assistant(
            "agents-md",
            "AGENTS.md, CLAUDE.md, copilot-instructions.md",
            (PROJECT, USER),
            _agents_md,
            (),
            (),
            ("Assistants read these files when a session starts.",),
        ),
        Assistant(
            "notebook-intelligence",
            "Notebook Intelligence",
            (USER,),
            _notebook_intelligence,
            (".jupyter/nbi",),
            (),
            ("In its agent mode, tick the tools of the server once.",),
        ),
        Assistant(
            "marimo",
            "marimo",
            (USER, PROJECT),
            _marimo,
            (".marimo.toml", ".config/marimo"),
            ("marimo",),
            ('marimo offers tools with the extra "marimo[mcp]" and in its agent mode (ai.mode = "agent") only.',),
        ),
        Assistant(
            "mito",
            "Mito",
            (USER,),
            _mito,
            (".mito",),
            (),
            ("Mito reads its rules once for each chat: open a new one.",),
        ),
    )
}


def find(name: str) -> Assistant:
    """Return the assistant called *name*; UsageError names the nearest one."""
    found = ASSISTANTS.get(name.strip().lower())
    if found is None:
        import difflib

        near = difflib.get_close_matches(name, ASSISTANTS, n=1)
        advice = f"did you mean {near[0]}?" if near else f"assistants are {', '.join(ASSISTANTS)}"
        raise UsageError(f"there is no assistant {name!r} that can be connected", hint=advice)
    return found
