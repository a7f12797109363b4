"""The command line: `memory-magic COMMAND …`.

Nothing is imported at the top, so that `memory-magic hook NAME`, which an assistant starts on every prompt, goes to the
hook without loading the table of commands. Everything else is `commands.run_words` with a terminal around it.

Exit status: 0 done, 1 an expected error or a finding, 2 wrong words. An error is one line on standard error that says
what to do; `memory_magic.text.report.error_text` makes it. A reader that closes the pipe early ends us quietly.
"""


def main(argv: list[str] | None = None) -> int:
    """Run one command; return the exit status."""
    import sys

    _open_closed_streams()
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["hook"]:
        return _hook(words[1:])
    try:
        status = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        import os

        # the reader went away (| head): what is still buffered must not raise at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        _say("stopped", sys.stderr)
        return 130
    return status


def _open_closed_streams() -> None:
    """Put the null device where standard input, output or error was closed (`>&-`): Python has None there.

    In this order each gets its own number back, so that no file of the store is ever taken for standard output.
    """
    import os
    import sys

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 -- open to the end


def _answer(text: str) -> None:
    """Print what a command found; MemoryMagicError when that cannot be written (the command itself is done)."""
    import sys

    try:
        _say(text, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        import os

        from memory_magic.errors import StoreAccessError

        # what is still buffered must not raise once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise StoreAccessError(
            f"the command is done, but its answer could not be printed: {error.strerror or type(error).__name__}",
            where="standard output",
        ) from error


def _say(text: str, stream: "TextIO") -> None:
    """Print *text* as lines of its own."""
    stream.write(f"{text}\n")


def _hook(words: list[str]) -> int:
    """Answer a hook's payload; nothing here may load more than the hook itself needs."""
    import gc

    # the process lives for one answer, and nothing that it loads becomes garbage: 125 instead of 129 ms, measured once
    gc.disable()
    try:
        return _answer_hook(words)
    finally:
        gc.enable()


def _answer_hook(words: list[str]) -> int:
    """Answer the payload of the hook that *words* name."""
    import sys

    if words[:1] in (["claude-code"], ["codex"]):
        from memory_magic.assistants.agent_hooks import run_process as answer_agent

        return answer_agent(words, sys.stdin, sys.stdout, sys.stderr)
    if words != ["capsule"]:
        known = (
            "memory-magic hook capsule, claude-code or codex  (payload on standard input, answer on standard output)"
        )
        _say(f"memory-magic: hook needs the name of a hook that is known: {known}", sys.stderr)
        return 2
    from memory_magic.errors import MemoryMagicError

    try:
        from memory_magic.prompt.hook import run_process

        run_process(sys.stdin.buffer, sys.stdout)
    except (MemoryMagicError, OSError) as error:
        return _failed(error)
    return 0


def _failed(error: Exception) -> int:
    """Say on one line what went wrong and what to do; return the exit status."""
    import sys

    from memory_magic.text.report import error_text

    _say(f"memory-magic: {error_text(error)}", sys.stderr)
    return getattr(error, "exit_status", 1)


def _run(words: list[str]) -> int:
    """Run a command of the table and print what it found; turn expected errors into one line."""
    import sys

    from memory_magic.commands_base import Context, HelpAsked, ask_person
    from memory_magic.errors import MemoryMagicError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # a terminal that cannot show a character shows its escape: no note may break a listing
            stream.reconfigure(errors="backslashreplace")
    context = Context(ask=ask_person, serve=_serve)
    try:
        try:
            return _dispatch(words, context)
        except HelpAsked as help_text:
            _answer(str(help_text).rstrip())
            return 0
    except BrokenPipeError:
        raise
    except (MemoryMagicError, OSError) as error:
        return _failed(error)
    finally:
        context.close()


def _dispatch(words: list[str], context: "Context") -> int:
    """Find the command, run it, print its outcome."""
    import sys

    from memory_magic import commands
    from memory_magic.commands_base import COMMON
    from memory_magic.commands_print import as_json, as_text
    from memory_magic.commands_switch import warning
    from memory_magic.errors import UsageError

    before, name, after = commands.split_name(words)
    if name is None:
        if before and commands.takes_value(COMMON).get(before[-1]):
            raise UsageError(f"{before[-1]} needs a value after it")
        return _without_command(before)
    if name == "hook":
        raise UsageError("hook takes no options before it", hint="memory-magic hook capsule")
    command = commands.find(name)
    outcome, args = commands.run_words(command, [*before, *after], context)
    if args.scope and not command.scoped:
        _say(f"note: --scope has no effect on {name}", sys.stderr)
    if note := warning(command.name, context):
        _say(note, sys.stderr)
    text = as_json(outcome) if args.json else as_text(outcome, width=_width(), prog=context.prog)
    if text and not outcome.extra.get("told"):
        _answer(text)
    return outcome.status


def _without_command(options: list[str]) -> int:
    """Answer `memory-magic`, `--help` and `--version`."""
    import sys

    if "--version" in options:
        import memory_magic

        _answer(f"memory-magic {memory_magic.__version__}")
        return 0
    asked = "-h" in options or "--help" in options
    if not asked:
        _say(_overview(), sys.stderr)
        return 2
    _answer(_overview())
    return 0


def _overview() -> str:
    """Return the help text of the whole."""
    from memory_magic.commands import summary_lines
    from memory_magic.commands_base import COMMON

    options = "\n".join(f"  {', '.join(item.flags):<12}  {item.options['help']}" for item in COMMON)
    return (
        "memory-magic: a local, readable memory for the AI assistants that you use in notebooks\n\n"
        f"commands (memory-magic COMMAND --help tells more):\n{summary_lines('memory-magic')}\n"
        "  memory-magic hook capsule  answer an assistant's hook (payload on standard input)\n\n"
        f"options, before or after the command:\n{options}\n"
        "  --version     print the version"
    )


def _width() -> int | None:
    """Return the terminal's width, or None when the output goes elsewhere: nothing is cut then."""
    import shutil
    import sys

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _serve(root: "Path", *, cwd: "str | Path | None", port: int, browser: bool, as_json: bool = False) -> None:
    """Run the dashboard until it is stopped."""
    try:
        from memory_dashboard.server import serve
    except ImportError as error:
        from memory_magic.errors import MissingExtraError

        raise MissingExtraError(
            "the dashboard is not installed", hint="install it: pip install 'memory-magic[dashboard]'"
        ) from error
    serve(root, cwd=cwd, port=port, browser=browser, as_json=as_json)


TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import TextIO

    from memory_magic.commands_base import Context

if __name__ == "__main__":
    raise SystemExit(main())
