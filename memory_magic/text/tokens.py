"""How many tokens a text costs: an estimate that needs no tokenizer.

Pure arithmetic on the UTF-8 length, so it is the same in every process and never smaller for a longer text.
"""

from __future__ import annotations

from typing import Final

BYTES_PER_TOKEN: Final = 4
"""codex-rs counts so; real tokenizers give 3.5 to 4.5 for English and less for other scripts."""


def estimate(text: str) -> int:
    """Return the estimated number of tokens: UTF-8 bytes / 4, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)
