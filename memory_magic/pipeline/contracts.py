"""What stage one asks of whatever extracts: rules, a model on this machine, a model far away.

An `Extractor` gets one session as `Material` and answers with an `Extracted`. It is told nothing of queues, leases or
files. It may be called from several threads at once. What it raises as a `MemoryMagicError` is a failed attempt whose
text is shown to the person; an error with a *retry_after* in seconds is not tried again before that time. Nothing that
it raises may quote the session.

`Material.session` is raw: it holds secrets and must not leave the process. `clean` and `rendered` are what may be
worked on, made when they are first asked for, since rules need the one and models the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memory_magic.pipeline.offline import Extraction
    from memory_magic.pipeline.render import Clean, Rendered
    from memory_magic.sessions.records import Session


@dataclass(frozen=True)
class Material:
    """One session to extract: *limit* tokens may be sent of it, *root* holds a person's own prompt templates."""

    session: Session
    limit: int
    root: Path

    @cached_property
    def clean(self) -> Clean:
        """Return the whole session without secrets, private spans and our own memory."""
        from memory_magic.pipeline import render

        return render.clean(self.session)

    @cached_property
    def rendered(self) -> Rendered:
        """Return what a model reads: cut to the limit, redacted leaf by leaf, as JSON."""
        from memory_magic.pipeline import render

        return render.rendered(self.session, self.limit)


@dataclass(frozen=True, slots=True)
class Extracted:
    """What came of one session: *cost* in US dollars, None when it is not known; *redacted* counts secrets by kind."""

    extraction: Extraction
    input_tokens: int
    output_tokens: int = 0
    cost: float | None = 0.0
    truncated: bool = False
    redacted: dict[str, int] = field(default_factory=dict)


class Extractor(Protocol):
    """Makes a raw memory, a summary and a slug of one session."""

    @property
    def name(self) -> str:
        """Return what the stage-one file calls it, as the setting writes it: `offline`, `openai:gpt-5-mini`."""

    @property
    def is_remote(self) -> bool:
        """Tell whether a session leaves this machine and its private network."""

    @property
    def host(self) -> str:
        """Return the host of its server, whose rate limits count; empty for the rules."""

    @property
    def context_window(self) -> int | None:
        """Return the window in tokens, None when it is not known."""

    def extract(self, material: Material, *, cancel: Callable[[], bool]) -> Extracted:
        """Extract one session; *cancel* is polled, and where it says yes nothing that comes back is used."""
