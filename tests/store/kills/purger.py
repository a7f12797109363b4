"""Remember, purge, be killed: `purger.py ROOT CWD LOG SEED TIMES` for the test of purges beside an editor.

Each round remembers a text and lets a child purge it, which half of the time is killed (SIGKILL) at a random moment.
LOG gets one line of JSON a round, written when it is over: the text, and when the purge was known to be finished. A
purge that an editor's saves kept from ending is finished by the next round; that error is no fault.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from memory_magic.errors import ChangedMeanwhileError
from memory_magic.store.access import Access
from memory_magic.store.purge import intent, run
from memory_magic.store.purge import tombstones as stones
from memory_magic.store.purge.plan import Request
from memory_magic.store.store import Store


def purge(root: Path, cwd: Path, text: str) -> int:
    """Purge *text* in this process; return its exit status."""
    try:
        run.purge(Access(Store(root, cwd)), Request(text=text))
    except ChangedMeanwhileError:
        return 2
    return 0


def main(root: Path, cwd: Path, log: Path, seed: int, times: int) -> None:
    """Do all rounds."""
    chance = random.Random(seed)  # noqa: S311  (moments, not secrets)
    for number in range(times):
        text = f"The secret of round {seed}-{number} is {chance.random()}"
        try:
            with Store(root, cwd) as store:
                store.remember(text)
        except ChangedMeanwhileError:
            continue  # an editor saved too often: nothing was done
        if chance.random() < 0.5:
            time.sleep(0.02)  # the editor reads it, and may save it again after its purge
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = purge(root, cwd, text)
            finally:
                os._exit(status)
        killed = chance.random() < 0.5
        if killed:
            time.sleep(chance.random() * 0.06)
            os.kill(child, signal.SIGKILL)
        ended = os.waitpid(child, 0)[1]
        if not os.WIFSIGNALED(ended) and os.waitstatus_to_exitcode(ended) not in {0, 2}:
            raise SystemExit(f"round {number}: {ended}")
        _finish(root, cwd, f"round {number} is over")
        state = stones.load(root).forbidding(text) is not None and not intent.exists(root)
        with log.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"text": text, "killed": killed, "purged": state, "at": time.time()}) + "\n")


def _finish(root: Path, cwd: Path, text: str) -> None:
    """Write a note, which finishes what was begun; an editor may keep it from that for a while."""
    for _ in range(20):
        try:
            with Store(root, cwd) as store:
                store.remember(text)
        except ChangedMeanwhileError:
            continue
        return
    raise SystemExit("no write went through")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
