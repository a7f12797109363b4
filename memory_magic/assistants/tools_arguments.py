"""The arguments of a tool call as a model wrote them, checked one by one.

Models leave optional arguments out, send null, or write 5 as 5.0: that is taken as meant. Anything else that does not
fit is a `UsageError` that names the argument and what it should be, and never repeats the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_magic.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Arguments:
    """The arguments of one call of *tool*; after all were asked for, `done` refuses what is left."""

    def __init__(self, tool: str, given: Mapping[str, Any]) -> None:
        if not isinstance(given, dict):
            raise UsageError(f"{tool} takes its arguments as an object")
        self._tool = tool
        self._given = {str(name): value for name, value in given.items() if value is not None}
        self._known: list[str] = []

    def text(self, name: str, *, longest: int) -> str:
        """Return a text that must be there."""
        value = self.optional(name, longest=longest)
        if value is None or not value.strip():
            raise UsageError(f"{self._tool} needs {name}", hint=f"{name} is a text")
        return value

    def optional(self, name: str, *, longest: int | None) -> str | None:
        """Return a text, or None; *longest*: whoever takes it has a limit of his own."""
        value = self._take(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise UsageError(f"{name} must be a text")
        if longest is not None and len(value) > longest:
            raise UsageError(f"{name} has {len(value):,} characters, more than the {longest:,} that it may have")
        return value

    def number(self, name: str, low: int, high: int) -> int | None:
        """Return a whole number from *low* to *high*, or None."""
        value = self._take(name)
        if value is None:
            return None
        # bounds first: neither infinity nor NaN is within them, and neither can be made whole
        fits = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
        if not fits or value != int(value):
            raise UsageError(f"{name} must be a whole number from {low} to {high}")
        return int(value)

    def choice(self, name: str, choices: Sequence[str]) -> str | None:
        """Return one of *choices*, or None."""
        value = self._take(name)
        if value is None or value == "":
            return None
        if not isinstance(value, str) or value not in choices:
            raise UsageError(f"{name} must be one of: {', '.join(choices)}")
        return value

    def done(self) -> None:
        """Refuse arguments that nobody asked for."""
        left = [name for name in self._given if name not in self._known]
        if left:
            raise UsageError(
                f"{self._tool} takes no argument {left[0][:40]}", hint=f"its arguments are: {', '.join(self._known)}"
            )

    def _take(self, name: str) -> Any:
        self._known.append(name)
        return self._given.get(name)
