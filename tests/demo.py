"""The main job on real input, as `make demo` shows it; by hand: python tests/demo.py [FOLDER].

Every step is a command that a person can type: the script prints it, runs it, and shows what it answered. All of it
happens in FOLDER (default: build/demo), which is emptied first (only if a demo made it) and kept afterwards to be
looked at; HOME points into it, so that nobody's own memory is read or changed. The notes come from tests/data/demo,
the past session from tests/data/sessions. The invented keys in them are stored nowhere and printed nowhere; the last
step searches for them.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
DATA = TREE / "tests" / "data"
SESSION = "rollout-2026-11-30T18-38-49-01a22dc0-a64c-7c53-99bc-357dc1d90370.jsonl"
WIDTH = 110
_HEADING = re.compile(r"# \S")


@dataclass
class Demo:
    """Run commands in a folder of their own and print what they say."""

    place: Path
    program: str = str(Path(sys.executable).with_name("memory-magic"))
    secrets: list[str] = field(default_factory=list)

    @property
    def store(self) -> Path:
        """Where the notes of the demo are kept."""
        return self.place / "store"

    def environment(self) -> dict[str, str]:
        """Give the present environment with a home, a store and no setting of the demo's own."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORY_MAGIC_", "GIT_"))}
        places = {"HOME": str(self.place / "home"), "MEMORY_MAGIC_HOME": str(self.store)}
        return kept | places | {"PYTHONUTF8": "1", "COLUMNS": str(WIDTH - 5)}

    def call(self, command: list[str], given: str = "") -> str:
        """Run *command* in the demo's project; stop the demo with its error text when it fails."""
        project = self.place / "project"
        done = subprocess.run(
            command, cwd=project, env=self.environment(), capture_output=True, text=True, check=False, input=given
        )
        if done.returncode:
            sys.exit(f"this step of the demo failed: {shlex.join(command)}\n{done.stderr}{done.stdout}")
        return done.stdout

    def type(self, *words: str, rows: slice = slice(1), shown: tuple[str, ...] = ()) -> None:
        """Print the command as a person would type it (or *shown* in its place), run it, print some of the answer."""
        print(_fit(f"   $ memory-magic {shlex.join(shown or words)}"))
        self.show(self.call([self.program, *words]), rows)

    def show(self, text: str, rows: slice) -> None:
        """Print the lines *rows* of *text*, indented, without blank lines and headings."""
        lines = [line.rstrip() for line in text.splitlines() if line.strip() and not _HEADING.match(line)]
        for line in lines[rows]:
            print(_fit(f"     {line}"))


def _fit(line: str) -> str:
    """Cut a line to the width of a terminal."""
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def main(place: Path) -> None:
    """Do the whole job once."""
    demo = Demo(place)
    _prepare(demo)
    print(f"memory-magic, on a throw-away store in {_near(demo.store)} (your own memory is not touched)")
    _remember(demo)
    _search(demo)
    _correct(demo)
    _what_an_assistant_gets(demo)
    _past_session(demo)
    _look_for_secrets(demo)
    _next(demo)


def _prepare(demo: Demo) -> None:
    """Empty the folder and make the project in it: a git repository, so that there is a workspace."""
    mark = demo.place / "made-by-demo"
    if demo.place.exists() and any(demo.place.iterdir()) and not mark.exists():
        sys.exit(f"{demo.place} holds something that no demo made; name an empty folder")
    shutil.rmtree(demo.place, ignore_errors=True)
    for name in ("home", "project"):
        (demo.place / name).mkdir(parents=True)
    mark.touch()
    demo.call(["git", "init", "--quiet"])
    demo.call(["git", "remote", "add", "origin", "https://example.org/ana/sales.git"])


def _remember(demo: Demo) -> None:
    """Remember the notes of the data file, one of them with a key in it."""
    print("\n1. Remember: six notes, three scripts, one with a key that somebody pasted")
    for line in (DATA / "demo" / "notes.jsonl").read_text(encoding="utf-8").splitlines():
        note = json.loads(line)
        options = ["--pin"] if note.get("pin") else []
        if "text_b64" in note:
            text, secret = (base64.b64decode(note[name]).decode() for name in ("text_b64", "secret_b64"))
            demo.secrets.append(secret)
            demo.type("remember", text, shown=("remember", text.replace(secret, "sk-proj-…")))
        else:
            demo.type("remember", *options, note["text"])


def _search(demo: Demo) -> None:
    """Find notes again in Latin, Chinese and Devanagari."""
    print("\n2. Search, in three scripts")
    for query in ("figures EUR", "深色", "तारीख़"):
        demo.type("search", query, rows=slice(2, 3))


def _correct(demo: Demo) -> None:
    """Change one note, take one back; both keep their history."""
    print("\n3. Correct: nothing changes without a reason, and the old text stays in the journal")
    why = ("--evidence", "stand-up of 30 November")
    demo.type("revise", "Deploys run on Fridays", "Deploys run on Tuesdays", *why, rows=slice(2))
    demo.type("retire", "Use the old staging server for load tests", "--evidence", "it was switched off")
    demo.type("verify")


def _what_an_assistant_gets(demo: Demo) -> None:
    """Switch memory on and ask the hook, as an assistant's prompt builder would."""
    print("\n4. What an assistant gets (memory is off until you switch it on)")
    demo.type("config", "set", "enabled", "on")
    payload = json.dumps({"response_topic": "demo"})
    print(f"   $ echo '{payload}' | memory-magic hook capsule")
    answer = json.loads(demo.call([demo.program, "hook", "capsule"], given=payload))
    demo.show(answer["message"]["appendSystemContext"], slice(12))


def _past_session(demo: Demo) -> None:
    """Extract one real session of Codex, without a model."""
    path = next((DATA / "sessions").rglob(SESSION))
    print("\n5. A past session (a real Codex file that holds a key) becomes a note that you can check, without a model")
    demo.type("run", "--session", str(path), shown=("run", "--session", path.name))
    output = next(demo.store.rglob("stage_one/*.md"))
    demo.secrets += json.loads((DATA / "sessions" / "expected" / f"{path.name}.json").read_text("utf-8"))["secrets"]
    demo.show(output.read_text(encoding="utf-8").split("\n---\n", 1)[-1], slice(4))


def _look_for_secrets(demo: Demo) -> None:
    """Read every file of the store as bytes and look for the keys that went in."""
    files = [path for path in demo.store.rglob("*") if path.is_file()]
    found = [path for path in files for secret in demo.secrets if secret.encode() in path.read_bytes()]
    if found:
        sys.exit(f"a key was written to {', '.join(map(str, found))}")
    print(f"   Both keys were looked for in all {len(files)} files of the store: they are in none.")


def _next(demo: Demo) -> None:
    """Say what to type next."""
    program = _near(Path(demo.program))
    print(f"""
What to type next
   less {_near(demo.store / "global" / "MEMORY.md")} {_near(demo.store / "JOURNAL.md")}
   {program} --root {_near(demo.store)} dashboard      the same in the browser
   {program} remember "my first note"      your own memory, in ~/.memory-magic
   .venv/bin/ipython      then:  %load_ext memory_magic   and   %memory?""")


def _near(path: Path) -> str:
    """Write a path as short as the present directory allows."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else TREE / "build" / "demo")
