"""Every setting in one table: name, type, default, range, meaning, and the system that it comes from.

The table *is* the dataclass `Settings`: each attribute carries its range and meaning in its field's metadata, so that a
key cannot exist in one place only. `SETTINGS` lists them for help, reference page and checks.

A value comes from the environment (`MEMORY_MAGIC_<KEY>`), else from `[memories]` of `<root>/config.toml`, else from
the preset, else from the default. Nothing is guessed: an unknown key in the file or a value out of range is a
`SettingError` that names key, value, range and place. A value is shown in an error only after redaction: it could be a
password typed by mistake. Writing goes through `settings_file`, which changes one line and keeps every other byte.

Standard library only: the hook process reads settings on every prompt.
"""

from __future__ import annotations

import os
import re
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

from memory_magic import settings_file
from memory_magic.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TABLE: Final = "memories"
PREFIX: Final = "MEMORY_MAGIC_"
NO_SETTINGS: Final = frozenset({"MEMORY_MAGIC_HOME", "MEMORY_MAGIC_BENCH_DATA"})
"""Variables with our prefix that name places, not settings."""

ON: Final = frozenset({"1", "on", "true", "yes", "y", "enabled"})
OFF: Final = frozenset({"0", "off", "false", "no", "n", "disabled", ""})

PRESETS: Final[dict[str, dict[str, object]]] = {
    "oh-my-pi": {},
    "codex": {"max_rollouts_per_startup": 2, "max_rollout_age_days": 10, "min_rollout_idle_hours": 6},
}
"""Defaults that `preset` replaces; a value of one's own still wins."""

_LONGEST = 500
_SHOWN = 80
_MANY = 10_000_000


class _UnfitError(ValueError):
    """A raw value does not fit; the caller knows key and place."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How a setting's raw value is read; *range* says in words what is allowed."""

    name: str
    range: str
    read: Callable[[object], Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table."""

    name: str
    kind: Kind
    default: Any
    meaning: str
    source: str

    @property
    def variable(self) -> str:
        """Return the environment variable that overrides it."""
        return PREFIX + self.name.upper()


@dataclass(frozen=True, slots=True)
class Value:
    """A setting's present value and *origin*: `environment`, `config.toml`, `preset` or `default`."""

    setting: Setting
    value: Any
    origin: str


def _switch(default: bool, meaning: str, source: str) -> Any:  # noqa: FBT001 -- one row of the table
    return _row(default, Kind("switch", "on or off", _read_switch), meaning, source)


def _number(default: int, low: int, high: int, meaning: str, source: str) -> Any:
    def read(raw: object) -> int:
        return _read_number(raw, low, high)

    return _row(default, Kind("number", f"{low:,} to {high:,}", read), meaning, source)


def _limit(low: int, none: str, meaning: str, source: str) -> Any:
    """Make a row for a number that may be missing; *none* is the word for that."""

    def read(raw: object) -> int | None:
        if raw is False or str(raw).strip().casefold() in {none, "off", "none", ""}:
            return None
        return _read_number(raw, low, _MANY)

    return _row(None, Kind("limit", f"{none}, or {low:,} to {_MANY:,}", read), meaning, source)


def _choice(default: str, choices: tuple[str, ...], meaning: str, source: str) -> Any:
    def read(raw: object) -> str:
        word = _read_text(raw).casefold()
        if word not in choices:
            raise _UnfitError
        return word

    return _row(default, Kind("choice", " or ".join(choices), read), meaning, source)


def _text(default: str, allowed: str, meaning: str, source: str) -> Any:
    return _row(default, Kind("text", allowed, _read_text), meaning, source)


def _names(separator: str, allowed: str, meaning: str, source: str) -> Any:
    def read(raw: object) -> tuple[str, ...]:
        parts = raw if isinstance(raw, list | tuple) else str(raw).split(separator)
        return tuple(text for part in parts if (text := _read_text(part)))

    return _row((), Kind("list", f"{allowed}, with {separator!r} between", read), meaning, source)


def _row(default: object, kind: Kind, meaning: str, source: str) -> Any:
    return field(default=default, metadata={"kind": kind, "meaning": meaning, "source": source})


def _read_switch(raw: object) -> bool:
    word = str(raw).strip().casefold()
    if not isinstance(raw, bool | int | str) or word not in ON | OFF:
        raise _UnfitError
    return word in ON


def _read_number(raw: object, low: int, high: int) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int | str) or len(str(raw)) > _SHOWN:
        raise _UnfitError
    try:
        number = int(raw)
    except ValueError:
        raise _UnfitError from None
    if not low <= number <= high:
        raise _UnfitError
    return number


def _read_text(raw: object) -> str:
    if not isinstance(raw, str) or len(raw) > _LONGEST or any(not char.isprintable() for char in raw):
        raise _UnfitError
    return raw.strip()


def _read_folder(raw: object) -> str:
    """Return the name of a folder below a project: relative, and never upwards."""
    text = _read_text(raw)
    path = PurePath(text)
    if not text or path.is_absolute() or ".." in path.parts or not path.parts or "\\" in text:
        raise _UnfitError
    return text


_FOLDER = Kind("text", "a relative folder name without ..", _read_folder)
_OURS = "memory-magic"
_BOTH = "oh-my-pi, CodeWhale"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a root, each within its range. `None` in a limit means that there is none."""

    enabled: bool = _switch(
        default=False, meaning="inject, capture, extract and offer tools; your own notes always work", source=_BOTH
    )
    use_memories: bool = _switch(default=True, meaning="put memory into prompts (when enabled)", source="codex")
    generate_memories: bool = _switch(
        default=True, meaning="extract memories from past sessions (when enabled)", source="codex"
    )
    quick_capture: bool = _switch(
        default=False, meaning="a cell that is one line '# text' is remembered (when enabled)", source="CodeWhale"
    )
    cwd_dir: str = _row(".memory-magic", _FOLDER, "folder of a project's memory.md", "capsule")
    personal_bytes: int = _number(32_768, 0, 1_048_576, "bytes of the personal memory file in a block", "capsule")
    project_bytes: int = _number(32_768, 0, 1_048_576, "bytes of the project memory file in a block", "capsule")
    notes_entries: int = _number(32, 0, 1_000, "notes in a block", "CodeWhale")
    notes_characters: int = _number(
        12_000, 0, 1_000_000, "characters of the notes part of a block, wrapper included", "CodeWhale"
    )
    summary_injection_token_limit: int = _number(
        5_000, 0, 1_000_000, "tokens of the consolidated summaries in a block", "oh-my-pi"
    )
    total_token_limit: int | None = _limit(0, "off", "tokens of a whole block", _OURS)
    preset: str = _choice("oh-my-pi", tuple(PRESETS), "defaults for the three limits of a start", "oh-my-pi, codex")
    max_rollouts_per_startup: int = _number(64, 1, 128, "sessions extracted at one start", "oh-my-pi, codex")
    max_rollout_age_days: int = _number(30, 0, 90, "days after which a session is too old", "oh-my-pi, codex")
    min_rollout_idle_hours: int = _number(12, 1, 48, "hours that a session must have rested", "oh-my-pi, codex")
    stage_one_token_limit: int | None = _limit(
        1, "auto", "tokens of a session that are sent; auto is 70 % of the model's window", "codex"
    )
    lease_seconds: int = _number(3_600, 1, 86_400, "seconds that a job is held without a sign of life", "codex")
    retry_seconds: int = _number(3_600, 0, 604_800, "seconds before a failed job is tried again", "codex")
    max_attempts: int = _number(3, 1, 20, "tries for each version of a session", "codex")
    concurrency: int = _number(8, 1, 64, "sessions extracted at one time", "codex")
    scan_limit: int = _number(5_000, 1, 1_000_000, "sessions looked at in one scan", "codex")
    min_rate_limit_remaining_percent: int = _number(
        25, 0, 100, "percent of a rate limit that must be left to start", "codex"
    )
    max_unused_days: int = _number(30, 0, 365, "days after which an unused output is pruned", "codex")
    phase_two_lease_seconds: int = _number(3_600, 1, 86_400, "seconds that a consolidation is held", "codex")
    heartbeat_seconds: int = _number(90, 1, 3_600, "seconds between two signs of life", "codex")
    raw_memories_limit: int = _number(256, 1, 4_096, "outputs that one consolidation reads", "codex")
    model_default: str = _text("offline", "a model's name, or offline", "model of stage one", "oh-my-pi, codex")
    model_smol: str = _text("", "a model's name, or empty for model_default", "model of consolidation", "oh-my-pi")
    extract_model: str = _text("", "a model's name, or empty", "stage-one model that overrides its role", "codex")
    consolidation_model: str = _text("", "a model's name, or empty", "consolidation model that overrides", "codex")
    search_limit: int = _number(8, 1, 20, "hits of one search by a tool", "CodeWhale")
    index_path: str = _text("", "a path, :memory:, or empty for the root", "place of the disposable index", _OURS)
    recall: str = _choice("off", ("off", "relevant"), "append search hits for the prompt to a block", _OURS)
    remote_sources: tuple[str, ...] = _names(
        ",", "kinds of sessions", "local-only sessions that may go to a remote model", _OURS
    )
    max_tokens_per_day: int | None = _limit(0, "off", "tokens that models may use in a day", _OURS)
    keep_generations: int = _number(20, 1, 10_000, "earlier consolidations that are kept", _OURS)
    ledger_days: int | None = _limit(1, "off", "days that the ledger is kept; off keeps all", _OURS)
    session_folders: tuple[str, ...] = _names(
        os.pathsep, "folders", "where past sessions lie; empty means the tools' own places", _OURS
    )


def _table() -> dict[str, Setting]:
    """Return the rows by name, read off the dataclass."""
    rows = {}
    for item in fields(Settings):
        default = None if item.default is MISSING else item.default
        meta = item.metadata
        rows[item.name] = Setting(item.name, meta["kind"], default, meta["meaning"], meta["source"])
    return rows


SETTINGS: Final[dict[str, Setting]] = _table()


def find_root(root: str | Path | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the store's root: *root*, else `$MEMORY_MAGIC_HOME`, else `~/.memory-magic`; absolute, `~` expanded."""
    chosen = str(root) if root is not None else environ.get("MEMORY_MAGIC_HOME") or "~/.memory-magic"
    if "\0" in chosen:
        raise SettingError("the root's name holds a NUL character", where="--root or MEMORY_MAGIC_HOME")
    if not chosen:
        raise SettingError("the root's name is empty", where="--root", hint="name a directory")
    home = environ.get("HOME")
    try:
        if chosen == "~" or chosen.startswith("~/"):
            if home == "":
                raise SettingError("HOME is empty", hint="set it, or name a directory with --root")
            chosen = (home or str(Path.home())) + chosen[1:]
        path = Path(os.path.abspath(Path(chosen).expanduser()))  # noqa: PTH100 -- resolve() would follow links
    except RuntimeError as error:
        raise SettingError(
            "there is no home directory to keep the memory in",
            where="MEMORY_MAGIC_HOME",
            hint="name a directory with --root or MEMORY_MAGIC_HOME",
        ) from error
    if path.is_file():
        where = "--root" if root is not None else "MEMORY_MAGIC_HOME"
        raise SettingError(f"{path} is a file; the root must be a folder", where=where, hint="name a folder")
    return path


def config_path(root: Path) -> Path:
    """Return the place of the settings file."""
    return root / "config.toml"


def load(root: Path, environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings in force; SettingError for an unknown key in the file or a value out of range."""
    return Settings(**{name: found.value for name, found in explain(root, environ).items()})


def explain(root: Path, environ: Mapping[str, str] = os.environ) -> dict[str, Value]:
    """Return each setting's value with where it comes from, in the table's order; errors as `load`."""
    path = config_path(root)
    text = settings_file.read_text(path) or ""
    given = _from_file(text, path)
    preset = _one(SETTINGS["preset"], given, path, text, environ)
    return {
        setting.name: _one(setting, given, path, text, environ, PRESETS[preset.value]) for setting in SETTINGS.values()
    }


def explain_one(root: Path, setting: Setting, environ: Mapping[str, str] = os.environ) -> Value:
    """Return what environment or file say of one *setting*, whatever the others are; the preset is not looked at."""
    path = config_path(root)
    text = settings_file.read_text(path) or ""
    return _one(setting, _from_file(text, path), path, text, environ)


def _one(
    setting: Setting,
    given: Mapping[str, object],
    path: Path,
    text: str,
    environ: Mapping[str, str],
    preset: Mapping[str, object] | None = None,
) -> Value:
    """Return one setting's value: environment, file, preset, default."""
    raw = environ.get(setting.variable)
    if raw is not None and (raw.strip() or setting.kind.name == "switch"):
        return Value(setting, _checked(setting, raw, setting.variable), "environment")
    if setting.name in given:
        line = settings_file.line_of(text, (TABLE, setting.name))
        return Value(
            setting, _checked(setting, given[setting.name], f"{path}:{line}" if line else str(path)), path.name
        )
    if preset and setting.name in preset:
        return Value(setting, preset[setting.name], "preset")
    return Value(setting, setting.default, "default")


def _from_file(text: str, path: Path) -> Mapping[str, object]:
    """Return the keys of `[memories]`; SettingError for unknown ones and for settings outside the table."""
    tables = settings_file.parse(text, path)
    for name, value in tables.items():
        if name != TABLE and not isinstance(value, dict | list):
            raise _unknown(name, value, f"{path}:{settings_file.line_of(text, (name,)) or 1}", outside=True)
    given = tables.get(TABLE, {})
    if not isinstance(given, dict):
        raise SettingError(f"{TABLE} is no table", where=str(path), hint=f"write [{TABLE}] and the settings below it")
    for name, value in given.items():
        if name not in SETTINGS:
            raise _unknown(name, value, f"{path}:{settings_file.line_of(text, (TABLE, name)) or 1}")
    return given


def _checked(setting: Setting, raw: object, where: str) -> Any:
    """Return the value of *raw* or raise a SettingError that names key, value and range."""
    try:
        return setting.kind.read(raw)
    except _UnfitError:
        numeric = setting.kind.name in {"number", "limit"}
        fault = "is out of range" if not numeric or _is_number(raw) else "is no number"
        raise SettingError(
            f"{setting.name} = {_shown(raw)} {fault}: {setting.name} may be {setting.kind.range}",
            where=where,
            hint=f"its default is {show(setting.default, setting)}",
        ) from None


def _is_number(raw: object) -> bool:
    """Tell whether a raw value is a whole number, in range or not."""
    if isinstance(raw, str):
        return bool(re.fullmatch(r"\s*[+-]?[0-9_]+\s*", raw))
    return isinstance(raw, int) and not isinstance(raw, bool)


def _unknown(name: str, value: object, where: str, *, outside: bool = False) -> SettingError:
    """Return the error for a key that is no setting, with the nearest name that is one."""
    if outside and name in SETTINGS:
        return SettingError(
            f"{name} = {_shown(value)} stands outside of [{TABLE}]", where=where, hint=f"move it below a line [{TABLE}]"
        )
    return unknown_setting(name, where=where, value=value)


def unknown_setting(name: str, *, where: str = "", value: object = None) -> SettingError:
    """Return the error for a *name* that is no setting; it names the nearest one and where all are listed."""
    import difflib

    near = difflib.get_close_matches(name, SETTINGS, n=1)
    assigned = "" if value is None else f" = {_shown(value)}"
    advice = f"did you mean {near[0]}? All: memory-magic config" if near else "all settings: memory-magic config"
    return SettingError(f"there is no setting {_shown(name)}{assigned}", where=where, hint=advice)


def _shown(raw: object) -> str:
    """Return a raw value as an error may show it: redacted, one line, short."""
    from memory_magic.text.redact import redact

    written = settings_file.literal(raw) if isinstance(raw, bool) else repr(raw)
    text = redact(raw if isinstance(raw, str) else written).text
    text = "".join(char if char.isprintable() else " " for char in text)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def show(value: object, setting: Setting | None = None) -> str:
    """Return a setting's value as a person writes it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return setting.kind.range.split(",")[0] if setting else "off"
    if isinstance(value, tuple):
        return ", ".join(value) if value else "(none)"
    return f"{value:,}" if isinstance(value, int) else str(value) or "(empty)"


def find_setting(key: str) -> Setting:
    """Return the row for `enabled` or `memories.enabled`; SettingError for an unknown one."""
    name = key.strip().removeprefix(f"{TABLE}.")
    setting = SETTINGS.get(name)
    if setting is None:
        raise unknown_setting(name)
    return setting


def set_value(root: Path, key: str, value: object, environ: Mapping[str, str] = os.environ) -> Any:
    """Write one setting into config.toml and return it as read; every other byte of the file stays.

    SettingError for an unknown key (also one in the file), a value out of range (also one in the variable that goes
    before the file), or a file that cannot be edited safely: nothing is written then. StoreAccessError when the disk
    refuses. Other settings may be out of range: each can be put right by itself.
    """
    setting = find_setting(key)
    path = config_path(root)
    checked = _checked(setting, value, f"config set {setting.name}")
    _from_file(settings_file.read_text(path) or "", path)
    _one(setting, {}, path, "", environ)
    stored = setting.kind.range.split(",")[0] if checked is None else checked
    settings_file.replace_value(path, TABLE, setting.name, stored)
    return checked


def unknown_variables(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names of `MEMORY_MAGIC_…` variables that are no setting, sorted (never their values)."""
    known = {setting.variable for setting in SETTINGS.values()} | NO_SETTINGS
    return sorted(name for name in environ if name.startswith(PREFIX) and name not in known)
