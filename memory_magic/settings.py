"""Every setting in one table: name, type, default, range, meaning, and the system that it comes from.

The table *is* the dataclass `Settings`: each attribute carries its range and meaning in its field's metadata, so that a
key cannot exist in one place only. `SETTINGS` lists them for help, reference page and checks.

A value comes from the environment (`MEMORY_MAGIC_<KEY>`), else from `[memories]` of `<root>/config.toml`, else from
the preset, else from the default. An unknown key in the file or a value out of range is a `SettingError` that names
key, value, range and place: `explain` and `set_value` raise it, `faults` lists all. `load` never fails for it, since a
slip in a file must not lock people out of their own notes: a setting that cannot be told has its default, and then
`enabled` is false whatever the file says, because unknown means deny.

A value is shown in an error only after redaction: it could be a password typed by mistake. Writing goes through
`settings_file`, which changes one line and keeps every other byte.

Standard library only: the hook process reads settings on every prompt.
"""

from __future__ import annotations

import os
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memory_magic import settings_file
from memory_magic import settings_kinds as kinds
from memory_magic.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

TABLE: Final = "memories"
PREFIX: Final = "MEMORY_MAGIC_"
NO_SETTINGS: Final = frozenset({"MEMORY_MAGIC_HOME", "MEMORY_MAGIC_BENCH_DATA"})
"""Variables with our prefix that name places, not settings."""

ON: Final = kinds.ON
OFF: Final = kinds.OFF
PAUSED: Final = kinds.PAUSED

PRESETS: Final[dict[str, dict[str, object]]] = {
    "oh-my-pi": {},
    "codex": {"max_rollouts_per_startup": 2, "max_rollout_age_days": 10, "min_rollout_idle_hours": 6},
}
"""Defaults that `preset` replaces; a value of one's own still wins."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table."""

    name: str
    kind: kinds.Kind
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


_OURS = "memory-magic"
_BOTH = "oh-my-pi, CodeWhale"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a root, each within its range. `None` in a limit means that there is none."""

    enabled: bool = kinds.switch(
        default=False, meaning="inject, capture, extract and offer tools; your own notes always work", source=_BOTH
    )
    use_memories: bool = kinds.switch(default=True, meaning="put memory into prompts (when enabled)", source="codex")
    generate_memories: bool = kinds.switch(
        default=True, meaning="extract memories from past sessions (when enabled)", source="codex"
    )
    quick_capture: bool = kinds.switch(
        default=False, meaning="a cell that is one line '# text' is remembered (when enabled)", source="CodeWhale"
    )
    cwd_dir: str = kinds.row(".memory-magic", kinds.FOLDER, "folder of a project's memory.md", "capsule")
    personal_bytes: int = kinds.number(32_768, 0, 1_048_576, "bytes of the personal memory file in a block", "capsule")
    project_bytes: int = kinds.number(32_768, 0, 1_048_576, "bytes of the project memory file in a block", "capsule")
    notes_entries: int = kinds.number(32, 0, 1_000, "notes in a block", "CodeWhale")
    notes_characters: int = kinds.number(
        12_000, 0, 1_000_000, "characters of the notes part of a block, wrapper included", "CodeWhale"
    )
    summary_injection_token_limit: int = kinds.number(
        5_000, 0, 1_000_000, "tokens of the consolidated summaries in a block", "oh-my-pi"
    )
    total_token_limit: int | None = kinds.limit(0, "off", "tokens of a whole block", _OURS)
    preset: str = kinds.choice(
        "oh-my-pi", tuple(PRESETS), "defaults for the three limits of a start", "oh-my-pi, codex"
    )
    max_rollouts_per_startup: int = kinds.number(64, 1, 128, "sessions extracted at one start", "oh-my-pi, codex")
    max_rollout_age_days: int = kinds.number(30, 0, 90, "days after which a session is too old", "oh-my-pi, codex")
    min_rollout_idle_hours: int = kinds.number(12, 1, 48, "hours that a session must have rested", "oh-my-pi, codex")
    stage_one_token_limit: int | None = kinds.limit(
        1, "auto", "tokens of a session that are sent; auto is 70 % of the model's window", "codex"
    )
    lease_seconds: int = kinds.number(3_600, 1, 86_400, "seconds that a job is held without a sign of life", "codex")
    retry_seconds: int = kinds.number(3_600, 0, 604_800, "seconds before a failed job is tried again", "codex")
    max_attempts: int = kinds.number(3, 1, 20, "tries for each version of a session", "codex")
    concurrency: int = kinds.number(8, 1, 64, "sessions extracted at one time", "codex")
    scan_limit: int = kinds.number(5_000, 1, 1_000_000, "sessions looked at in one scan", "codex")
    min_rate_limit_remaining_percent: int = kinds.number(
        25, 0, 100, "percent of a rate limit that must be left to start", "codex"
    )
    max_unused_days: int = kinds.number(30, 0, 365, "days after which an unused output is pruned", "codex")
    phase_two_lease_seconds: int = kinds.number(3_600, 1, 86_400, "seconds that a consolidation is held", "codex")
    heartbeat_seconds: int = kinds.number(90, 1, 3_600, "seconds between two signs of life", "codex")
    raw_memories_limit: int = kinds.number(256, 1, 4_096, "outputs that one consolidation reads", "codex")
    model_default: str = kinds.text("offline", "a model's name, or offline", "model of stage one", "oh-my-pi, codex")
    model_smol: str = kinds.text("", "a model's name, or empty for model_default", "model of consolidation", "oh-my-pi")
    extract_model: str = kinds.text("", "a model's name, or empty", "stage-one model that overrides its role", "codex")
    consolidation_model: str = kinds.text("", "a model's name, or empty", "consolidation model that overrides", "codex")
    search_limit: int = kinds.number(8, 1, 20, "hits of one search by a tool", "CodeWhale")
    index_path: str = kinds.text("", "a path, :memory:, or empty for the root", "place of the disposable index", _OURS)
    recall: str = kinds.choice("off", ("off", "relevant"), "append search hits for the prompt to a block", _OURS)
    remote_sources: tuple[str, ...] = kinds.names(
        ",", "kinds of sessions", "local-only sessions that may go to a remote model", _OURS
    )
    max_tokens_per_day: int | None = kinds.limit(0, "off", "tokens that models may use in a day", _OURS)
    keep_generations: int = kinds.number(20, 1, 10_000, "earlier consolidations that are kept", _OURS)
    ledger_days: int | None = kinds.limit(1, "off", "days that the ledger is kept; off keeps all", _OURS)
    session_folders: tuple[str, ...] = kinds.names(
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
    there = next(one for one in (path, *path.parents) if os.path.exists(one) or one == one.parent)  # noqa: PTH110
    if os.path.exists(there) and not there.is_dir():  # noqa: PTH110 -- Path.exists raises where we may not look
        where = "--root" if root is not None else "MEMORY_MAGIC_HOME"
        raise SettingError(f"{there} is a file; the root must be a folder", where=where, hint="name a folder")
    return path


def config_path(root: Path) -> Path:
    """Return the place of the settings file."""
    return root / "config.toml"


def load(root: Path, environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings in force; with a fault the setting's default, and `enabled` is false."""
    return _read(root, environ)[0]


def faults(root: Path, environ: Mapping[str, str] = os.environ) -> list[SettingError]:
    """Return everything that is wrong with the settings, in file order, then variables; empty when all is well."""
    return _read(root, environ)[1]


def is_paused(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether this process, or the kernel that started it, is paused."""
    return environ.get(SETTINGS["enabled"].variable, "").strip().casefold() == PAUSED


def _read(root: Path, environ: Mapping[str, str]) -> tuple[Settings, list[SettingError]]:
    path = config_path(root)
    found: list[SettingError] = []
    content = ""
    given: dict[str, object] = {}
    try:
        content = settings_file.read_text(path) or ""
        given, found = _sorted_out(content, path)
    except SettingError as error:
        found.append(error)
    values: dict[str, Any] = {}
    preset: Mapping[str, object] = {}
    for setting in (SETTINGS["preset"], *SETTINGS.values()):
        if setting.name in values:
            continue
        try:
            values[setting.name] = _one(setting, given, path, content, environ, preset).value
        except SettingError as error:
            found.append(error)
            values[setting.name] = preset.get(setting.name, setting.default)
        preset = PRESETS[values["preset"]]
    if found:
        values["enabled"] = False
    return Settings(**values), found


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
    given, found = _sorted_out(text, path)
    if found:
        raise found[0]
    return given


def _sorted_out(text: str, path: Path) -> tuple[dict[str, object], list[SettingError]]:
    """Return the known keys of `[memories]` and an error for each other one; SettingError where there is no telling."""
    tables = settings_file.parse(text, path)
    found = [
        _unknown(name, value, f"{path}:{settings_file.line_of(text, (name,)) or 1}", outside=True)
        for name, value in tables.items()
        if name != TABLE and not isinstance(value, dict | list)
    ]
    given = tables.get(TABLE, {})
    if not isinstance(given, dict):
        raise SettingError(f"{TABLE} is no table", where=str(path), hint=f"write [{TABLE}] and the settings below it")
    found += [
        _unknown(name, value, f"{path}:{settings_file.line_of(text, (TABLE, name)) or 1}")
        for name, value in given.items()
        if name not in SETTINGS
    ]
    return {name: value for name, value in given.items() if name in SETTINGS}, found


def _checked(setting: Setting, raw: object, where: str) -> Any:
    """Return the value of *raw* or raise a SettingError that names key, value and range."""
    try:
        return setting.kind.read(raw)
    except kinds.UnfitError:
        numeric = setting.kind.name in {"number", "limit"}
        fault = "is out of range" if not numeric or kinds.is_number(raw) else "is no number"
        raise SettingError(
            f"{setting.name} = {_shown(raw)} {fault}: {setting.name} may be {setting.kind.range}",
            where=where,
            hint=f"its default is {show(setting.default, setting)}",
        ) from None


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
    return text if len(text) <= kinds.SHOWN else text[: kinds.SHOWN - 1] + "…"


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


def set_value(
    root: Path, key: str, value: object, environ: Mapping[str, str] = os.environ, *, strict: bool = True
) -> Any:
    """Write one setting into config.toml and return it as read; every other byte of the file stays.

    SettingError for an unknown key (also one in the file), a value out of range (also one in the variable that goes
    before the file), or a file that cannot be edited safely: nothing is written then. StoreAccessError when the disk
    refuses. Other settings may be out of range: each can be put right by itself. Not *strict*: nor may unknown keys or
    the variable stop it (memory can be switched off whatever else is wrong).
    """
    setting = find_setting(key)
    path = config_path(root)
    checked = _checked(setting, value, f"config set {setting.name}")
    if strict:
        _from_file(settings_file.read_text(path) or "", path)
        _one(setting, {}, path, "", environ)
    stored = setting.kind.range.split(",")[0] if checked is None else checked
    settings_file.replace_value(path, TABLE, setting.name, stored)
    return checked


def unknown_variables(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names of `MEMORY_MAGIC_…` variables that are no setting, sorted (never their values)."""
    known = {setting.variable for setting in SETTINGS.values()} | NO_SETTINGS
    return sorted(name for name in environ if name.startswith(PREFIX) and name not in known)
