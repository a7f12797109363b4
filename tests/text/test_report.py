"""The funnel from exceptions to text."""

from __future__ import annotations

import base64
import errno
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import NoSuchNoteError, StoreAccessError
from memory_magic.text.report import LONGEST, error_text, plain

# an invented GitHub token, which no scanner of a hosting service should take for a real one
SECRET = base64.b64decode("Z2hwXzE2QzdlNDJGMjkyYzY5MTJFNzcxMGM4MzgzNDdBZTE3OGI0YQ==").decode()


def test_our_errors_keep_their_words() -> None:
    """What, where and hint make one line."""
    error = NoSuchNoteError("No note has this id", where="global", hint="`%memory list` shows all")
    assert error_text(error) == "No note has this id (global). `%memory list` shows all"


def test_an_error_of_ours_that_is_also_an_os_error_keeps_its_words() -> None:
    """`StoreAccessError` derives from OSError, and its own message is the better one."""
    assert error_text(StoreAccessError("The disk is full", where="/m")) == "The disk is full (/m)"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/m/MEMORY.md"), "No space left on device: /m/MEMORY.md"),
        (PermissionError(errno.EACCES, "Permission denied", b"/m/\xff"), "Permission denied: /m/\ufffd"),
        (OSError(errno.EXDEV, "Invalid cross-device link", "a", None, "b"), "Invalid cross-device link: a -> b"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
        (KeyboardInterrupt(), "Interrupted"),
    ],
)
def test_errors_of_the_system_say_what_and_where(error: BaseException, text: str) -> None:
    """A full disk, missing rights and an interruption are no faults of ours."""
    assert error_text(error) == text


@pytest.mark.parametrize(
    ("error", "start"),
    [
        (KeyError("scope"), "Unexpected KeyError: 'scope'. "),
        (RuntimeError(), "Unexpected RuntimeError. "),
        (OSError("odd"), "Unexpected OSError: odd. "),
        (ValueError("two\r\n  lines"), "Unexpected ValueError: two lines. "),
    ],
)
def test_anything_else_asks_for_a_report(error: Exception, start: str) -> None:
    """One line with type and message, and the request."""
    text = error_text(error)
    assert text.startswith(start)
    assert "please report it" in text
    assert "\n" not in text


def test_no_secret_leaves_the_funnel() -> None:
    """Neither in our own errors nor in others', whole or split by something invisible."""
    split = f"{SECRET[:9]}\u200b{SECRET[9:]}"
    for error in (StoreAccessError(f"cannot read {SECRET}"), ValueError(split), OSError(errno.ENOENT, "gone", split)):
        text = error_text(error)
        assert SECRET[8:] not in text
        assert "[REDACTED_SECRET]" in text


def test_no_terminal_sequence_leaves_the_funnel() -> None:
    """A file's name can neither clear the screen nor turn the line around."""
    assert error_text(OSError(errno.ENOENT, "No such file", "a\x1b[2J\u202eb\nc")) == "No such file: ab c"


def test_a_very_long_message_is_cut() -> None:
    """A notebook is not flooded, and the cut shows."""
    text = error_text(ValueError("word " * LONGEST))
    assert len(text) == LONGEST
    assert text.endswith("…")


def test_a_decoding_error_does_not_quote_the_document() -> None:
    """What failed to parse may be a whole conversation."""
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads('{"a": my diary}')
    assert "diary" not in error_text(caught.value)


@given(st.text())
def test_plain_text_is_safe_to_print(text: str) -> None:
    """Tabs and newlines are the only controls that are left."""
    assert not {char for char in plain(text) if ord(char) < 32 or 127 <= ord(char) < 160} - {"\t", "\n"}
