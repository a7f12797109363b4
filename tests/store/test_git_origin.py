from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memory_magic.store import git_origin
from memory_magic.store.git_config import NotPlainError, effective_urls, read_config
from memory_magic.store.git_origin import Repository, find_repository

GitRepo = Callable[..., Path]
URL = "https://example.org/ana/lab.git"
HEAD = "ref: refs/heads/main\n"


def git(place: Path, *words: str) -> str:
    """Run git in a directory, as a person would."""
    done = subprocess.run(["git", "-C", str(place), *words], check=True, capture_output=True, text=True)
    return done.stdout


def found(place: Path) -> Repository:
    """Return the repository of a directory that certainly has one."""
    repository = find_repository(Path(os.path.realpath(place)))
    assert repository is not None
    return repository


def commit(place: Path) -> None:
    """Give a repository one commit, which work trees and submodules need."""
    git(place, "commit", "--quiet", "--allow-empty", "-m", "start")


@pytest.fixture
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail as soon as git would be started: the plain case must not need it."""

    def refuse(*_: object) -> tuple[int, bytes, bytes]:
        raise AssertionError("git was started")

    monkeypatch.setattr(git_origin, "_run", refuse)


# --- the plain case: no process --------------------------------------------------------------------------------------


def test_a_plain_repository_is_read_without_starting_git(git_repo: GitRepo, no_program: None) -> None:
    """Top and subdirectory of an ordinary clone are answered from git's files."""
    place = git_repo("lab", origin=URL)
    below = place / "a" / "b"
    below.mkdir(parents=True)
    assert found(place) == found(below) == Repository(place, (URL,))


def test_a_linked_work_tree_shares_the_origin(git_repo: GitRepo, tmp_path: Path, no_program: None) -> None:
    """`git worktree add` makes a top of its own with the origin of the first."""
    place = git_repo("lab", origin=URL)
    commit(place)
    git(place, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    assert found(tmp_path / "tree") == Repository(tmp_path / "tree", (URL,))


def test_a_submodule_has_its_own_origin(git_repo: GitRepo, no_program: None) -> None:
    """Inside a submodule its own address counts, beside it that of the surrounding repository."""
    inner, outer = git_repo("inner", origin=None), git_repo("outer", origin=URL)
    commit(inner)
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "part")
    assert found(outer / "part") == Repository(outer / "part", (str(inner),))
    assert found(outer).url == URL


def test_nested_repositories_do_not_share(git_repo: GitRepo, no_program: None) -> None:
    """A repository inside another answers for itself, even when it has no origin."""
    git_repo("lab", origin=URL)
    inner = git_repo("lab/vendor/inner", origin=None)
    assert found(inner) == Repository(inner)


def test_a_directory_outside_has_no_repository(tmp_path: Path, no_program: None) -> None:
    """Nothing above the directory: None, without starting git."""
    assert find_repository(tmp_path) is None


def test_a_repository_without_configuration_has_no_origin(git_repo: GitRepo, no_program: None) -> None:
    """A missing config file is what git takes it for: no setting at all."""
    place = git_repo("lab", origin=URL)
    (place / ".git" / "config").unlink()
    assert found(place).urls == ()


# --- where git is asked ----------------------------------------------------------------------------------------------


def test_a_bare_clone_shares_the_origin(git_repo: GitRepo) -> None:
    """A bare repository has no work tree, but the same address; so has a place inside `.git`."""
    bare, place = git_repo("lab.git", origin=URL, bare=True), git_repo("lab", origin=URL)
    for directory in (bare, bare / "refs", place / ".git", place / ".git" / "hooks"):
        assert found(directory) == Repository(None, (URL,))


def test_an_origin_of_the_person_or_the_machine_is_none(
    git_repo: GitRepo,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """remote.origin.url in a global or system configuration or in the environment gives no repository an origin."""
    (home / ".gitconfig").write_text(f'[remote "origin"]\nurl = {URL}\n')
    (tmp_path / "system").write_text(f'[remote "origin"]\nurl = {URL}\n')
    monkeypatch.delenv("GIT_CONFIG_NOSYSTEM")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(tmp_path / "system"))
    for name, value in {"COUNT": "1", "KEY_0": "remote.origin.url", "VALUE_0": URL}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    place = git_repo("lab", origin=None)
    assert git(place, "config", "--get", "remote.origin.url").strip() == URL
    assert found(place).urls == ()
    git(place, "config", "extensions.worktreeConfig", "true")
    assert found(place).urls == ()
    assert find_repository(tmp_path / "home") is None


def test_instead_of_is_not_applied(git_repo: GitRepo, home: Path) -> None:
    """A person's private spelling of an address does not change the repository's identity."""
    (home / ".gitconfig").write_text('[url "ssh://mirror/"]\ninsteadOf = https://example.org/\n')
    place = git_repo("lab", origin=URL)
    git(place, "config", "url.ssh://other/.insteadOf", "https://example.org/")
    assert git(place, "remote", "get-url", "origin").strip() != URL
    assert found(place).url == URL


def test_includes_and_work_tree_settings_are_followed_as_git_does(git_repo: GitRepo, tmp_path: Path) -> None:
    """An included file and a work tree's own configuration are the repository's; only git can weigh them."""
    included, place = tmp_path / "more", git_repo("lab", origin=None)
    included.write_text(f'[remote "origin"]\nurl = {URL}\n')
    git(place, "config", "include.path", str(included))
    assert found(place) == Repository(place, (URL,))
    git(place, "config", "--unset", "include.path")
    git(place, "config", "includeIf.gitdir:lab/.path", str(included))
    assert found(place) == Repository(place, (URL,))
    other = git_repo("other", origin=None)
    git(other, "config", "extensions.worktreeConfig", "true")
    git(other, "config", "--worktree", "remote.origin.url", URL)
    assert found(other) == Repository(other, (URL,))


def test_variables_of_a_surrounding_hook_are_not_believed(
    git_repo: GitRepo,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Inside a git hook GIT_DIR names another repository than the directory that we are asked about."""
    place, other = git_repo("lab", origin=URL), git_repo("other", origin="https://example.org/ana/other")
    git(place, "config", "extensions.worktreeConfig", "true")
    for name, value in {"GIT_DIR": other / ".git", "GIT_WORK_TREE": other, "GIT_CONFIG": other / ".git/config"}.items():
        monkeypatch.setenv(name, str(value))
    assert found(place) == Repository(place, (URL,))


@pytest.mark.parametrize(
    "damage",
    ["[remote\n", "url = x\n", "[core]\nbare\n", '[remote "origin"]\nurl = "open\n', "\0", "[core]\nbare = maybe\n"],
)
def test_a_damaged_configuration_gives_what_git_gives(git_repo: GitRepo, damage: str) -> None:
    """Where git stops we stop, with a sentence; where it reads on we read the same."""
    place = git_repo("lab", origin=URL)
    (place / ".git" / "config").write_text(damage)
    check = subprocess.run(["git", "-C", str(place), "config", "--local", "--list"], check=False, capture_output=True)
    repository = found(place)
    assert repository.urls == ()
    assert bool(repository.trouble) or check.returncode == 0


def test_an_unusable_git_entry_is_left_to_git(git_repo: GitRepo, tmp_path: Path) -> None:
    """An empty `.git` directory is none (git looks further up), a `.git` file that leads nowhere is a trouble."""
    place = git_repo("lab", origin=URL)
    (place / "sub" / ".git").mkdir(parents=True)
    assert found(place / "sub") == Repository(place, (URL,))
    lost = tmp_path / "lost"
    lost.mkdir()
    for text in ("gitdir: nowhere\n", "nonsense", "gitdir: ", "gitdir: a\0b"):
        (lost / ".git").write_text(text)
        assert found(lost).trouble
    (lost / ".git").unlink()
    (lost / ".git").mkdir()
    assert find_repository(lost) is None
    os.mkfifo(tmp_path / "pipe")
    (lost / ".git").rmdir()
    (lost / ".git").symlink_to(tmp_path / "pipe")
    repository = find_repository(lost)
    assert repository is None or repository.trouble
    (lost / ".git").unlink()
    (lost / ".git").symlink_to(".git")
    assert found(lost).trouble


def test_a_repository_of_another_owner_is_believed_only_when_git_trusts_it(
    git_repo: GitRepo,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """safe.directory decides; without it there is a sentence that names the setting and no origin."""
    place = git_repo("lab", origin=URL)
    run = git_origin._run
    monkeypatch.setattr(git_origin, "_our_id", lambda: -1)
    assert found(place) == Repository(place, (URL,)), "git itself knows the owner"

    def as_stranger(git: str, directory: Path, *words: str) -> tuple[int, bytes, bytes]:
        program = f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {git} "$@"\n'
        wrapper = home / "git"
        wrapper.write_text(program)
        wrapper.chmod(0o755)
        return run(str(wrapper), directory, *words)

    monkeypatch.setattr(git_origin, "_run", as_stranger)
    assert "safe.directory" in found(place).trouble
    assert found(place).urls == ()
    (home / ".gitconfig").write_text(f"[safe]\ndirectory = {place}\n")
    assert found(place) == Repository(place, (URL,))


def test_without_git_program_nothing_is_believed(
    git_repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No git on the path is said; a program in a relative entry of PATH, or one without rights, is not used."""
    place = git_repo("lab", origin=URL)
    (place / "git").write_text("#!/bin/sh\necho evil\n")
    (place / "git").chmod(0o755)
    monkeypatch.chdir(place)
    (tmp_path / "git").write_text("no program")
    for path in ("", ".", f".:{tmp_path}", "::"):
        monkeypatch.setenv("PATH", path)
        assert found(place) == Repository(place, trouble=git_origin.NO_GIT)
    monkeypatch.delenv("PATH")
    found(place)


def test_a_git_that_cannot_run_or_hangs_is_a_trouble(
    git_repo: GitRepo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A broken or sleeping git program never stops the caller: there is a sentence and no origin."""
    place = git_repo("lab", origin=URL)
    git(place, "config", "include.path", "/nowhere")
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr(git_origin, "_TIMEOUT_SECONDS", 0.3)
    config = 'case "$*" in *rev-parse*) echo true;; *) exit 3;; esac'
    for text in ("not a program", "#!/bin/sh\nexec /bin/sleep 5\n", f"#!/bin/sh\n{config}\n"):
        program.write_text(text)
        program.chmod(0o755)
        assert found(place).trouble
        assert found(place).urls == ()


def test_the_search_stops_where_git_stops(git_repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    """GIT_CEILING_DIRECTORIES, and a border of file systems, end the walk upwards."""
    place = git_repo("lab", origin=URL)
    below = place / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(place / "a"))
    assert find_repository(below) is None
    assert found(place / "a").url == URL
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", "")
    real = Path.stat

    def other_disk(path: Path, **options: bool) -> os.stat_result:
        status = real(path, **options)
        return status if path != place else os.stat_result((*status[:2], status.st_dev + 1, *status[3:10]))

    monkeypatch.setattr(Path, "stat", other_disk)
    assert find_repository(below) is None


def test_no_program_that_a_repository_chooses_runs(git_repo: GitRepo, tmp_path: Path) -> None:
    """File-system monitor, pager, hooks and aliases of a hostile configuration stay silent while git is asked."""
    place = git_repo("lab", origin=URL)
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    spy.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "alias.config", "alias.rev-parse"):
        git(place, "config", key, f"!{spy}" if key.startswith("alias") else str(spy))
    git(place, "config", "core.hooksPath", str(tmp_path))
    git(place, "config", "include.path", "/nowhere")
    assert found(place) == Repository(place, (URL,))
    assert not (tmp_path / "ran").exists()


# --- agreement with git over many configurations ---------------------------------------------------------------------

CONFIGS = [
    "",
    '[remote "origin"]\nurl = git@host:a/b\n',
    '[remote "origin"]\n\turl = "git@host:a/b"\n',
    '[remote "origin"]\nurl=git@host:a/b',
    '[remote "origin"] url = git@host:a/b # told by Ana\n',
    '[remote "origin"]\nurl = git@host:a/b;comment\n',
    '[remote "origin"]\nurl = "git@host:a;b#c" ; comment "quote\n',
    '[remote "origin"]\nurl = git@host:\\\na/b\n',
    '[remote "origin"]\nurl = "git@host:\\\na/b"\n',
    '[remote "origin"]\nurl = git@host:a/b \\\n   \n',
    '[remote "origin"]\n# comment \\\nurl = git@host:a/b\n',
    '[remote "origin"]\nurl = x # comment \\\nurl = y\n',
    '[remote "origin"]\nurl = git@"host":a"/"b\n',
    '[remote "origin"]\nurl = "  git@host:a/b  "   \n',
    '[remote "origin"]\nurl = a\\tb\n',
    '[remote "origin"]\nurl = a\tb\n',
    '[remote "origin"]\nurl = a   b\n',
    '[remote "origin"]\nurl = "a\\"b\\\\c"\n',
    '[remote "origin"]\nurl = a\\xb\n',
    '[remote "origin"]\nurl = "a\n',
    '[remote "origin"]\nurl = a\\',
    '[remote "origin"]\nurl = \n',
    '[remote "origin"]\nurl =',
    '[remote "origin"]\nurl\n',
    '[remote "origin"]\nurl # comment\n',
    '[remote "origin"]\nURL = one\nUrl = two\n',
    '[remote "origin"]\nurl = one\nurl = two\nurl =\nurl = three\n',
    '[remote "origin"]\nurl = one\n[core]\nbare = false\n[remote "origin"]\nurl = two\n',
    '[remote "Origin"]\nurl = wrong\n[REMOTE "origin"]\nurl = right\n',
    "[remote.origin]\nurl = dotted\n",
    "[remote.ORIGIN]\nurl = dotted\n",
    "[Remote.Origin]\nurl = dotted\n",
    '[remote "ori\\gin"]\nurl = escaped\n',
    '[remote "origin" ]\nurl = x\n',
    '[remote  \t "origin"]\nurl = x\n',
    '[remote"origin"]\nurl = x\n',
    "[remote 'origin']\nurl = x\n",
    "[remote origin]\nurl = x\n",
    '[remote "upstream"]\nurl = x\n[remote "origin"]\npushurl = y\nfetch = z\n',
    '[remote "origin"]\r\nurl = git@host:a/b\r\n[core]\r\nbare = false\r\n',
    '[remote "origin"]\rurl = git@host:a/b\r',
    '[remote "origin"]\r\nurl = "git@host:\\\r\na/b"\r\n',
    '\ufeff[remote "origin"]\nurl = bom\n',
    '  [remote "origin"]  \n   url   =   x   \n',
    '[remote "origin"]\n-url = x\n',
    '[remote "origin"]\n1url = x\n',
    '[remote "origin"]\nu-rl = x\nur_l = y\n',
    "url = before\n",
    "[]\nurl = x\n",
    '[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\n[remote "origin"]\nurl = x\n',
    '[core]\nrepositoryformatversion = 1\n[extensions]\nunheardOf = true\n[remote "origin"]\nurl = x\n',
    '[core]\nrepositoryformatversion = 9\n[remote "origin"]\nurl = x\n',
    '[include]\npath = more\n[remote "origin"]\nurl = after\n',
    '[remote "origin"]\nurl = before\n[include]\npath = more\n',
    "[INCLUDE]\nPATH = more\n",
    '[includeIf "gitdir:**"]\npath = more\n',
    '[includeIf "onbranch:main"]\npath = more\n',
    '[includeIf "hasconfig:remote.*.url:https://**"]\npath = quiet\n[remote "origin"]\nurl = https://host/a\n',
    '[include]\npath = missing\n[remote "origin"]\nurl = x\n',
    '[remote "origin"]\nurl = https://user:secret@host/a\n',
    '[remote "origin"]\nurl = müll/ü\n',
    '[remote "origin"]\nurl = ' + "x" * 5000 + "\n",
    '[branch "a]b"]\nremote = origin\n[remote "origin"]\nurl = x\n',
    '[alias]\nl = "!f() { git log; }; f" # [remote "origin"]\n[remote "origin"]\nurl = x\n',
    '[alias]\nl = a \\\n[remote "origin"] \\\nurl = trap\n',
    '[core]\nworktree = ..\n[remote "origin"]\nurl = x\n',
    '[core]\nbare = true\n[remote "origin"]\nurl = x\n',
]


def gits_answer(place: Path) -> tuple[str, ...] | None:
    """Return the origins that git reads from a repository's own configuration, None where it refuses."""
    words = ["git", "-C", str(place), "config", "--show-scope", "-z", "--get-all", "remote.origin.url"]
    check = subprocess.run(["git", "-C", str(place), "rev-parse", "--git-dir"], check=False, capture_output=True)
    done = subprocess.run(words, check=False, capture_output=True)
    if check.returncode or done.returncode not in {0, 1}:
        return None
    fields = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return effective_urls(tuple(fields[1::2])) if done.returncode == 0 else ()


def ours(place: Path) -> tuple[str, ...] | None:
    """Return our own answer in the same form."""
    repository = found(place)
    return None if repository.trouble else repository.urls


@pytest.mark.parametrize("text", CONFIGS)
def test_we_agree_with_git(text: str, git_repo: GitRepo) -> None:
    """For each hand-made configuration our answer is the one that git gives, refusal included."""
    place = git_repo("lab", origin=None)
    (place / ".git" / "more").write_text('[remote "origin"]\nurl = included\n')
    (place / ".git" / "quiet").write_text("[user]\nname = Ana\n")
    (place / ".git" / "config").write_bytes(text.encode())
    assert ours(place) == gits_answer(place)


@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8"])
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati"])
def test_locale_and_time_zone_do_not_matter(
    locale: str,
    zone: str,
    git_repo: GitRepo,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Git's messages are read in one language, and bytes that are no text stay what they are."""
    monkeypatch.setenv("LC_ALL", locale)
    monkeypatch.setenv("LANGUAGE", "de")
    monkeypatch.setenv("TZ", zone)
    place = git_repo("müll", origin=None)
    (place / ".git" / "config").write_bytes(b'[remote "origin"]\nurl = m\xfcll/\xc3\xbc\n[include]\npath = nowhere\n')
    assert found(place) == Repository(place, ("m\udcfcll/ü",))
    assert find_repository(place.parent) is None


PIECE = st.sampled_from(
    [
        "[remote",
        ' "origin"]',
        '"ori\\gin"]',
        "[core]",
        "[remote.origin]",
        "url",
        "bare",
        " = ",
        "=",
        "\n",
        "\r\n",
        "\\\n",
        "\\",
        '"',
        " ",
        "\t",
        "#",
        ";",
        "x",
        "a b",
        "\\n",
        "\\t",
        '\\"',
        "]",
        "[",
        ".",
        '[remote "origin"]\n',
        "url = ",
    ],
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(PIECE, max_size=14))
@example(pieces=['[remote "origin"]\n', "url = ", "a b", "\t", "#", '"', "\n"])
def test_we_agree_with_git_on_made_up_configurations(pieces: list[str], git_repo: GitRepo, tmp_path: Path) -> None:
    """Whatever can be put together from the parts of a configuration, git and we read the same."""
    place = tmp_path / "lab"
    if not place.exists():
        git_repo("lab", origin=None)
    (place / ".git" / "config").write_bytes("".join(pieces).encode())
    assert ours(place) == gits_answer(place)


def test_the_reader_of_configurations_is_linear() -> None:
    """A megabyte of any shape is read, or refused, at once."""
    for piece in ("[a]\n", "a=b\n", '[a "b"]', "# x\n", "\\\n", '"', " ", "[", "a"):
        data = b"[core]\nx = " + piece.encode() * (1_000_000 // len(piece))
        try:
            read_config(data)
        except NotPlainError:
            continue
