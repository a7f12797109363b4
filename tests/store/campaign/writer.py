"""Writers that are killed, and writers that are not.

`writer.py killed ROOT CWD LOG SEED WORKERS KILLS WRITES` keeps WORKERS sub-processes at mixed writes (remember 60 %,
revise 20 %, retire 15 %, pin or unpin 5 %; two scopes) and kills one after the other with SIGKILL at a random moment,
until KILLS of them died and WRITES calls were acknowledged. Everything is imported before the first fork, so that a
kill meets a write and not an import. `writer.py steady ROOT CWD LOG SEED COUNT READY GO` remembers COUNT notes once
GO exists.

Each call is one line of JSON in LOG, appended in one write *after* the store answered: an acknowledged change that is
not in the journal is lost. What the store may refuse while others write (a note is gone, an editor changed it) is
logged as `refused`; any other exception as `error`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import memory_magic.store.lock  # noqa: F401 - all of the write path before the first fork
from memory_magic import Store
from memory_magic.errors import AmbiguousNoteError, ChangedMeanwhileError, NoSuchNoteError

if TYPE_CHECKING:
    from memory_magic.store.records import Written

MAY_REFUSE = (NoSuchNoteError, ChangedMeanwhileError, AmbiguousNoteError)


class Log:
    """Lines of JSON that survive a kill and do not mix."""

    def __init__(self, path: Path) -> None:
        """Open *path* for appending."""
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, **entry: object) -> None:
        """Append one line in one call."""
        os.write(self._descriptor, (json.dumps({"t": time.time(), **entry}) + "\n").encode())


class Mixed:
    """One writer's sequence of calls."""

    def __init__(self, store: Store, seed: str) -> None:
        """Begin a sequence that *seed* decides."""
        self.store = store
        self.seed = seed
        self.chance = random.Random(seed)  # noqa: S311 - chance, no secret
        self.number = 0

    def text(self) -> str:
        """Return a text that nobody wrote before; one in five has several lines."""
        self.number += 1
        line = f"note {self.seed}-{self.number} says {self.chance.choice(['yes', 'no', 'नमस्ते', '記憶', 'a # b'])}"
        return line if self.chance.random() < 0.8 else f"{line}\n- first\n- second of {self.number}"

    def step(self) -> tuple[str, Written] | None:
        """Make one call; None when there was no note to change."""
        scope = self.chance.choice(["global", "workspace"])
        draw = self.chance.random()
        if draw < 0.6:
            return "remember", self.store.remember(self.text(), scope=scope, pin=self.chance.random() < 0.05)
        notes = self.store.list(scope)
        if not notes:
            return None
        note = self.chance.choice(notes)
        if draw < 0.8:
            return "revise", self.store.revise(note.id, self.text(), evidence="campaign", scope=scope)
        if draw < 0.95:
            return "retire", self.store.retire(note.id, evidence="campaign", scope=scope)
        if note.pinned:
            return "unpin", self.store.unpin(note.id, scope=scope)
        return "pin", self.store.pin(note.id, scope=scope)


def write_on(root: Path, cwd: Path, log: Log, seed: str, started: int) -> NoReturn:
    """Write until killed, or until the parent is gone; a byte into *started* says that the first call begins."""
    parent = os.getppid()
    try:
        mixed = Mixed(Store(root, cwd, by=f"writer {seed}"), seed)
        os.write(started, b".")
        while os.getppid() == parent:
            try:
                done = mixed.step()
            except MAY_REFUSE as error:
                log.write(refused=type(error).__name__, seed=seed, text=str(error))
                continue
            if done:
                name, written = done
                log.write(
                    op=name,
                    id=written.id,
                    old=written.old_id,
                    n=written.n,
                    scope=written.scope,
                    status=written.status,
                    seed=seed,
                )
    except Exception:  # noqa: BLE001 - whatever it is, it is a finding
        log.write(error=traceback.format_exc(), seed=seed)
    finally:
        os._exit(1)


def killed(root: Path, cwd: Path, path: Path, seed: int, workers: int, kills: int, writes: int) -> None:
    """Keep writers alive and kill them one by one."""
    chance = random.Random(seed)  # noqa: S311 - chance, no secret
    log = Log(path)
    living: dict[int, float] = {}
    born = died = 0
    parent = os.getppid()
    while (died < kills or acknowledged(path) < writes) and os.getppid() == parent:
        while len(living) < workers:
            born += 1
            told, started = os.pipe()
            child = os.fork()
            if child == 0:
                write_on(root, cwd, log, f"{seed}.{born}", started)
            os.close(started)
            os.read(told, 1)
            os.close(told)
            # a call takes some ten milliseconds: most die in their first calls, a few live for long
            life = chance.expovariate(5) if chance.random() < 0.85 else chance.uniform(1, 4)
            living[child] = time.monotonic() + life
        victim = min(living, key=living.__getitem__)
        time.sleep(max(0.0, living.pop(victim) - time.monotonic()))
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        died += 1
    log.write(kills=died)
    for child in living:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def acknowledged(path: Path) -> int:
    """Count the calls that were answered."""
    return path.read_bytes().count(b'"op"')


def steady(root: Path, cwd: Path, path: Path, seed: int, count: int, ready: Path, go: Path) -> None:
    """Remember *count* notes as fast as the store allows, from the moment that *go* exists."""
    log = Log(path)
    store = Store(root, cwd, by=f"writer {seed}")
    store.list()
    ready.touch()
    parent = os.getppid()
    while not go.exists() and os.getppid() == parent:
        time.sleep(0.001)
    for number in range(count):
        written = store.remember(f"steady {seed}-{number} of {count}")
        log.write(op="remember", id=written.id, old=None, n=written.n, scope=written.scope, status=written.status)


if __name__ == "__main__":
    kind, *words = sys.argv[1:]
    where = (Path(words[0]), Path(words[1]), Path(words[2]), int(words[3]))
    if kind == "killed":
        killed(*where, int(words[4]), int(words[5]), int(words[6]))
    else:
        steady(*where, int(words[4]), Path(words[5]), Path(words[6]))
