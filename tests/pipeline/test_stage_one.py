"""Stage one end to end: a real session becomes a private file in the right folder, once, without its secrets."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memory_magic.errors import FileStateError, MemoryOffError, ReadOnlyStoreError, SessionFormatError
from memory_magic.pipeline import artefacts, offline, render, stage_one
from memory_magic.sessions import read
from memory_magic.store.scope import resolve

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).resolve().parent.parent / "data"
ROLLOUTS = sorted((DATA / "sessions").rglob("rollout-*.jsonl"))
TABS = next(path for path in ROLLOUTS if "01a22dc0-a64c" in path.name)
NOW = datetime(2026, 11, 30, 20, 0, 0, 123456, tzinfo=UTC)


@dataclass(frozen=True)
class Settings:
    """The one setting that stage one asks for."""

    enabled: bool = True


@dataclass(frozen=True)
class Memory:
    """What stage one needs of a store."""

    root: Path
    settings: Settings = Settings()
    read_only: bool = False


@pytest.fixture
def memory(root: Path) -> Memory:
    """Give a store that is switched on."""
    return Memory(root)


def run(path: Path, memory: Memory, at: datetime = NOW) -> stage_one.Output:
    """Extract one session at a fixed time."""
    return stage_one.run_session(path, store=memory, clock=lambda: at)


def rollout(folder: Path, cwd: str | None, *texts: str, name: str = "s1") -> Path:
    """Write a rollout in which a person says these texts in a directory."""
    path = folder / f"rollout-{name}.jsonl"
    time = "2026-11-30T18:00:00.000Z"
    lines: list[object] = [
        {"timestamp": time, "type": "session_meta", "payload": {"id": name, "timestamp": time, "cwd": cwd}}
    ]
    lines += (
        {
            "timestamp": time,
            "type": "response_item",
            "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
        }
        for text in texts
    )
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_a_real_session_becomes_a_readable_file(memory: Memory) -> None:
    """The record says what became of it, the file holds the memory and where it comes from."""
    output = run(TABS, memory)
    folder = hashlib.sha256(os.path.realpath("/home/ana/churn").encode()).hexdigest()[:16]
    assert output.as_json() == {
        "stem": "2026-11-30T18-38-49-5422a8a2-i-prefer-tabs",
        "session": "01a22dc0-a64c-7c53-99bc-357dc1d90370",
        "source": "codex",
        "cwd": "/home/ana/churn",
        "updated": "2026-11-30T18:38:50.233Z",
        "generated": "2026-11-30T20:00:00.123Z",
        "model": "offline",
        "status": "output",
        "input_tokens": output.input_tokens,
        "truncated": False,
        "redacted": output.redacted,
        "error": None,
        "path": str(memory.root / "unscoped" / folder / "stage_one" / f"{output.stem}.md"),
    }
    assert output.input_tokens > 200
    assert sum(output.redacted.values()) == 1
    text = Path(str(output.path)).read_text(encoding="utf-8")
    assert "\n- preference: I prefer tabs.\n" in text
    assert "\n## user, line 8, 2026-11-30\n" in text
    assert "Chosen by rules" in text


def test_the_golden_file_is_what_this_session_gives(data: Path) -> None:
    """Reader, filter, rules and format together give these bytes."""
    washed = render.clean(replace(read(TABS), path=f"/home/ana/.codex/sessions/2026/11/30/{TABS.name}"))
    artefact = stage_one.build(
        washed.session,
        offline.extract(washed.session),
        version=stage_one.version_of(washed.session),
        model=offline.MODEL,
        input_tokens=len(render.serialise(washed.session)) // 4,
        redacted={"key": sum(washed.redacted.values())},  # what a kind is called is the redactor's business
        generated=NOW,
    )
    golden = data / "golden" / "stage_one" / "2026-11-30T18-38-49-5422a8a2-i-prefer-tabs.md"
    assert artefacts.render(artefact) == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ROLLOUTS, ids=lambda path: path.name[8:27])
def test_every_real_file_runs(path: Path, memory: Memory) -> None:
    """Each of the ten becomes an output or, when nothing is worth keeping, front matter alone."""
    output = run(path, memory)
    text = Path(str(output.path)).read_text(encoding="utf-8")
    assert output.status == ("output" if "# Raw memory" in text else "no_output")
    assert artefacts.render(artefacts.parse(text)) == text
    assert "TOOLRESULT" not in text
    assert "MEMBLOCK" not in text


def test_no_secret_is_in_any_written_byte(memory: Memory) -> None:
    """After all ten files no file below the root, and no file name, holds an invented key or a part of it."""
    secrets = set()
    for path in ROLLOUTS:
        expected = json.loads((DATA / "sessions" / "expected" / f"{path.name}.json").read_text(encoding="utf-8"))
        secrets.update(expected["secrets"])
        run(path, memory)
    assert len(secrets) == 1
    written = [path for path in memory.root.rglob("*") if path.is_file()]
    assert len(written) == 10
    for secret in secrets:
        for part in (secret, secret[8:24], secret.removeprefix("sk-proj-").casefold()[:12]):
            for path in written:
                assert part.encode() not in path.read_bytes()
                assert part not in path.name


def test_a_secret_in_the_first_words_is_not_in_the_slug(memory: Memory, tmp_path: Path) -> None:
    """The slug is made of redacted words, in which a key can still be recognised."""
    key = "sk-proj-" + "Zk3QpX9vLr2mN8bT" + "q7WcYh4DsE6fGj1K"
    output = run(rollout(tmp_path, "/home/ana", f"Always use {key} here. Always use tabs."), memory)
    assert "zk3qpx9v" not in str(output.stem).casefold()
    assert key not in Path(str(output.path)).read_text(encoding="utf-8")


def test_running_again_does_nothing_new(memory: Memory) -> None:
    """An unchanged session keeps its file, byte for byte and with its time."""
    first = run(TABS, memory)
    before = Path(str(first.path)).stat()
    again = run(TABS, memory, NOW + timedelta(hours=3))
    after = Path(str(first.path)).stat()
    assert again == first
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_touched_or_moved_file_is_the_same_version(memory: Memory, tmp_path: Path) -> None:
    """The version is that of the words: neither time stamps nor lines without a turn make a new one."""
    path = tmp_path / TABS.name
    shutil.copy(TABS, path)
    first = run(path, memory)
    with path.open("a", encoding="utf-8") as stream:
        stream.write('{"timestamp":"2026-11-30T19:00:00.000Z","type":"event_msg","payload":{"type":"token_count"}}\n')
    os.utime(path, (1, 1))
    assert run(path, memory, NOW + timedelta(hours=3)) == first
    assert run(TABS, memory, NOW + timedelta(hours=3)).generated == first.generated


def test_a_session_that_grew_is_extracted_again_under_its_name(memory: Memory, tmp_path: Path) -> None:
    """The stem stays, so what points to it stays right, even where another slug would be chosen now."""
    first = run(rollout(tmp_path, "/home/ana", "Always use tabs."), memory)
    again = run(rollout(tmp_path, "/home/ana", "Always use spaces.", "We decided on ruff."), memory, NOW)
    assert again.stem == first.stem
    assert "spaces" in Path(str(again.path)).read_text(encoding="utf-8")
    last = run(rollout(tmp_path, "/home/ana", "Now count files."), memory)
    assert (last.stem, last.status) == (first.stem, "no_output")
    assert len(list(memory.root.rglob("*.md"))) == 1


def test_a_damaged_file_is_written_anew(memory: Memory, tmp_path: Path) -> None:
    """A stage-one file that somebody broke does not stop the next run, and stays for the person to look at."""
    path = rollout(tmp_path, "/home/ana", "Always use tabs.")
    first = run(path, memory)
    Path(str(first.path)).write_text("broken", encoding="utf-8")
    again = run(path, memory)
    assert again.status == "output"
    assert again.path != first.path


def test_memory_off_reads_nothing(root: Path, tmp_path: Path) -> None:
    """While `enabled` is false no session is opened, not even one that does not exist."""
    with pytest.raises(MemoryOffError, match="memory-magic config set enabled on"):
        run(tmp_path / "nowhere.jsonl", Memory(root, Settings(enabled=False)))
    assert not root.exists()


def test_a_store_for_reading_is_not_written(root: Path) -> None:
    """A read-only store refuses before anything is read."""
    with pytest.raises(ReadOnlyStoreError, match="reading only"):
        run(TABS, Memory(root, read_only=True))
    assert not root.exists()


def test_a_file_that_is_no_session_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    """A wrong file is an error, and leaves no folder behind."""
    (tmp_path / "x.jsonl").write_text("hello\n", encoding="utf-8")
    with pytest.raises(SessionFormatError, match="no Codex rollout"):
        run(tmp_path / "x.jsonl", memory)
    assert not memory.root.exists()


def test_a_session_of_a_repository_goes_to_its_workspace(
    memory: Memory, tmp_path: Path, git_repo: Callable[..., Path]
) -> None:
    """The directory of the session decides, not the one the command runs in."""
    repository = git_repo("churn")
    inside = repository / "src"
    inside.mkdir()
    output = run(rollout(tmp_path, str(inside), "Always use tabs."), memory)
    workspace = resolve(repository, memory.root).workspace
    assert workspace is not None
    assert Path(str(output.path)).parent == workspace.path / "stage_one"


def test_a_directory_without_workspace_keeps_its_own(memory: Memory, tmp_path: Path) -> None:
    """Two directories never share an unscoped folder; a link and its target do."""
    one, two, link = tmp_path / "one", tmp_path / "two", tmp_path / "link"
    one.mkdir()
    two.mkdir()
    link.symlink_to(one)
    folders = [stage_one.folder_of(str(place), memory.root) for place in (one, two, link)]
    assert folders[0] == folders[2] != folders[1]
    name = hashlib.sha256(str(one.resolve()).encode()).hexdigest()[:16]
    assert folders[0] == memory.root / "unscoped" / name / "stage_one"


@pytest.mark.parametrize("cwd", [None, "", ".", "relative/path", "C:\\work", "/a\0b"])
def test_without_a_certain_directory_it_is_none(memory: Memory, cwd: str | None) -> None:
    """A directory that names no place on this machine is not guessed at."""
    assert stage_one.folder_of(cwd, memory.root) == memory.root / "unscoped" / "none" / "stage_one"


def test_a_project_that_asks_for_no_memory_gets_none(memory: Memory, tmp_path: Path) -> None:
    """`memory = "off"` in a project file keeps its sessions out."""
    project = tmp_path / "secretive"
    project.mkdir()
    (project / ".memory-magic.toml").write_text('memory = "off"\n', encoding="utf-8")
    with pytest.raises(MemoryOffError, match="asks for no memory"):
        run(rollout(tmp_path, str(project), "Always use tabs."), memory)
    assert not list(memory.root.rglob("*.md"))


def test_a_folder_that_is_a_link_out_of_the_store_is_refused(memory: Memory, tmp_path: Path) -> None:
    """Nobody can have a stage-one file written elsewhere by planting a link."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (memory.root / "unscoped").mkdir(parents=True)
    (memory.root / "unscoped" / "none").symlink_to(outside)
    with pytest.raises(FileStateError, match="leads outside"):
        run(rollout(tmp_path, None, "Always use tabs."), memory)
    assert list(outside.iterdir()) == []


def test_hostile_names_stay_inside(memory: Memory, tmp_path: Path) -> None:
    """An id, directory or text that tries to be a path or a key becomes neither."""
    path = rollout(tmp_path, "/home/ana\nmodel: x", "Always use ../../etc/passwd\u202e\x1b]0;x\x07 here.")
    text = path.read_text(encoding="utf-8").replace('"id": "s1"', '"id": "../../x\\nmodel: y"')
    path.write_text(text, encoding="utf-8")
    output = run(path, memory)
    made = Path(str(output.path))
    assert made.resolve().is_relative_to(memory.root.resolve())
    assert made.parent.name == "stage_one"
    assert artefacts.read(made).model == "offline"
    assert "\x1b" not in made.read_text(encoding="utf-8")
    assert run(path, memory, NOW + timedelta(hours=1)) == output


def test_one_sided_answers_are_no_output() -> None:
    """Either text empty means success without output, as codex has it."""
    session = read(TABS)
    for raw, summary in (("x", " "), ("", "x")):
        made = stage_one.build(
            session,
            offline.Extraction(raw, summary, "slug"),
            version="v",
            model="m",
            input_tokens=1,
            redacted={},
            generated=NOW,
        )
        assert (made.has_output, made.slug) == (False, None)


def test_what_an_extractor_returns_is_redacted_again() -> None:
    """Even a model that invents a key, or repeats one, does not bring it to the disk."""
    key = "sk-proj-" + "Zk3QpX9vLr2mN8bT" + "q7WcYh4DsE6fGj1K"
    made = stage_one.build(
        read(TABS),
        offline.Extraction(f"raw {key}", f"summary {key}", f"slug {key}"),
        version="v",
        model="m",
        input_tokens=1,
        redacted={},
        generated=NOW,
    )
    assert key not in artefacts.render(made)
    assert sum(made.redacted.values()) == 3
