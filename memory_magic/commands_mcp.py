"""Command `mcp`: memory for assistants that speak the Model Context Protocol; its row and its printer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memory_magic.commands_base import Command, Outcome, arg
from memory_magic.errors import UsageError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from memory_magic.commands_base import Context


def mcp(context: Context, args: Namespace) -> Outcome:
    """Serve one client until it goes away; standard output belongs to the protocol."""
    if context.prog.startswith("%"):
        raise UsageError(
            "mcp is for assistants, which start it by themselves: a notebook cannot be its client",
            hint="in an assistant's settings: memory-magic mcp --workspace DIR",
        )
    from memory_magic.assistants.mcp_server import serve

    serve(context.root, args.workspace)
    return Outcome("mcp", {"served": True})


def _nothing(outcome: Outcome, width: int | None, prog: str) -> str:  # noqa: ARG001 -- printers share a signature
    """Return nothing: whoever read standard output is gone, and never expected a sentence there."""
    return ""


PRINTERS: Final[dict[str, Callable[[Outcome, int | None, str], str]]] = {"mcp": _nothing}

ROWS: Final[tuple[Command, ...]] = (
    Command(
        "mcp",
        "Serve memory to an assistant over MCP (standard input and output)",
        mcp,
        (
            arg(
                "--workspace",
                metavar="DIR",
                completes="path",
                help="the folder whose workspace is seen (default: what the assistant names, else global memory only)",
            ),
        ),
        "An assistant starts this by itself. It offers memory_search, memory_get and remember, and nothing while "
        "memory is off. Needs: pip install 'memory-magic[mcp]'.",
        scoped=False,
    ),
)
