"""Errors that a user can meet, each saying what happened, where, and what to do.

One base, `MemoryMagicError`, so that a caller may catch everything of ours; each subclass also derives from the
built-in that a caller would expect (a missing note is a `LookupError`). `memory_magic.text.report.error_text` is the
one place that turns any exception into text for magics, command line, MCP and dashboard. Nothing of ours is imported.

An error never quotes a secret: whoever raises one with text that a person typed redacts it first, and `error_text`
redacts once more.
"""

from __future__ import annotations


class MemoryMagicError(Exception):
    """Base of all expected errors: *what* happened, *where* (path:line or a setting), *hint*: what to do."""

    exit_status = 1

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        """Keep the three parts, so that a front end may lay them out."""
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        advice = f". {self.hint[0].upper()}{self.hint[1:]}" if self.hint else ""
        return f"{self.what}{place}{advice}"

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling between processes with all three parts."""
        return (_restore, (type(self), self.what, self.where, self.hint))


def _restore(kind: type[MemoryMagicError], what: str, where: str, hint: str) -> MemoryMagicError:
    """Build an error again from its pickled parts."""
    return kind(what, where=where, hint=hint)


class UsageError(MemoryMagicError, ValueError):
    """A command, magic or tool was called with words that do not fit."""

    exit_status = 2


class SettingError(MemoryMagicError, ValueError):
    """A setting is unknown or its value is out of range."""


class NoteError(MemoryMagicError, ValueError):
    """A text cannot become a note: empty, too long, or not expressible as a list item."""


class EvidenceError(MemoryMagicError, ValueError):
    """A change of a note was asked for without saying why."""


class ScopeError(MemoryMagicError, ValueError):
    """A scope's name is unknown, unsafe, or there is none in this directory."""


class NoSuchNoteError(MemoryMagicError, LookupError):
    """No live note has this id or this exact text (a note of another scope answers the same)."""


class AmbiguousNoteError(MemoryMagicError, LookupError):
    """Several live notes fit; we refuse to guess."""


class ChangedMeanwhileError(MemoryMagicError, RuntimeError):
    """An editor changed the note while the command ran; nothing was changed by us."""


class FileStateError(MemoryMagicError, ValueError):
    """A memory file cannot be written as it stands: open fence, conflict markers, not text, a directory."""


class StoreAccessError(MemoryMagicError, OSError):
    """The disk refused: full, no rights, vanished."""


class ReadOnlyStoreError(MemoryMagicError, PermissionError):
    """A change was asked of a store that is open for reading only."""


class LockTimeoutError(MemoryMagicError, TimeoutError):
    """Another process kept the store's lock for too long."""


class SessionFormatError(MemoryMagicError, ValueError):
    """A file is not a session that we can read."""


class HookError(MemoryMagicError, ValueError):
    """A hook was called with a payload or manifest that breaks its contract."""


class MemoryOffError(MemoryMagicError, PermissionError):
    """The asked-for step needs `enabled = true`."""


class MissingExtraError(MemoryMagicError, ImportError):
    """An optional part of the package is not installed."""
