"""memory-magic: a local, readable, auditable memory for the AI assistants that people use in notebooks.

Nothing is imported here, and names resolve when they are asked for: `memory-magic hook`, which runs on every prompt,
must reach its own module without paying for any other.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from memory_magic.prompt.block import memory_block
    from memory_magic.store.store import Store

    __version__: str

__all__ = ["Store", "__version__", "load_ipython_extension", "memory_block", "unload_ipython_extension"]


def __getattr__(name: str) -> object:
    """Import the public names at their first use."""
    if name == "Store":
        from memory_magic.store.store import Store

        return Store
    if name == "memory_block":
        from memory_magic.prompt.block import memory_block

        return memory_block
    if name == "__version__":
        from importlib.metadata import version

        return version("memory-magic")
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    """Offer the public names to Tab."""
    return sorted([*globals(), *__all__])


def load_ipython_extension(ipython: "InteractiveShell") -> None:
    """Register the magics (`%load_ext memory_magic`)."""
    from memory_magic.notebook.magics import load

    load(ipython)


def unload_ipython_extension(ipython: "InteractiveShell") -> None:
    """Take the magics, completions and hooks away again."""
    from memory_magic.notebook.magics import unload

    unload(ipython)
