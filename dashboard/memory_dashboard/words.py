"""Words, marks and numbers as the dashboard writes them: pure functions of plain values."""

from __future__ import annotations

from datetime import UTC, datetime

# Each action has a sign beside its word, so that no meaning hangs on colour alone.
MARKS = {
    "remember": "+",
    "revise": "⇄",
    "retire": "↓",
    "restore": "↑",
    "promote": "↥",
    "pin": "◆",
    "unpin": "◇",
    "approve": "✓",
    "reject": "✕",
    "cancel": "⊘",
    "observe": "◉",
    "import": "⇥",
    "purge": "✕",
    "unpurge": "↑",
    "prune": "↓",
    "consolidate": "≡",
    "clear": "✕",
    "init": "•",
}
_STEPS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def action_words(action: str) -> str:
    """Return an action with its sign."""
    return f"{MARKS.get(action, '•')} {action}"


def moment(text: str | None) -> datetime | None:
    """Read an ISO 8601 time of the store; None for what is none."""
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found


def age(text: str | None, now: datetime) -> str:
    """Return how long ago a time was, in its largest whole unit: `7 min`, `2 h`, `34 d`."""
    then = moment(text)
    if then is None:
        return "–"
    seconds = (now - then).total_seconds()
    for size, unit in _STEPS:
        if seconds >= size:
            return f"{seconds // size:,.0f} {unit}"
    return "now" if seconds > -60 else "in the future"  # noqa: PLR2004 - one minute: clocks of editors differ


def day_time(text: str | None, now: datetime) -> str:
    """Return a time as a column shows it: `30 Nov 18:35`, with the year when it is not this one."""
    then = moment(text)
    if then is None:
        return "–"
    then = then.astimezone(UTC)
    return f"{then.day} {then:%b %H:%M}" if then.year == now.year else f"{then.day} {then:%b %Y %H:%M}"


def full_time(text: str | None) -> str:
    """Return a time in full, in UTC."""
    then = moment(text)
    if then is None:
        return "not known"
    then = then.astimezone(UTC)
    return f"{then.day} {then:%b %Y %H:%M:%S} UTC"


def counted(number: int, word: str) -> str:
    """Return `1 note`, `2,418 records`."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def size(count: int) -> str:
    """Return bytes as a person reads them, in units of 1,000."""
    if count < 1_000:  # noqa: PLR2004 - below it a byte is a byte
        return counted(count, "byte")
    return f"{count / 1_000:,.0f} kB" if count < 1_000_000 else f"{count / 1_000_000:,.1f} MB"  # noqa: PLR2004
