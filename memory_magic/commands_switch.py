"""Commands that switch memory: off, on, pause; and the one answer to whether anything reaches a prompt, and why not.

Four things can keep memory away, looked at in this order: a pause of this kernel, settings that cannot be told, the
setting `enabled` (environment before file), and a `.memory-magic.toml` with `memory = "off"` in this folder or above;
`use_memories` then decides on prompts alone. `state` tells which of them it is, for `status`, `view` and the greeting.

- `off` and `on` write `enabled` into config.toml: every assistant that uses this store, from its next prompt on.
- `pause` puts `MEMORY_MAGIC_ENABLED=paused` into the environment of the kernel. Whoever reads settings in this process,
  or in one that it starts, finds memory off; nothing is written, and a restart ends it. `on` puts back what was there.
- `off --project` writes the line into the project's own file, so that it holds for everybody who has the project.

What a person types (remember, search, dashboard …) works in all of them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memory_magic import settings as rules
from memory_magic.commands_base import YES, Command, Outcome, arg
from memory_magic.commands_table import one_line, plain
from memory_magic.errors import MemoryMagicError, SettingError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from memory_magic.commands_base import Context
    from memory_magic.settings import Settings
    from memory_magic.store.project_file import ProjectFile

VARIABLE: Final = rules.SETTINGS["enabled"].variable
HEADING: Final = "# memory-magic: nothing of this project goes into a memory or a prompt but what is typed by hand.\n"
_MAGIC: Final = "%"
_SAYING_IT: Final = frozenset({"config", "doctor", "status"})
_READING: Final = frozenset({"list", "search", "get", "status", "view", "history"})
"""Commands whose answer says what is wrong with the settings."""

_before_pause: list[str | None] = []  # what the variable was before this process was paused


@dataclass(frozen=True, slots=True)
class State:
    """Whether notes reach a prompt here: *why* is a word for programs, *said* a sentence for people.

    *why*: on, paused, broken, environment, off, project, use_memories.
    """

    on: bool
    why: str
    said: str


def state(context: Context, settings: Settings, off_here: list[ProjectFile]) -> State:
    """Tell whether anything is put into a prompt here; *off_here* are the project files that ask for no memory."""
    if rules.is_paused():
        return State(on=False, why="paused", said=_paused(context))
    found = rules.faults(context.root)
    if found:
        said = f"Memory is off until the settings are put right: {_fault(found)}. {context.run('doctor')} tells more."
        return State(on=False, why="broken", said=said)
    if not settings.enabled:
        return _switched_off(context)
    if off_here:
        return State(on=False, why="project", said=_off_here(off_here[0]))
    if not settings.use_memories:
        said = f"Memory is on, but use_memories is off: nothing is put into any prompt{_extracted(settings)}."
        return State(on=False, why="use_memories", said=said)
    said = f"Memory is on: assistants that are connected to this store are told the notes below{_extracted(settings)}."
    return State(on=True, why="on", said=said)


def _paused(context: Context) -> str:
    elsewhere = "on" if _elsewhere(context.root).enabled else "off"
    if _in_notebook(context):
        return (
            "Memory is paused in this notebook: this kernel and what it starts put nothing into a prompt "
            f"({context.run('on')} ends it). Elsewhere it is {elsewhere}."
        )
    return (
        "Memory is paused in the notebook that this was started from: nothing is put into a prompt here "
        f"(%memory on there ends it). Elsewhere it is {elsewhere}."
    )


def _switched_off(context: Context) -> State:
    if os.environ.get(VARIABLE) is not None and _elsewhere(context.root).enabled:
        said = f"Memory is off: {VARIABLE} in the environment says so and goes before config.toml, where it is on."
        return State(on=False, why="environment", said=said)
    said = f"Memory is off: nothing is put into any prompt ({context.run('on')} switches it on)."
    return State(on=False, why="off", said=said)


def _elsewhere(root: Path) -> Settings:
    """Return the settings without our own variable: what holds outside of this process."""
    return rules.load(root, {name: value for name, value in os.environ.items() if name != VARIABLE})


def _off_here(file: ProjectFile) -> str:
    if file.trouble:
        return (
            f"Memory is off in this project, because {one_line(file.trouble)} and might say so: nothing is put into a "
            "prompt here."
        )
    return (
        f'Memory is off in this project: {plain(file.path)} says memory = "off", so nothing is put into a prompt here.'
    )


def _extracted(settings: Settings) -> str:
    return "" if settings.generate_memories else "; past sessions are not extracted (generate_memories is off)"


def _fault(found: list[SettingError]) -> str:
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return one_line(f"{found[0].what} ({found[0].where}){more}")


def off_files(cwd: str | Path | None = None) -> list[ProjectFile]:
    """Return the project files of the folder and of those above it that ask for no memory, nearest first."""
    from memory_magic.store.project_file import project_files

    return [file for file in project_files(Path(os.path.realpath(cwd or Path.cwd()))) if file.off]


def warning(name: str, context: Context) -> str:
    """Return one line about what a command had to go on without: settings, or a memory file that cannot be read."""
    told = []
    found = [] if name in _SAYING_IT else rules.faults(context.root)
    if found:
        used = f"default values are used and memory is off until that is put right ({context.run('doctor')})"
        told.append(f"{_fault(found)}: {used}")
    unread = context.store().unread if name in _READING else ()
    if unread:
        more = f" (and {len(unread) - 1} more)" if len(unread) > 1 else ""
        told.append(one_line(f"a memory file cannot be read, so its notes are left out: {unread[0]}{more}"))
    return f"note: {'; '.join(told)}" if told else ""


def _in_notebook(context: Context) -> bool:
    """Tell a magic from the command line: only a magic outlives its command."""
    return context.prog.startswith(_MAGIC)


# -- off, on, pause -------------------------------------------------------------------------------------------------


def off(context: Context, args: Namespace) -> Outcome:
    """Switch memory off, everywhere or in this project."""
    if args.project:
        return _project_off(context, yes=args.yes)
    before = _elsewhere(context.root).enabled
    try:
        rules.set_value(context.root, "enabled", value=False, strict=False)
    except SettingError as error:
        if not rules.faults(context.root):
            raise
        raise SettingError(
            f"memory is off as long as {error.what}; nothing was written", where=error.where, hint=error.hint
        ) from error
    concerned = f"For every assistant that uses this store ({plain(context.root)}); a conversation that was told notes "
    lines = [f"{concerned}before keeps what it was told.", "Your notes, the commands and the dashboard work as before."]
    still_on = rules.load(context.root).enabled
    if still_on:
        here = f" {context.run('pause')} stops it in this notebook." if _in_notebook(context) else ""
        lines = [f"▲ Still on here: {VARIABLE} in the environment says so and goes before config.toml.{here}"]
    said = "Memory is off: from the next prompt on nothing is put in, captured, extracted or offered as a tool."
    return _outcome(context, said, [*lines, _saved(context)], changed=before, status=int(still_on))


def _saved(context: Context) -> str:
    return f"saved in {plain(rules.config_path(context.root))}"


def on(context: Context, args: Namespace) -> Outcome:
    """Switch memory on, or end what keeps it off here."""
    if args.project:
        return _project_on(context, yes=args.yes)
    before = rules.load(context.root).enabled
    rules.set_value(context.root, "enabled", value=True, strict=False)
    lines = []
    if rules.is_paused() and _in_notebook(context):
        _end_pause()
        lines.append("The pause of this notebook is over.")
    lines += _what_keeps_it_off(context)
    is_on = rules.load(context.root).enabled
    said = f"Memory is on: assistants that are connected to this store ({plain(context.root)}) are told your notes."
    if not is_on:
        said = "Memory is switched on, but not here:"
    return _outcome(context, said, [*lines, _saved(context)], changed=is_on and not before, status=int(not is_on))


def _what_keeps_it_off(context: Context) -> list[str]:
    """Return a line for each thing that still keeps memory away from here."""
    settings = rules.load(context.root)
    lines = []
    found = rules.faults(context.root)
    if found:
        lines.append(f"▲ Off until the settings are put right: {_fault(found)}. {context.run('doctor')} tells more.")
    elif rules.is_paused():
        lines.append("▲ Paused here: type %memory on in the notebook that this was started from.")
    elif not settings.enabled:
        lines.append(f"▲ Still off here: {VARIABLE} in the environment says so and goes before config.toml.")
    lines += [
        f"▲ {_off_here(file)} {context.run('on --project')} takes that out." for file in off_files(context.cwd)[:1]
    ]
    if not settings.use_memories:
        lines.append(
            f"▲ use_memories is off: nothing is put into a prompt ({context.run('config set use_memories on')})."
        )
    return lines


def pause(context: Context, args: Namespace) -> Outcome:  # noqa: ARG001 -- every command has this signature
    """Keep memory away from this notebook until `on` or a restart of its kernel."""
    if not _in_notebook(context):
        raise MemoryMagicError(
            "pause needs a notebook (%memory pause): a command of the terminal ends at once and changes nothing that "
            "was started before it",
            hint=f"for one project: {context.run('off --project')}; for everything: {context.run('off')}; for one "
            f"program: start it with {VARIABLE}=off",
        )
    before = rules.is_paused()
    if not before:
        _before_pause.append(os.environ.get(VARIABLE))
        os.environ[VARIABLE] = rules.PAUSED
    ends = f"It ends with {context.run('on')}, or when the kernel is restarted."
    beyond = "Not reached: assistants outside of this kernel, such as a chat panel or another terminal"
    lines = [
        f"{ends} What you type, %remember too, works as before.",
        f"{beyond} ({context.run('off')} switches memory off for all).",
    ]
    said = "Memory is paused in this notebook: its kernel and what that starts inject, capture and extract nothing."
    return _outcome(context, said, lines, changed=not before)


def _end_pause() -> None:
    value = _before_pause.pop() if _before_pause else None
    _before_pause.clear()
    if value is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = value


def _outcome(context: Context, said: str, lines: list[str], *, changed: bool, status: int = 0) -> Outcome:
    data = {
        "enabled": rules.load(context.root).enabled,
        "paused": rules.is_paused(),
        "project": None,
        "path": str(rules.config_path(context.root)),
        "changed": changed,
    }
    return Outcome("switched", data, {"said": said, "lines": lines}, status)


# -- one project ----------------------------------------------------------------------------------------------------


def _project_off(context: Context, *, yes: bool) -> Outcome:
    """Write `memory = "off"` into the project's file."""
    from memory_magic import settings_file

    there = off_files(context.cwd)
    path = there[0].path if there else _project(context) / _file_name()
    if not there:
        _require_plain(path)
        context.confirm(
            "Nothing of this project goes into a memory or a prompt then but what is typed by hand. The file belongs "
            f'to the project, so this holds for everybody who has it. Write memory = "off" into {plain(path)}?',
            yes=yes,
        )
        settings_file.replace_top(path, "memory", "off", heading=HEADING)
    said = f"Memory is {'off already' if there else 'off'} in this project: {plain(path)} says so."
    lines = ["Nothing is injected, captured, extracted or offered as a tool there; what you type is still kept."]
    if there and there[0].trouble:
        said, lines = _off_here(there[0]), ["Put the file right in an editor."]
    return _project_outcome(context, path, said, lines, changed=not there)


def _project_on(context: Context, *, yes: bool) -> Outcome:
    """Take `memory = "off"` out of the project's files again."""
    project = _project(context)
    there = off_files(context.cwd)
    own = [file for file in there if file.directory.is_relative_to(project)]
    for file in own:
        if file.trouble:
            raise SettingError(
                f"the project's file cannot be changed: {one_line(file.trouble)}", hint="put it right in an editor"
            )
        _require_plain(file.path)
    names = ", ".join(plain(file.path) for file in own)
    if own:
        context.confirm(
            "What you remember may then reach assistants that work in this project, and its sessions may be extracted. "
            f'Take memory = "off" out of {names}?',
            yes=yes,
        )
    for file in own:
        _take_out(file.path)
    lines = [f"▲ {_off_here(file)}" for file in off_files(context.cwd)]
    if not rules.load(context.root).enabled:
        lines.append(f"Memory as a whole is off: {context.run('on')} switches it on.")
    said = f"Memory is not switched off in this project any more: the line is gone from {names}."
    if not own:
        said = "Nothing to do: no file of this project switches memory off."
    path = own[0].path if own else project / _file_name()
    return _project_outcome(context, path, said, lines, changed=bool(own))


def _take_out(path: Path) -> None:
    """Take the line out, and the file with it where nothing else of weight is in it."""
    from memory_magic import settings_file
    from memory_magic.store import files

    settings_file.replace_top(path, "memory", None)
    if settings_file.read_text(path) in {HEADING, ""}:
        files.remove(str(path))


def _project(context: Context) -> Path:
    """Return the folder of the project that the present directory belongs to."""
    from memory_magic.store.scope import resolve

    project = resolve(Path(context.cwd or Path.cwd()), context.root).project
    if project is None:
        raise MemoryMagicError(
            "this folder belongs to no project (your home and the top of the file system never do)",
            hint="change to the folder of the project",
        )
    return project


def _file_name() -> str:
    from memory_magic.store.project_file import FILE_NAME

    return FILE_NAME


def _require_plain(path: Path) -> None:
    """Refuse a link: the file of a foreign project must not lead our pen elsewhere."""
    if path.is_symlink():
        raise SettingError("the project's file is a link", where=str(path), hint="change it in an editor")


def _project_outcome(context: Context, path: Path, said: str, lines: list[str], *, changed: bool) -> Outcome:
    data = {
        "enabled": rules.load(context.root).enabled,
        "paused": rules.is_paused(),
        "project": "off" if off_files(context.cwd) else "on",
        "path": str(path),
        "changed": changed,
    }
    return Outcome("switched", data, {"said": said, "lines": lines})


# -- the table ------------------------------------------------------------------------------------------------------


def _switched(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    return "\n".join([outcome.extra["said"], *(f"  {line}" for line in outcome.extra["lines"])])


PRINTERS: Final[dict[str, Callable[[Outcome, int | None, str], str]]] = {"switched": _switched}

_PROJECT: Final = arg(
    "--project", action="store_true", help="only in this project, by a line in its .memory-magic.toml"
)

ROWS: Final[tuple[Command, ...]] = (
    Command(
        "off",
        "Switch memory off: nothing is injected, captured, extracted or offered as a tool",
        off,
        (_PROJECT, YES),
        "Writes enabled = false into config.toml. Your own notes, the commands and the dashboard go on working.",
        scoped=False,
    ),
    Command(
        "on",
        "Switch memory on, or end a pause",
        on,
        (_PROJECT, YES),
        "Writes enabled = true into config.toml. What reaches a prompt is shown by view.",
        scoped=False,
    ),
    Command(
        "pause",
        "Keep memory away from this notebook until on, or a restart of its kernel",
        pause,
        (),
        "Nothing is written: the kernel and what it starts find memory off. Assistants outside of it are not reached.",
        scoped=False,
    ),
)
