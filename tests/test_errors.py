"""Errors: what they say, what a caller may catch, and how they travel."""

from __future__ import annotations

import pickle

import pytest

from memory_magic import errors
from memory_magic.errors import LockTimeoutError, MemoryMagicError, NoSuchNoteError, StoreAccessError, UsageError

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, MemoryMagicError)]


@pytest.mark.parametrize(
    ("where", "hint", "text"),
    [
        ("", "", "it broke"),
        ("a.md:3", "", "it broke (a.md:3)"),
        ("", "mend it", "it broke. Mend it"),
        ("a.md:3", "mend it", "it broke (a.md:3). Mend it"),
        ("", "é first", "it broke. É first"),
    ],
)
def test_an_error_says_what_where_and_what_to_do(where: str, hint: str, text: str) -> None:
    """The three parts stand in one sentence, and each can be had alone."""
    error = MemoryMagicError("it broke", where=where, hint=hint)
    assert str(error) == text
    assert (error.what, error.where, error.hint) == ("it broke", where, hint)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_survives_the_way_between_processes(kind: type[MemoryMagicError]) -> None:
    """Pickled and read back, an error is of the same kind and says the same."""
    error = kind("what", where="where", hint="hint")
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  (our own bytes)
    assert type(again) is kind
    assert (again.what, again.where, again.hint, str(again)) == ("what", "where", "hint", str(error))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not MemoryMagicError])
def test_each_kind_can_be_caught_as_ours_and_as_a_built_in(kind: type[MemoryMagicError]) -> None:
    """A caller may catch broadly or narrowly, and reads in the docstring what the kind means."""
    assert issubclass(kind, MemoryMagicError)
    assert any(base.__module__ == "builtins" and base not in {Exception, BaseException, object} for base in kind.mro())
    assert kind.__doc__


def test_the_built_in_is_the_one_that_a_caller_expects() -> None:
    """A missing note is a look-up error, a full disk an OSError, a lock that is held a time-out."""
    assert issubclass(NoSuchNoteError, LookupError)
    assert issubclass(StoreAccessError, OSError)
    assert issubclass(LockTimeoutError, TimeoutError)


def test_only_wrong_usage_ends_with_status_2() -> None:
    """The command line ends with 2 for wrong words and with 1 for every other expected error."""
    assert {kind.exit_status for kind in KINDS if kind is not UsageError} == {1}
    assert UsageError.exit_status == 2
