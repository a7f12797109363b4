"""What reaches a prompt: the block of notes and the hook that hands it over.

`memory_block` and its records are offered here lazily, so that importing a neighbour of theirs costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory_magic.prompt.block import Block, Report, Section, memory_block

__all__ = ["Block", "Report", "Section", "memory_block"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from memory_magic.prompt import block

        return getattr(block, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
