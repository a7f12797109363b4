"""What a magic gives back: text in a terminal, a table in Jupyter, a frame on request.

`MemoryResult` wraps a command's outcome. IPython asks it for plain text (`_repr_pretty_`) or HTML (`_repr_html_`);
`.data` is the JSON value of the command line, `.df` the rows as a pandas frame, with pandas imported at that moment.
The HTML comes from `notebook.pictures`, loaded when somebody asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_magic.commands_print import as_text
from memory_magic.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd
    from IPython.lib.pretty import PrettyPrinter

    from memory_magic.commands_base import Outcome

PROG = "%memory"
_WIDTH = 100
_ROWS = {
    "hits": "hits",
    "notes": "notes",
    "journal": "records",
    "status": "scopes",
    "settings": "settings",
    "findings": "findings",
    "ran": "outputs",
}


class MemoryResult:
    """The outcome of a magic, shown as text or as HTML; `.data` and `.df` hold what it says."""

    def __init__(self, outcome: Outcome) -> None:
        """Wrap *outcome*."""
        self._outcome = outcome

    @property
    def data(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return self._outcome.data

    @property
    def df(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame; MissingExtraError without pandas."""
        if self._outcome.kind == "view":
            from memory_magic.commands_view import frame

            return frame(self.data)
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError(
                "pandas is not installed",
                hint="install it: pip install 'memory-magic[notebook]', then restart the kernel",
            ) from error
        key = _ROWS.get(self._outcome.kind)
        made = pd.DataFrame(self.data[key] if key else [self.data])
        return made.set_index("id") if "id" in made.columns and key in {"hits", "notes", "scopes"} else made

    def __repr__(self) -> str:
        return as_text(self._outcome, width=_WIDTH, prog=PROG)

    def _repr_pretty_(self, printer: PrettyPrinter, cycle: bool) -> None:  # noqa: FBT001 -- IPython's protocol
        printer.text("…" if cycle else repr(self))

    def _repr_html_(self) -> str:
        from memory_magic.notebook.pictures import draw

        return draw(self._outcome)
