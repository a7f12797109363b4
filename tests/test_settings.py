"""Settings: the table, where a value comes from, what is refused, and edits that keep every other byte."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic import settings, settings_file
from memory_magic.errors import SettingError, StoreAccessError

DESIGN_DEFAULTS = {
    "enabled": False,
    "use_memories": True,
    "generate_memories": True,
    "quick_capture": False,
    "cwd_dir": ".memory-magic",
    "personal_bytes": 32768,
    "project_bytes": 32768,
    "notes_entries": 32,
    "notes_characters": 12000,
    "summary_injection_token_limit": 5000,
    "total_token_limit": None,
    "max_rollouts_per_startup": 64,
    "max_rollout_age_days": 30,
    "min_rollout_idle_hours": 12,
    "stage_one_token_limit": None,
    "lease_seconds": 3600,
    "retry_seconds": 3600,
    "max_attempts": 3,
    "concurrency": 8,
    "scan_limit": 5000,
    "min_rate_limit_remaining_percent": 25,
    "max_unused_days": 30,
    "phase_two_lease_seconds": 3600,
    "heartbeat_seconds": 90,
    "raw_memories_limit": 256,
    "model_default": "offline",
    "model_smol": "",
    "extract_model": "",
    "consolidation_model": "",
    "search_limit": 8,
}
FURTHER = {
    "index_path",
    "preset",
    "recall",
    "remote_sources",
    "max_tokens_per_day",
    "keep_generations",
    "ledger_days",
    "session_folders",
}
BOUNDS = [
    ("max_rollouts_per_startup", 1, 128),
    ("max_rollout_age_days", 0, 90),
    ("min_rollout_idle_hours", 1, 48),
    ("search_limit", 1, 20),
    ("min_rate_limit_remaining_percent", 0, 100),
]


def write(root: Path, text: str) -> Path:
    """Write config.toml as *text* below [memories] and return its place."""
    root.mkdir(exist_ok=True)
    path = root / "config.toml"
    path.write_bytes(text.encode())
    return path


def test_defaults_are_those_of_the_design(tmp_path: Path) -> None:
    """Without file and environment every setting has the default of the design, and no key is missing."""
    loaded = settings.load(tmp_path, {})
    assert {name: getattr(loaded, name) for name in DESIGN_DEFAULTS} == DESIGN_DEFAULTS
    assert {item.name for item in fields(settings.Settings)} == set(DESIGN_DEFAULTS) | FURTHER
    assert list(settings.SETTINGS) == [item.name for item in fields(settings.Settings)]


def test_every_row_says_what_it_is() -> None:
    """Each setting has a range, a meaning and the system that it comes from."""
    for setting in settings.SETTINGS.values():
        assert setting.kind.range
        assert setting.meaning
        assert setting.source
        assert setting.variable == f"MEMORY_MAGIC_{setting.name.upper()}"


def test_settings_are_frozen_and_slotted(tmp_path: Path) -> None:
    """A loaded record cannot be changed and takes no new attribute."""
    loaded = settings.load(tmp_path, {})
    with pytest.raises(AttributeError):
        loaded.enabled = True  # type: ignore[misc]
    assert not hasattr(loaded, "__dict__")


@pytest.mark.parametrize("word", ["1", "on", "true", "yes", "y", "enabled", " ON ", "Yes\n", "TRUE"])
def test_words_that_switch_on(tmp_path: Path, word: str) -> None:
    """Each of the six words switches on, trimmed and in any case."""
    assert settings.load(tmp_path, {"MEMORY_MAGIC_ENABLED": word}).enabled is True


@pytest.mark.parametrize("word", ["0", "off", "no", "n", "false", "disabled", "", "  "])
def test_words_that_switch_off_beat_the_file(tmp_path: Path, word: str) -> None:
    """The environment goes before the file, also when it is empty: that is a way to say no."""
    write(tmp_path, "[memories]\nenabled = true\n")
    assert settings.load(tmp_path, {"MEMORY_MAGIC_ENABLED": word}).enabled is False


def test_order_environment_file_preset_default(tmp_path: Path) -> None:
    """Environment goes before file, file before preset, preset before default, and each value says its origin."""
    write(tmp_path, '[memories]\npreset = "codex"\nmax_rollout_age_days = 20\n')
    found = settings.explain(tmp_path, {"MEMORY_MAGIC_MIN_ROLLOUT_IDLE_HOURS": "7"})
    assert (found["min_rollout_idle_hours"].value, found["min_rollout_idle_hours"].origin) == (7, "environment")
    assert (found["max_rollout_age_days"].value, found["max_rollout_age_days"].origin) == (20, "config.toml")
    assert (found["max_rollouts_per_startup"].value, found["max_rollouts_per_startup"].origin) == (2, "preset")
    assert (found["concurrency"].value, found["concurrency"].origin) == (8, "default")


def test_preset_codex_from_the_environment(tmp_path: Path) -> None:
    """`preset = "codex"` gives 2, 10 and 6."""
    loaded = settings.load(tmp_path, {"MEMORY_MAGIC_PRESET": "codex"})
    assert (loaded.max_rollouts_per_startup, loaded.max_rollout_age_days, loaded.min_rollout_idle_hours) == (2, 10, 6)


@pytest.mark.parametrize(("name", "low", "high"), BOUNDS)
def test_ranges_are_kept(tmp_path: Path, name: str, low: int, high: int) -> None:
    """Both ends of a range are allowed; one beyond is an error with key, value and range."""
    for value in (low, high):
        assert getattr(settings.load(tmp_path, {f"MEMORY_MAGIC_{name.upper()}": str(value)}), name) == value
    for value in (low - 1, high + 1):
        with pytest.raises(SettingError, match=rf"{name} = {value} is out of range: {name} may be {low} to {high}"):
            settings.explain(tmp_path, {f"MEMORY_MAGIC_{name.upper()}": str(value)})


@pytest.mark.parametrize("raw", ["true", "1.5", '"many"', "[1]", "1979-05-27", "nan", "9" * 200])
def test_a_number_must_be_a_whole_number(tmp_path: Path, raw: str) -> None:
    """Anything but a whole number is refused for a number, with the file's line."""
    path = write(tmp_path, f"# mine\n[memories]\nconcurrency = {raw}\n")
    with pytest.raises(SettingError) as caught:
        settings.explain(tmp_path, {})
    assert caught.value.where == f"{path}:3"
    assert "concurrency = " in caught.value.what
    assert "1 to 64" in caught.value.what


def test_unknown_key_names_place_and_nearest(tmp_path: Path) -> None:
    """An unknown key in the file is an error with key, value, path:line and the name that was probably meant."""
    path = write(tmp_path, "[memories]\nenabled = true\nnote_entries = 5\n")
    with pytest.raises(SettingError) as caught:
        settings.explain(tmp_path, {})
    assert caught.value.where == f"{path}:3"
    assert "note_entries = 5" in caught.value.what
    assert "notes_entries" in caught.value.hint


def test_setting_outside_of_its_table(tmp_path: Path) -> None:
    """A setting above every table would silently do nothing: it is an error that says where it belongs."""
    path = write(tmp_path, "\nenabled = true\n")
    with pytest.raises(SettingError, match="stands outside") as caught:
        settings.explain(tmp_path, {})
    assert caught.value.where == f"{path}:2"


def test_other_tables_are_left_alone(tmp_path: Path) -> None:
    """Tables of other programs or later versions are no concern of ours."""
    write(tmp_path, '[other]\nanything = 1\n[[more]]\nx = "y"\n[memories]\nenabled = "on"\n')
    assert settings.load(tmp_path, {}).enabled is True


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[memories\n", "not valid TOML"),
        (b"[memories]\nenabled = maybe\n", "not valid TOML"),
        (b"\xff\xfe[memories]", "not UTF-8"),
        (b"memories = 3\n", "is out of range|no setting|no table"),
        (b"[[memories]]\nenabled = true\n", "no table"),
        (b"x = " + b"[" * 5000, "nested too deeply|not valid TOML"),
    ],
)
def test_damaged_file_is_one_friendly_error(tmp_path: Path, content: bytes, says: str) -> None:
    """A file that is not TOML or not text is a SettingError that names the file."""
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    with pytest.raises(SettingError, match=says) as caught:
        settings.explain(tmp_path, {})
    assert str(path) in caught.value.where


def test_unreadable_file(tmp_path: Path) -> None:
    """A directory in the file's place is a SettingError, not a traceback."""
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(SettingError, match="cannot be read"):
        settings.explain(tmp_path, {})


def test_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    """Windows' Notepad writes a byte order mark; the file is read all the same, and an edit keeps the mark."""
    path = write(tmp_path, "\ufeff[memories]\r\nenabled = true\r\n")
    assert settings.load(tmp_path, {}).enabled is True
    settings.set_value(tmp_path, "quick_capture", "on")
    assert path.read_bytes() == "\ufeff[memories]\r\nenabled = true\r\nquick_capture = true\r\n".encode()


def test_secret_typed_as_a_value_is_not_shown(tmp_path: Path) -> None:
    """A key that was pasted into the wrong place never appears in the error."""
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    with pytest.raises(SettingError) as caught:
        settings.explain(tmp_path, {"MEMORY_MAGIC_CONCURRENCY": secret})
    assert secret not in str(caught.value)
    with pytest.raises(SettingError) as caught:
        settings.set_value(tmp_path, secret, "1")
    assert secret not in str(caught.value)


@pytest.mark.parametrize("name", ["", "/abs", "../up", "a/../../b", "a\nb", "a\\b", "."])
def test_folder_of_a_project_stays_inside_it(tmp_path: Path, name: str) -> None:
    """`cwd_dir` cannot lead out of the project."""
    with pytest.raises(SettingError, match="cwd_dir"):
        settings.set_value(tmp_path, "cwd_dir", name)


def test_rebranded_folder(tmp_path: Path) -> None:
    """`MEMORY_MAGIC_CWD_DIR` re-brands the project's folder."""
    assert settings.load(tmp_path, {"MEMORY_MAGIC_CWD_DIR": ".acme"}).cwd_dir == ".acme"


def test_lists_limits_and_choices(tmp_path: Path) -> None:
    """Lists split at their separator, limits know a word for none, choices are checked."""
    environ = {
        "MEMORY_MAGIC_REMOTE_SOURCES": "codex, claude_code,",
        "MEMORY_MAGIC_SESSION_FOLDERS": os.pathsep.join(["/a", "~/b"]),
        "MEMORY_MAGIC_TOTAL_TOKEN_LIMIT": "0",
        "MEMORY_MAGIC_STAGE_ONE_TOKEN_LIMIT": "AUTO",
        "MEMORY_MAGIC_RECALL": "Relevant",
    }
    loaded = settings.load(tmp_path, environ)
    assert loaded.remote_sources == ("codex", "claude_code")
    assert loaded.session_folders == ("/a", "~/b")
    assert loaded.total_token_limit == 0
    assert loaded.stage_one_token_limit is None
    assert loaded.recall == "relevant"
    with pytest.raises(SettingError, match="off or relevant"):
        settings.explain(tmp_path, {"MEMORY_MAGIC_RECALL": "sometimes"})


@pytest.mark.parametrize("key", ["enabled", "memories.enabled", " enabled "])
def test_set_value_takes_both_spellings(tmp_path: Path, key: str) -> None:
    """`enabled` and `memories.enabled` are the same setting."""
    assert settings.set_value(tmp_path, key, "true") is True
    assert settings.load(tmp_path, {}).enabled is True


def test_set_value_refuses_unknown_and_wrong(tmp_path: Path) -> None:
    """An unknown key or a value out of range is an error, and nothing is written."""
    with pytest.raises(SettingError, match="no setting"):
        settings.set_value(tmp_path, "memory.backend", "native")
    with pytest.raises(SettingError, match="search_limit = 21"):
        settings.set_value(tmp_path, "search_limit", "21")
    assert not (tmp_path / "config.toml").exists()


def test_modes_whatever_the_umask(tmp_path: Path) -> None:
    """The file is 0600 in a root 0700, even under umask 000 and when it was wider before."""
    old = os.umask(0)
    try:
        root = tmp_path / "new" / "root"
        settings.set_value(root, "enabled", "on")
        (root / "config.toml").chmod(0o644)
        settings.set_value(root, "enabled", "off")
    finally:
        os.umask(old)
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert stat.S_IMODE((root / "config.toml").stat().st_mode) == 0o600
    assert [item.name for item in root.iterdir()] == ["config.toml"]


EDITS = [
    ("", "[memories]\nenabled = true\n"),
    ("# only a comment", "# only a comment\n\n[memories]\nenabled = true\n"),
    ("[memories]", "[memories]\nenabled = true\n"),
    ("[memories] # ours\n", "[memories] # ours\nenabled = true\n"),
    ("[memories]\nenabled=false# off for now\n", "[memories]\nenabled=true# off for now\n"),
    ('[ "memories" ]\n  "enabled"\t=  false\n', '[ "memories" ]\n  "enabled"\t=  true\n'),
    ("memories.recall = 'off'\n[z]\n", "memories.recall = 'off'\nmemories.enabled = true\n[z]\n"),
    ("memories.enabled = false\n", "memories.enabled = true\n"),
    ("[[z]]\nq=1\n[[z]]\nq=2", "[[z]]\nq=1\n[[z]]\nq=2\n\n[memories]\nenabled = true\n"),
]
INSERTED = [
    ("[memories]\nrecall = 'off'\n", "\n[z]\nenabled = false\n"),
    ("[memories]\r\nrecall = 'off'\r\n", "[z]\r\nx = nan\r\n"),
    ("[z]\na = [ # [memories]\n 1, ']', # x\n]\n[memories]\n", "[y]\n"),
    ('[z]\ns = """\n[memories]\nenabled = false\n"""\n\n[memories]\n', ""),
    ('[memories]\nsession_folders = [\n  "/a", # one\n  "/b",\n]\n', "[z]\n"),
    ("[memories]\nrecall = 'off'\n", "\n# about z\n[z]\n"),
]


@pytest.mark.parametrize(("before", "after"), EDITS)
def test_edit_keeps_every_other_byte(tmp_path: Path, before: str, after: str) -> None:
    """Comments, order, quotes, line endings and other tables stay as they were; one value or one line changes."""
    path = write(tmp_path, before)
    settings.set_value(tmp_path, "enabled", "on")
    assert path.read_bytes().decode() == after
    assert tomllib.loads(after)["memories"]["enabled"] is True


@pytest.mark.parametrize(("before", "after"), INSERTED)
def test_new_key_goes_to_the_end_of_its_table(tmp_path: Path, before: str, after: str) -> None:
    """A new key is one line after the last of its table, in the file's own line ending, wherever that table stands."""
    path = write(tmp_path, before + after)
    settings.set_value(tmp_path, "enabled", "on")
    line = "enabled = true\r\n" if "\r" in before else "enabled = true\n"
    assert path.read_bytes().decode() == before + line + after


def test_edit_replaces_a_list_of_several_lines(tmp_path: Path) -> None:
    """The whole span of the old value goes, comments inside it too, and the rest stays."""
    path = write(tmp_path, '[memories]\nremote_sources = [\n "a", # x\n "b" ] # keep\nenabled = true\n')
    settings.set_value(tmp_path, "remote_sources", "codex,mito")
    assert path.read_text() == '[memories]\nremote_sources = ["codex", "mito"] # keep\nenabled = true\n'


def test_edit_of_an_inline_table_is_refused(tmp_path: Path) -> None:
    """A form that the editor cannot change safely is refused with the line to write by hand; nothing changes."""
    path = write(tmp_path, "memories = { recall = 'off' }\n")
    with pytest.raises(SettingError, match="by hand") as caught:
        settings.set_value(tmp_path, "enabled", "on")
    assert caught.value.where == f"{path}:1"
    assert path.read_text() == "memories = { recall = 'off' }\n"


def test_limit_without_value_is_written_as_its_word(tmp_path: Path) -> None:
    """TOML has no null: no limit is written as the word that reads back as none."""
    settings.set_value(tmp_path, "total_token_limit", "9000")
    assert settings.load(tmp_path, {}).total_token_limit == 9000
    settings.set_value(tmp_path, "total_token_limit", "off")
    assert settings.load(tmp_path, {}).total_token_limit is None
    assert 'total_token_limit = "off"' in (tmp_path / "config.toml").read_text()


def test_symlinked_file_keeps_its_link(tmp_path: Path) -> None:
    """A config.toml kept with the dotfiles stays a link; its target is edited."""
    target = tmp_path / "dotfiles.toml"
    target.write_text("# mine\n")
    root = tmp_path / "root"
    root.mkdir()
    (root / "config.toml").symlink_to(target)
    settings.set_value(root, "enabled", "on")
    assert (root / "config.toml").is_symlink()
    assert target.read_text() == "# mine\n\n[memories]\nenabled = true\n"


def test_edit_made_meanwhile_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the file changes between reading and renaming, it is read again and both changes stand."""
    path = write(tmp_path, "[memories]\n")
    real = settings_file.with_value

    def slow(text: str, table: str, key: str, literal: str) -> str | None:
        if text == "[memories]\n":
            path.write_text("[memories]\nquick_capture = true\n")
        return real(text, table, key, literal)

    monkeypatch.setattr(settings_file, "with_value", slow)
    settings.set_value(tmp_path, "enabled", "on")
    assert path.read_text() == "[memories]\nquick_capture = true\nenabled = true\n"


def test_disk_that_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full or read-only disk is a StoreAccessError that names the file, and no temporary file is left."""

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    root = tmp_path / "root"
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreAccessError, match="No space left") as caught:
        settings.set_value(root, "enabled", "on")
    assert str(root / "config.toml") in caught.value.where
    assert list(root.iterdir()) == []


def test_root_from_argument_environment_home(tmp_path: Path) -> None:
    """--root goes before MEMORY_MAGIC_HOME, that before ~/.memory-magic; all are made absolute."""
    home = {"HOME": str(tmp_path)}
    assert settings.find_root(None, home) == tmp_path / ".memory-magic"
    assert settings.find_root(None, {**home, "MEMORY_MAGIC_HOME": ""}) == tmp_path / ".memory-magic"
    assert settings.find_root(None, {**home, "MEMORY_MAGIC_HOME": "~/elsewhere"}) == tmp_path / "elsewhere"
    assert settings.find_root(tmp_path / "a", {**home, "MEMORY_MAGIC_HOME": "/b"}) == tmp_path / "a"
    assert settings.find_root("rel/../there", home) == Path.cwd() / "there"
    for bad in ("", "a\0b"):
        with pytest.raises(SettingError):
            settings.find_root(bad, home)


def test_unknown_variables_are_listed_not_refused(tmp_path: Path) -> None:
    """An unknown MEMORY_MAGIC_ variable is no error; doctor gets its name, never its value."""
    environ = {"MEMORY_MAGIC_HOME": "/x", "MEMORY_MAGIC_BENCH_DATA": "/y", "MEMORY_MAGIC_ENABLD": "secret", "PATH": ""}
    settings.load(tmp_path, environ)
    assert settings.unknown_variables(environ) == ["MEMORY_MAGIC_ENABLD"]


def test_values_are_shown_for_people() -> None:
    """Switches read on and off, missing limits their word, numbers with separators, empty things say so."""
    rows = settings.SETTINGS
    assert settings.show(settings.load(Path("/nowhere"), {}).use_memories, rows["enabled"]) == "on"
    assert settings.show(None, rows["stage_one_token_limit"]) == "auto"
    assert settings.show(32768, rows["personal_bytes"]) == "32,768"
    assert settings.show("", rows["model_smol"]) == "(empty)"
    assert settings.show((), rows["remote_sources"]) == "(none)"
    assert settings.show(("a", "b"), rows["remote_sources"]) == "a, b"


def test_import_loads_the_standard_library_only() -> None:
    """The hook reads settings: importing them loads nothing from site-packages and no store."""
    code = (
        "import sys; before = set(sys.modules); import memory_magic.settings as s; s.load(s.find_root('/nowhere'), {});"
        "new = {n.partition('.')[0] for n in set(sys.modules) - before};"
        "print(sorted(n for n in new if n not in sys.stdlib_module_names), 'memory_magic.store' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['memory_magic'] False"


KEYS = st.sampled_from(["enabled", "recall", "concurrency", "cwd_dir"])
LINES = st.lists(
    st.sampled_from(
        [
            "# note [memories] = 'x'",
            "",
            "[memories]",
            "[z]",
            "[z.memories]",
            "[[list]]",
            "a = 1 # c",
            "b = 'it''s'"[:7],
            'c = "quoted \\" ] = #"',
            'd = """\n[memories]\nenabled = 1"""',
            "e = [1,\n 2, # ]\n [3]]",
            "f = { enabled = 1, g = [']'] }",
            "enabled = false",
            "recall = 'off'",
            "memories.enabled = false",
        ]
    ),
    max_size=8,
)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_edit_of_any_file_changes_one_key(lines: list[str], newline: str, last: bool) -> None:  # noqa: FBT001
    """For every valid file, the edit is either refused or changes exactly this key and keeps all other lines."""
    text = newline.join(line.replace("\n", newline) for line in lines) + (newline if last else "")
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    try:
        new = settings_file._edited(text, Path("config.toml"), "memories", "enabled", value=True)
    except SettingError:
        return
    before.setdefault("memories", {})["enabled"] = True
    assert tomllib.loads(new) == before
    kept = [line for line in text.splitlines() if "enabled" not in line]
    rest = iter(new.splitlines())
    assert all(line in rest for line in kept if line)


@given(st.text(max_size=40))
def test_literal_reads_back(text: str) -> None:
    """Any text without lone surrogates is written so that TOML gives it back."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert tomllib.loads(f"x = {settings_file.literal(text)}")["x"] == text


def test_set_value_checks_before_it_writes(tmp_path: Path) -> None:
    """A key outside of the table, or a bad variable, is said before writing; a wrong neighbour is no bar."""
    path = tmp_path / "config.toml"
    path.write_text("enabled = true\n")
    with pytest.raises(SettingError, match="enabled = true stands outside"):
        settings.set_value(tmp_path, "recall", "off")
    assert path.read_text() == "enabled = true\n"
    path.write_text("[memories]\nsearch_limit = 99\nnotes_entries = 9999\n")
    with pytest.raises(SettingError, match="out of range"):
        settings.set_value(tmp_path, "search_limit", "8", {"MEMORY_MAGIC_SEARCH_LIMIT": "50"})
    settings.set_value(tmp_path, "search_limit", "8", {})
    found = settings.explain_one(tmp_path, settings.SETTINGS["search_limit"], {})
    assert (found.value, found.origin) == (8, "config.toml")


def test_word_for_a_number_is_no_number(tmp_path: Path) -> None:
    """A word where a number belongs is called that; a number too large is out of range."""
    with pytest.raises(SettingError, match="abc is no number"):
        settings.set_value(tmp_path, "search_limit", "abc")
    with pytest.raises(SettingError, match="99 is out of range"):
        settings.set_value(tmp_path, "search_limit", "99")


def test_root_that_is_a_file_or_below_an_empty_home_is_refused(tmp_path: Path) -> None:
    """A root has to be a folder; an empty HOME names none."""
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(SettingError, match="is a file; the root must be a folder"):
        settings.find_root(None, {"MEMORY_MAGIC_HOME": str(file)})
    with pytest.raises(SettingError, match="HOME is empty"):
        settings.find_root(None, {"HOME": ""})


def test_what_is_wrong_has_its_default_and_switches_memory_off(tmp_path: Path) -> None:
    """Loading never fails: a fault is listed, its setting has the default, the others stay, and `enabled` is false."""
    path = write(tmp_path, "[memories]\nenabled = true\nsearch_limit = 99\nsearch_limt = 3\nnotes_entries = 4\n")
    environ = {"MEMORY_MAGIC_CONCURRENCY": "many"}
    loaded = settings.load(tmp_path, environ)
    assert (loaded.enabled, loaded.search_limit, loaded.notes_entries, loaded.concurrency) == (False, 8, 4, 8)
    told = [(fault.what.partition(" ")[0], fault.where) for fault in settings.faults(tmp_path, environ)]
    assert told == [
        ("there", f"{path}:4"),
        ("concurrency", "MEMORY_MAGIC_CONCURRENCY"),
        ("search_limit", f"{path}:3"),
    ]
    assert settings.load(tmp_path, {"MEMORY_MAGIC_ENABLED": "on"}).enabled is False
    write(tmp_path, "[memories]\nenabled = true\n")
    assert settings.faults(tmp_path, {}) == []
    assert settings.load(tmp_path, {}).enabled is True


@pytest.mark.parametrize("content", [b"[memories\n", b"\xff", b"memories = 3\n", b"[[memories]]\nenabled = true\n"])
def test_a_file_that_is_no_settings_file_means_all_defaults(tmp_path: Path, content: bytes) -> None:
    """What cannot be understood at all denies: defaults, memory off, one fault or more, no exception."""
    (tmp_path / "config.toml").write_bytes(content)
    loaded = settings.load(tmp_path, {"MEMORY_MAGIC_ENABLED": "on"})
    assert loaded == settings.load(Path("/nowhere"), {})
    assert settings.faults(tmp_path, {})


def test_a_wrong_preset_is_the_default_preset(tmp_path: Path) -> None:
    """An unknown preset changes no limit; a known one still counts where another key is wrong."""
    write(tmp_path, '[memories]\npreset = "none"\n')
    assert settings.load(tmp_path, {}).max_rollouts_per_startup == 64
    write(tmp_path, '[memories]\npreset = "codex"\nmax_rollout_age_days = 900\n')
    loaded = settings.load(tmp_path, {})
    assert (loaded.max_rollouts_per_startup, loaded.max_rollout_age_days) == (2, 10)


def test_paused_is_a_word_for_off(tmp_path: Path) -> None:
    """A kernel that is paused tells its children by the variable; they find memory off and know why."""
    environ = {"MEMORY_MAGIC_ENABLED": settings.PAUSED}
    write(tmp_path, "[memories]\nenabled = true\n")
    assert settings.load(tmp_path, environ).enabled is False
    assert settings.is_paused(environ)
    assert not settings.is_paused({"MEMORY_MAGIC_ENABLED": "off"})
    assert settings.faults(tmp_path, environ) == []


def test_memory_can_be_switched_off_whatever_else_is_wrong(tmp_path: Path) -> None:
    """Not strict: an unknown key and a bad variable do not stand in the way of one line."""
    path = write(tmp_path, "[memories]\nenabled = true\nunknown_key = 1\n")
    settings.set_value(tmp_path, "enabled", "off", {"MEMORY_MAGIC_ENABLED": "maybe"}, strict=False)
    assert path.read_text() == "[memories]\nenabled = false\nunknown_key = 1\n"


def test_a_root_below_a_file_is_refused(tmp_path: Path) -> None:
    """What lies below a file can never be a folder."""
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match="file is a file; the root must be a folder"):
        settings.find_root(tmp_path / "file" / "deeper" / "root")


TOPS = [
    ("", 'memory = "off"\n'),
    ('# mine\nlabel = "x"\n', '# mine\nlabel = "x"\nmemory = "off"\n'),
    ('label = "x"', 'label = "x"\nmemory = "off"\n'),
    ('[t]\nmemory = "on"\n', 'memory = "off"\n[t]\nmemory = "on"\n'),
    ('id = "a"\r\n\r\n[t]\r\n', 'id = "a"\r\nmemory = "off"\r\n\r\n[t]\r\n'),
    ('memory = "on" # why\n', 'memory = "off" # why\n'),
    ("\ufeff# x\n", '\ufeff# x\nmemory = "off"\n'),
    ("# x\n[t]\n", 'memory = "off"\n# x\n[t]\n'),
]


@pytest.mark.parametrize(("before", "after"), TOPS)
def test_a_line_above_all_tables(tmp_path: Path, before: str, after: str) -> None:
    """One line is written or changed, all else stays, and taking it out leaves the rest."""
    path = tmp_path / ".memory-magic.toml"
    path.write_bytes(before.encode())
    path.chmod(0o644)
    settings_file.replace_top(path, "memory", "off")
    assert path.read_bytes().decode() == after
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    settings_file.replace_top(path, "memory", None)
    kept = before if "memory" not in before.partition("[")[0] else ""
    assert path.read_bytes().decode().rstrip("\n") == kept.rstrip("\n")
    assert [item.name for item in tmp_path.iterdir() if item.is_file()] == [".memory-magic.toml"]


def test_a_new_file_has_its_heading_and_the_rights_of_the_umask(tmp_path: Path) -> None:
    """A project's file is the project's: no private mode; without the key nothing is written."""
    path = tmp_path / "new.toml"
    settings_file.replace_top(path, "memory", None)
    assert not path.exists()
    old = os.umask(0o022)
    try:
        settings_file.replace_top(path, "memory", "off", heading="# why\n")
    finally:
        os.umask(old)
    assert path.read_text() == '# why\nmemory = "off"\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_form_that_cannot_be_taken_out_is_refused(tmp_path: Path) -> None:
    """A key written as a table or with dots is left alone, and the error says what to do by hand."""
    path = tmp_path / "x.toml"
    path.write_text("[memory]\nx = 1\n")
    with pytest.raises(SettingError, match="by hand"):
        settings_file.replace_top(path, "memory", "off")
    with pytest.raises(SettingError, match="Take the line of memory out by hand"):
        settings_file.replace_top(path, "memory", None)
    assert path.read_text() == "[memory]\nx = 1\n"


def test_a_pipe_in_the_place_of_the_settings_holds_nobody_up(root: Path) -> None:
    """A named pipe is told as a fault instead of waited for; memory is off as long as it is there."""
    root.mkdir(exist_ok=True)
    os.mkfifo(root / "config.toml")
    assert not settings.load(root).enabled
    with pytest.raises(SettingError, match="no regular file"):
        settings.explain(root, {})
