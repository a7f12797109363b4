"""What a window shows, as one value that is read from and written to the address.

`View` is the whole of it: page, scope, words searched for, what is open. A widget never keeps a state of its own: it
asks `Navigator.go`, which makes a new View, tells its listeners, and leaves it to them to draw it and to write the
address. *Back* arrives as a query string and takes the same way, so an old address and a click cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ALL_SCOPES = "all"
FIRST_PAGE = "notes"
# A query longer than this is no search of a person; the address bar would choke on it as well.
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class View:
    """One view: *note* and *record* are what stands open in the detail, *page_no* counts from 1."""

    page: str = FIRST_PAGE
    scope: str = ALL_SCOPES
    q: str = ""
    note: str = ""
    record: int = 0
    page_no: int = 1

    @classmethod
    def from_query(cls, query: str) -> View:
        """Read a query string; unknown names are ignored and values that do not fit fall back to the default."""
        return cls.from_values({name: values[-1] for name, values in parse_qs(query.removeprefix("?")).items()})

    @classmethod
    def from_values(cls, given: Mapping[str, str]) -> View:
        """Read the named values of a query string by the same rules."""
        found: dict[str, str | int] = {}
        for field in fields(cls):
            value = given.get(field.name, "")[:_LONGEST]
            if isinstance(field.default, str) and value:
                found[field.name] = value
            elif value.isascii() and value.isdigit() and len(value) <= 9:  # noqa: PLR2004 - fits any integer of ours
                found[field.name] = max(int(value), int(field.default)) if isinstance(field.default, int) else 0
        return cls(**found)  # type: ignore[arg-type]  # the defaults tell str from int above

    def query(self) -> str:
        """Write the query string, `?` included, with only what differs from the first view."""
        said = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if field.name == "page" or getattr(self, field.name) != field.default
        }
        return "?" + urlencode(said)


class Navigator:
    """The present View of one window; listeners hear of each change."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._listeners: list[Callable[[View, bool], None]] = []

    def listen(self, listener: Callable[[View, bool], None]) -> None:
        """Call *listener* with each new view and whether it is a step of its own in the browser's history."""
        self._listeners.append(listener)

    def go(self, *, step: bool = True, **changes: str | int) -> None:
        """Change the view; a new page, scope or search starts at its first rows."""
        if changes.keys() & {"page", "scope", "q"}:
            changes = {"page_no": 1, **changes}
        self.show(replace(self.view, **changes), step=step)  # type: ignore[arg-type]  # names are those of View

    def show(self, view: View, *, step: bool) -> None:
        """Show *view*; nothing happens when it stands there already."""
        if view == self.view:
            return
        self.view = view
        for listener in self._listeners:
            listener(view, step)
