"""Memory on its way into a prompt: the block, and its line in the ledger; whoever hands memory on calls this."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_magic.prompt import states
from memory_magic.prompt.place import signature
from memory_magic.prompt.records import NOTHING

if TYPE_CHECKING:
    from memory_magic.prompt.place import Place
    from memory_magic.prompt.records import Block


def inject(
    place: Place, *, assistant: str, conversation: str = "", notebook: str | None = None, prompt: str = ""
) -> Block:
    """Return the block for an assistant at *place* and enter it in the ledger; an empty one is no injection.

    A block of this very state that the ledger holds is not made again. The ledger never fails a prompt: what goes
    wrong there is told elsewhere, once.
    """
    if not place.is_on:
        return NOTHING
    state = "" if place.settings.recall == "relevant" else states.state_of(place)
    found = states.recorded(place, state) if state else None
    made = _made(place, found, assistant, conversation, prompt)
    if not made.text:
        return NOTHING
    from memory_magic.prompt import ledger

    ledger.record(
        place.root,
        # a frozen block is of an earlier state
        made if not state or made.report.frozen else states.marked(made, state),
        assistant=assistant,
        conversation=conversation or None,
        notebook=notebook,
        cwd=place.cwd,
        scopes=tuple(scope.id for scope in place.scopes),
        head=found.head if found else head_of(place),
        days=place.settings.ledger_days,
    )
    return made


def _made(place: Place, found: states.Recorded | None, assistant: str, conversation: str, prompt: str) -> Block:
    """Return the frozen block of a conversation, else that of the present state, made only if nobody *found* it."""

    def present() -> Block:
        if found is not None:
            return found.block
        from memory_magic.prompt import block

        return block.fresh_block(place)

    if conversation:
        from memory_magic.prompt import freezing

        made = freezing.frozen(place, assistant, conversation, present)
    else:
        made = present()
    if not prompt or place.settings.recall != "relevant":
        return made
    from memory_magic.prompt.relevant import with_hits

    return with_hits(made, place, prompt)


def head_of(place: Place) -> tuple[int, str]:
    """Return number and chain of the journal's last record, (0, "") without one."""
    path = place.root / "JOURNAL.md"
    size = signature(str(path))[2]
    if not size:
        return 0, ""
    from memory_magic.prompt.index_file import index_place, journal_head

    found = journal_head(index_place(place.root, place.settings.index_path), size)
    if found is not None:
        return found
    from memory_magic.errors import MemoryMagicError
    from memory_magic.store.anchors import head

    try:
        return head(place.root)
    except MemoryMagicError:
        return 0, ""  # a journal that cannot be read is doctor's matter; the prompt goes on
