"""What reaches a prompt: the block, its parts, the ledger, and the hook that hands it over.

`memory_block`, `refresh` and the records are offered here lazily, so that importing a neighbour costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_magic.prompt.block import Block, Report, Section, memory_block, refresh

__all__ = ["Block", "Report", "Section", "memory_block", "refresh"]


def __getattr__(name: str) -> object:
    if name in __all__:
        from memory_magic.prompt import block

        return getattr(block, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
