from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_magic.errors import FileStateError, MemoryMagicError, ScopeError, StoreAccessError
from memory_magic.store.project_file import clean_label, parse_toml, quoted
from memory_magic.store.scope import (
    Resolution,
    ScopeFile,
    canonical_origin,
    check_scope_name,
    init,
    read_scope_file,
    resolve,
    safe_directory,
    workspace_id,
    write_scope_file,
)
from memory_magic.store.scope_file import alias_id

GitRepo = Callable[..., Path]
URL = "https://Ana:t0ken@Example.org/ana/Lab.git"
CANONICAL = "example.org/ana/Lab"
SCOPE = f"workspace/{hashlib.sha256(CANONICAL.encode()).hexdigest()}"
# built so that no scanner takes this file for a leak
TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"


def sha(text: str) -> str:
    """Return the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def denied(resolution: Resolution) -> str:
    """Return the notice of a resolution after making sure that it gives global memory only."""
    assert [scope.id for scope in resolution.scopes] == ["global"]
    assert resolution.workspace is None
    assert resolution.writes_to.id == "global"
    assert resolution.notice.startswith("Only global memory is used here: ")
    assert resolution.notice.count("\n") == 0
    return resolution.notice


def seen(resolution: Resolution) -> list[str]:
    """Return the ids of the scopes, global first."""
    assert resolution.scopes[0].id == "global"
    assert resolution.workspace is not None
    assert resolution.notice == ""
    assert resolution.writes_to == resolution.workspace
    return [scope.id for scope in resolution.scopes[1:]]


def project_file(folder: Path, text: str) -> Path:
    """Write a `.memory-magic.toml`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".memory-magic.toml").write_text(text)
    return folder


# --- which scopes a directory sees -----------------------------------------------------------------------------------


def test_a_repository_with_an_origin_is_a_workspace(git_repo: GitRepo, root: Path) -> None:
    """The scope is named by the canonical origin, shown without credentials, and nothing is written by looking."""
    place = git_repo("lab", origin=URL)
    (place / "deep").mkdir()
    resolution = resolve(place / "deep", root)
    assert seen(resolution) == [SCOPE]
    workspace = resolution.writes_to
    assert (workspace.path, workspace.label, workspace.origin) == (root / SCOPE, "Lab", CANONICAL)
    assert resolution.project == place
    assert not resolution.memory_off
    assert "t0ken" not in repr(resolution)
    assert not root.exists()


def test_clones_by_https_and_ssh_share_one_workspace(git_repo: GitRepo, tmp_path: Path, root: Path) -> None:
    """Clone, work tree, bare clone and each spelling of the address lead to one scope; another address to another."""
    places = [
        git_repo("one", origin=URL),
        git_repo("two", origin="git@example.org:ana/Lab"),
        git_repo("three.git", origin="ssh://git@example.org:22/ana/Lab.git", bare=True),
    ]
    subprocess.run(["git", "-C", str(places[0]), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run(["git", "-C", str(places[0]), "worktree", "add", "-q", str(tmp_path / "tree")], check=True)
    for place in (*places, tmp_path / "tree"):
        assert seen(resolve(place, root)) == [SCOPE]
    other = git_repo("other", origin="git@example.org:ana/lab")
    assert seen(resolve(other, root)) == [f"workspace/{sha('example.org/ana/lab')}"]


def test_a_link_to_a_directory_sees_what_the_directory_sees(git_repo: GitRepo, tmp_path: Path, root: Path) -> None:
    """The real path decides, as it does for git."""
    place = git_repo("lab", origin=URL)
    (tmp_path / "link").symlink_to(place)
    assert resolve(tmp_path / "link", root) == resolve(place, root)


def test_a_submodule_keeps_its_own_memory(git_repo: GitRepo, root: Path) -> None:
    """Neither the surrounding repository's origin nor its project file reaches into a submodule with an origin."""
    inner, outer = git_repo("inner", origin=None), git_repo("outer", origin=URL)
    subprocess.run(["git", "-C", str(inner), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    words = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "part"]
    subprocess.run(["git", "-C", str(outer), *words], check=True)
    project_file(outer, 'id = "outer"\n')
    assert seen(resolve(outer / "part", root)) == [f"workspace/{sha(str(inner))}"]
    assert resolve(outer / "part", root).project == outer / "part"
    assert seen(resolve(outer, root)) == [f"workspace/{sha('outer')}"]


@pytest.mark.parametrize("origin", [None, ".", "../lab", "ext::sh -c evil", "user:pass@host:a/b"])
def test_no_usable_origin_means_global_only(origin: str | None, git_repo: GitRepo, root: Path) -> None:
    """A repository without origin, or with an address that names no fixed place, sees global memory and is told why."""
    place = git_repo("lab", origin=origin)
    notice = denied(resolve(place, root))
    assert "origin" in notice
    assert "%memory init NAME" in notice
    assert "pass" not in notice
    assert resolve(place, root).project == place


def test_outside_of_git_means_global_only(tmp_path: Path, root: Path) -> None:
    """A scratch directory sees global memory, and is its own project."""
    place = tmp_path / "scratch"
    place.mkdir()
    assert "no git repository" in denied(resolve(place, root))
    assert resolve(place, root).project == place


def test_without_the_git_program_means_global_only(
    git_repo: GitRepo,
    tmp_path: Path,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine without git is told so in each repository; a project file works there as well."""
    place = git_repo("lab", origin=URL)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "git program was not found" in denied(resolve(place, root))
    project_file(place, 'id = "abc"\n')
    assert seen(resolve(place, root)) == [f"workspace/{sha('abc')}"]


@pytest.mark.parametrize("name", ["gone", "gone/deeper", "file", "bad\0name", "x" * 5000])
def test_a_directory_that_is_not_there_means_global_only(name: str, tmp_path: Path, root: Path) -> None:
    """The recorded directory of an old session may be gone, a file, or no path at all: no error, no project."""
    (tmp_path / "file").write_text("text")
    resolution = resolve(tmp_path / name, root)
    denied(resolution)
    assert resolution.project is None


def test_two_repositories_see_nothing_of_each_other(git_repo: GitRepo, root: Path) -> None:
    """Scopes, notice and labels of one repository never name the other, also when both have memory."""
    places = [git_repo(name) for name in ("alpha", "beta")]
    for place in places:
        write_scope_file(resolve(place, root).writes_to.path, ScopeFile(place.name, f"example.org/ana/{place.name}"))
    assert "beta" not in repr(resolve(places[0], root)).replace(str(places[1].parent), "")
    assert "alpha" not in repr(resolve(places[1], root)).replace(str(places[0].parent), "")


# --- project files ---------------------------------------------------------------------------------------------------


def test_init_makes_a_folder_a_workspace(tmp_path: Path, root: Path) -> None:
    """Label and a random id of 128 bits are written; the identity is the hash of the id, also in subdirectories."""
    place = tmp_path / "study"
    (place / "notebooks").mkdir(parents=True)
    path = init(place, "  My\x1b[31m \x00st\u202eudy\n2 ")
    content = tomllib.loads(path.read_text())
    assert path == place / ".memory-magic.toml"
    assert content["label"] == "My study 2"
    assert len(bytes.fromhex(content["id"])) == 16
    resolution = resolve(place / "notebooks", root)
    assert seen(resolution) == [f"workspace/{sha(content['id'])}"]
    assert resolution.writes_to.label == "My study 2"
    assert resolution.project == place
    assert init(project_file(tmp_path / "b", "").parent, "x").exists()


def test_two_folders_of_one_name_are_two_workspaces(tmp_path: Path, root: Path) -> None:
    """The name is no identity: a second folder with the same label gets another id."""
    ids = set()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        init(tmp_path / name, "same")
        ids.update(seen(resolve(tmp_path / name, root)))
    assert len(ids) == 2


def test_init_refuses_what_is_no_project(tmp_path: Path, home: Path) -> None:
    """Home, the top of the file system, a missing folder, an empty name and an existing file are friendly errors."""
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / ".memory-magic.toml").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "link").symlink_to(home)
    for place, label in [(home, "x"), (Path("/"), "x"), (tmp_path / "link", "x"), (tmp_path / "gone", "x")]:
        with pytest.raises(ScopeError):
            init(place, label)
    for place, label in [(tmp_path, " \n\u200b"), (tmp_path / "taken", "x")]:
        with pytest.raises(ScopeError):
            init(place, label)
    assert sorted(path.name for path in (tmp_path / "taken").iterdir()) == [".memory-magic.toml"]
    assert not (tmp_path / "elsewhere").exists()


def test_init_never_overwrites_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """A second init is refused with advice, and the first file stays byte for byte."""
    (tmp_path / "p").mkdir()
    path = init(tmp_path / "p", "first")
    before = path.read_bytes()
    with pytest.raises(ScopeError, match="already") as caught:
        init(tmp_path / "p", "second")
    assert "editor" in str(caught.value)
    assert path.read_bytes() == before
    assert list((tmp_path / "p").iterdir()) == [path]


def test_init_reports_a_disk_that_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be written is a `StoreAccessError` that names the file."""
    (tmp_path / "p").mkdir()

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(StoreAccessError, match=r"memory-magic\.toml"):
        init(tmp_path / "p", "x")


def test_a_label_with_a_secret_is_redacted(tmp_path: Path) -> None:
    """What a person types as a name passes redaction before it reaches the disk."""
    (tmp_path / "p").mkdir()
    text = init(tmp_path / "p", f"lab {TOKEN}").read_text()
    assert TOKEN not in text
    assert "[REDACTED_SECRET]" in text


def test_an_id_wins_over_an_origin(git_repo: GitRepo, root: Path) -> None:
    """Inside a repository the nearest project file with an id decides, from the subdirectory up to the top."""
    place = git_repo("lab", origin=URL)
    (place / "free").mkdir()
    project_file(place / "part", 'id = "part"\n')
    project_file(place / "part" / "quiet", 'memory = "off"\n')
    assert seen(resolve(place / "free", root)) == [SCOPE]
    assert seen(resolve(place / "part", root)) == [f"workspace/{sha('part')}"]
    assert seen(resolve(place / "part" / "quiet", root)) == [f"workspace/{sha('part')}"]
    assert resolve(place / "part" / "quiet", root).memory_off
    assert resolve(place / "part", root).project == place


def test_a_project_file_above_a_repository_counts_only_without_an_origin(git_repo: GitRepo, root: Path) -> None:
    """A folder of clones can be one workspace for what has no origin; a clone with an origin keeps its own memory."""
    clone, local = git_repo("shelf/clone", origin=URL), git_repo("shelf/local", origin=None)
    shelf = project_file(clone.parent, 'id = "shelf"\n')
    assert seen(resolve(clone, root)) == [SCOPE]
    assert seen(resolve(local, root)) == seen(resolve(shelf, root)) == [f"workspace/{sha('shelf')}"]
    unclear = git_repo("shelf/unclear", origin="../x")
    denied(resolve(unclear, root))


def test_memory_off_names_no_workspace(git_repo: GitRepo, tmp_path: Path, root: Path) -> None:
    """A file with only `memory = "off"` asks for silence in everything below it and leaves the identity alone."""
    place = project_file(git_repo("lab", origin=URL), 'memory = "off"\n')
    assert seen(resolve(place, root)) == [SCOPE]
    assert resolve(place, root).memory_off
    other = project_file(tmp_path / "plain", 'memory = "off"\n')
    (other / "sub").mkdir()
    denied(resolve(other, root))
    assert resolve(other / "sub", root).memory_off
    assert resolve(other / "sub", root).project == other
    assert not resolve(project_file(tmp_path / "on", 'memory = "on"\n'), root).memory_off


@pytest.mark.parametrize(
    "text",
    [
        "id = ",
        "id = 3",
        'id = ""',
        'id = "example.org/ana/Lab"',
        'id = "../x"',
        'id = "a b"',
        'id = "a\\u0000"',
        f'id = "{"a" * 201}"',
        'id = "a"\nid = "b"',
        'memory = "perhaps"',
        "memory = [1]",
        "id = [" + "[" * 5000,
        "\x00",
        "#" * 70_000,
    ],
)
def test_a_malformed_project_file_denies_the_workspace(text: str, git_repo: GitRepo, root: Path) -> None:
    """What cannot be understood may have named another workspace or asked for silence: global only, with the reason."""
    place = project_file(git_repo("lab", origin=URL), text)
    assert ".memory-magic.toml" in denied(resolve(place, root))


def test_a_project_file_that_is_no_text_file_denies_the_workspace(git_repo: GitRepo, root: Path) -> None:
    """A directory, a pipe, bytes that are no UTF-8, or a link in a circle: no error, no waiting, no workspace."""
    place = git_repo("lab", origin=URL)
    path = place / ".memory-magic.toml"
    for make in (path.mkdir, lambda: os.mkfifo(path), lambda: path.symlink_to(path), lambda: path.write_bytes(b"\xff")):
        make()
        denied(resolve(place, root))
        assert resolve(place, root).memory_off
        path.rmdir() if path.is_dir() else path.unlink()
    path.symlink_to("nowhere")
    assert seen(resolve(place, root)) == [SCOPE]


def test_an_error_about_a_project_file_never_quotes_it() -> None:
    """A secret in a broken file stays in the file: only the place is said."""
    _, fault = parse_toml(f'"{TOKEN}" = 1\n"{TOKEN}" = 2\n'.encode())
    assert fault
    assert TOKEN not in fault
    assert parse_toml("\ufefflabel = 'x'".encode()) == ({"label": "x"}, "")


def test_home_and_top_are_never_a_project(git_repo: GitRepo, home: Path, root: Path) -> None:
    """A project file in the home directory names nothing, and the home is no project even as a git work tree."""
    project_file(home, 'id = "home"\nmemory = "off"\n')
    (home / "scratch").mkdir()
    denied(resolve(home, root))
    denied(resolve(home / "scratch", root))
    assert resolve(home / "scratch", root).memory_off
    assert resolve(home, root).project is None
    assert resolve(home / "scratch", root).project == home / "scratch"
    assert resolve(Path("/"), root).project is None
    git_repo("home", origin=URL)
    assert seen(resolve(home / "scratch", root)) == [SCOPE]
    assert resolve(home / "scratch", root).project == home / "scratch"


# --- directories of one repository -----------------------------------------------------------------------------------


def test_the_directory_that_codewhale_made_is_the_scope(git_repo: GitRepo, root: Path) -> None:
    """Only `workspace/<sha256 of the address as written>` exists: it is read and written; with both, both are read."""
    place, raw = git_repo("lab", origin=URL), f"workspace/{sha(URL)}"
    (root / raw).mkdir(parents=True)
    resolution = resolve(place, root)
    assert seen(resolution) == [raw]
    assert resolution.writes_to.origin == CANONICAL
    (root / SCOPE).mkdir()
    resolution = resolve(place, root)
    assert seen(resolution) == [SCOPE, raw]
    assert resolution.writes_to.id == SCOPE


def test_of_several_addresses_the_first_counts_as_for_fetch(git_repo: GitRepo, root: Path) -> None:
    """A second url is a place to push to: it changes no identity, but CodeWhale named its directory by the last one."""
    place = git_repo("lab", origin=URL)
    mirror = "git@mirror.example:lab"
    subprocess.run(["git", "-C", str(place), "remote", "set-url", "--add", "origin", mirror], check=True)
    assert seen(resolve(place, root)) == [SCOPE]
    (root / "workspace" / sha(mirror)).mkdir(parents=True)
    assert seen(resolve(place, root)) == [f"workspace/{sha(mirror)}"]


@pytest.mark.parametrize(
    "alias",
    ["example.org/ana/Lab", "git@EXAMPLE.org:ana/Lab.git", " https://example.org/ana/L%61b ", SCOPE[10:]],
)
def test_an_alias_leads_to_the_workspace_that_lists_it(alias: str, git_repo: GitRepo, root: Path) -> None:
    """A renamed repository keeps its memory: the listing directory is the scope, or is read beside the new one."""
    place, old = git_repo("lab", origin=URL), f"workspace/{sha('example.org/ana/old')}"
    (root / old).mkdir(parents=True)
    (root / old / "scope.toml").write_text(f'label = "Old lab"\naliases = ["x", {quoted(alias)}]\n')
    resolution = resolve(place, root)
    assert seen(resolution) == [old]
    assert resolution.writes_to.label == "Old lab"
    (root / SCOPE).mkdir()
    assert seen(resolve(place, root)) == [SCOPE, old]


def test_aliases_of_others_and_damaged_files_change_nothing(git_repo: GitRepo, root: Path) -> None:
    """A workspace that lists another address, a damaged scope.toml, and a foreign folder are not read."""
    place = git_repo("lab", origin=URL)
    texts = [
        'aliases = ["example.org/ana/Labs"]',
        'aliases = "example.org/ana/Lab"',
        'aliases = ["example.org/ana/Lab',
        "",
    ]
    for number, text in enumerate(texts):
        (root / "workspace" / sha(str(number))).mkdir(parents=True)
        (root / "workspace" / sha(str(number)) / "scope.toml").write_text(text)
    (root / "workspace" / "backup").mkdir()
    (root / "workspace" / "backup" / "scope.toml").write_text('aliases = ["example.org/ana/Lab"]')
    (root / "workspace" / sha("5")).mkdir()
    assert seen(resolve(place, root)) == [SCOPE]


def test_a_project_file_may_be_an_alias_too(tmp_path: Path, root: Path) -> None:
    """After `init` in a repository the old workspace can list the new id and stays the scope."""
    place = project_file(tmp_path / "lab", 'id = "abc"\n')
    write_scope_file(root / SCOPE, ScopeFile("Lab", CANONICAL, (workspace_id("abc"),)))
    assert seen(resolve(place, root)) == [SCOPE]


def test_an_alias_with_a_toml_escape_is_found(git_repo: GitRepo, root: Path) -> None:
    """The quick look at the bytes does not miss an alias that a person wrote with an escape."""
    place, old = git_repo("lab", origin=URL), f"workspace/{sha('old')}"
    (root / old).mkdir(parents=True)
    (root / old / "scope.toml").write_text('aliases = ["example.org/ana/\\u004cab"]\n')
    assert seen(resolve(place, root)) == [old]


def test_an_alias_means_the_same_id_in_each_spelling() -> None:
    """Address, canonical origin and hex id are told apart by their form."""
    assert {alias_id(text) for text in (CANONICAL, "git@example.org:ana/Lab", sha(CANONICAL))} == {sha(CANONICAL)}


# --- links -----------------------------------------------------------------------------------------------------------


def test_a_scope_directory_that_leads_outside_is_refused(git_repo: GitRepo, tmp_path: Path, root: Path) -> None:
    """A linked workspace directory denies the workspace, a linked global directory is an error; both name the place."""
    place, outside = git_repo("lab", origin=URL), tmp_path / "outside"
    outside.mkdir()
    (root / "workspace").mkdir(parents=True)
    (root / SCOPE).symlink_to(outside)
    assert SCOPE in denied(resolve(place, root))
    with pytest.raises(FileStateError, match="outside"):
        safe_directory(root, SCOPE)
    (root / SCOPE).unlink()
    (root / "workspace" / sha(URL)).symlink_to(outside)
    denied(resolve(place, root))
    (root / "workspace" / sha(URL)).unlink()
    (root / "workspace").rmdir()
    (root / "workspace").symlink_to(outside)
    denied(resolve(place, root))
    (root / "global").symlink_to(outside)
    with pytest.raises(FileStateError, match="outside"):
        resolve(place, root)


def test_links_that_stay_inside_and_linked_files_are_fine(git_repo: GitRepo, tmp_path: Path, root: Path) -> None:
    """The root itself, MEMORY.md, and a link from one workspace to another may be links (dotfile managers)."""
    real = tmp_path / "dotfiles" / "memory"
    (real / "global").mkdir(parents=True)
    (real / "workspace" / sha("x")).mkdir(parents=True)
    (real / SCOPE).symlink_to(real / "workspace" / sha("x"))
    (tmp_path / "notes.md").write_text("- note\n")
    (real / "global" / "MEMORY.md").symlink_to(tmp_path / "notes.md")
    root.symlink_to(real)
    assert seen(resolve(git_repo("lab", origin=URL), root)) == [SCOPE]
    assert safe_directory(root, "global") == root / "global"


def test_a_file_in_the_place_of_a_scope_is_refused(root: Path) -> None:
    """Something that is no directory is said before anybody writes into it."""
    root.mkdir()
    for make in (root / "global").write_text, (root / "global").symlink_to:
        make("nothing")
        with pytest.raises(FileStateError, match="something else"):
            safe_directory(root, "global")
        (root / "global").unlink()


# --- names from outside ----------------------------------------------------------------------------------------------

BAD_NAMES = [
    "",
    "x",
    "Global",
    "GLOBAL ",
    " global",
    "global\n",
    "global/",
    "global/..",
    "../x",
    "..",
    ".",
    "%2e%2e%2f",
    "%2e%2e%2fglobal",
    "workspace%2f" + "a" * 64,
    "/",
    "/etc/passwd",
    "workspace/",
    "workspace/../global",
    "workspace/" + "a" * 63,
    "workspace/" + "a" * 65,
    "workspace/" + "A" * 64,
    "workspace/" + "g" * 64,
    "workspace/" + "a" * 64 + "\n",
    "workspace/" + "a" * 64 + "/x",
    "workspace//" + "a" * 64,
    "workspace\\" + "a" * 64,
    "workspace/" + "٣" * 64,
    "workspace/" + "\uff41" * 64,
    "workspаce",
    "ɡlobal",
    "global\0",
    "a\0b",
    "~",
    "unscoped/" + "a" * 16,
    "x" * 100_000,
    "\udc80",
]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_from_outside_never_becomes_a_path(name: str, root: Path) -> None:
    """Everything but the known names is a `ScopeError` that says what exists."""
    for call in (check_scope_name, lambda name: safe_directory(root, name)):
        with pytest.raises(ScopeError) as caught:
            call(name)
        text = str(caught.value)
        assert "global, workspace, all" in text
        assert len(text) < 300
        assert text.isprintable()


def test_known_names_pass() -> None:
    """The four forms of a scope's name are returned as they are; `workspace` and `all` are no directories."""
    for name in ("global", "workspace", "all", "workspace/" + "0123456789abcdef" * 4):
        assert check_scope_name(name) == name
    for name in ("workspace", "all"):
        with pytest.raises(ScopeError):
            safe_directory(Path("/nowhere"), name)


def test_an_error_about_a_name_repeats_no_secret() -> None:
    """A secret that was typed in the wrong place is not echoed."""
    with pytest.raises(ScopeError) as caught:
        check_scope_name(f"x {TOKEN}")
    assert TOKEN[:12] not in str(caught.value)


@given(st.text(max_size=80))
def test_no_text_is_taken_for_a_scope_by_accident(name: str) -> None:
    """Only exact names pass."""
    try:
        check_scope_name(name)
    except MemoryMagicError:
        return
    assert name in {"global", "workspace", "all"} or name.startswith("workspace/")


# --- scope.toml ------------------------------------------------------------------------------------------------------


def test_scope_file_round_trip(root: Path) -> None:
    """What is written is read back, and the file is readable TOML."""
    content = ScopeFile('Ana\'s "lab" \\ ü', CANONICAL, ("example.org/ana/old", sha("x")), "2026-11-30T18:35:00Z")
    path = write_scope_file(root / SCOPE, content)
    assert read_scope_file(root / SCOPE) == (content, "")
    assert tomllib.loads(path.read_text())["label"] == content.label
    write_scope_file(root / SCOPE, ScopeFile())
    assert read_scope_file(root / SCOPE) == (ScopeFile(), "")
    assert read_scope_file(root / "workspace" / sha("none")) == (None, "")
    assert [entry.name for entry in (root / SCOPE).iterdir()] == ["scope.toml"]


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o777])
def test_scope_file_is_private_whatever_the_umask(mask: int, root: Path) -> None:
    """Files are 0600, directories 0700."""
    before = os.umask(mask)
    try:
        path = write_scope_file(root / SCOPE, ScopeFile("x"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for folder in (path.parent, path.parent.parent, root):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_scope_file_never_holds_credentials_or_secrets(root: Path) -> None:
    """Addresses are written in canonical form, everything else passes redaction, on one line."""
    aliases = ("https://ana:pa55w@host/x", "ana:pa55w@host:y", "https://ana:pa55w/@host", f"host/{TOKEN}")
    path = write_scope_file(root / SCOPE, ScopeFile(f"a\n{TOKEN}", URL, aliases, "now\n# x"))
    text = path.read_text()
    for secret in ("pa55w", "t0ken", TOKEN):
        assert secret not in text
    assert tomllib.loads(text)["origin"] == CANONICAL
    assert tomllib.loads(text)["aliases"][0] == "host/x"


@pytest.mark.parametrize(
    "text",
    [
        "label = ",
        "label = 3",
        "origin = []",
        'aliases = "x"',
        "aliases = [1]",
        "x = [" + "[" * 5000,
        "\xff",
        "#" * (2 << 20),
    ],
)
def test_a_damaged_scope_file_counts_as_absent(text: str, git_repo: GitRepo, root: Path) -> None:
    """Its fault is told in words for doctor; the scope works on."""
    place = git_repo("lab", origin=URL)
    (root / SCOPE).mkdir(parents=True)
    (root / SCOPE / "scope.toml").write_bytes(text.encode("latin-1"))
    content, finding = read_scope_file(root / SCOPE)
    assert content is None
    assert "scope.toml" in finding
    assert seen(resolve(place, root)) == [SCOPE]


def test_a_hand_edited_scope_file_is_read_with_care(root: Path) -> None:
    """A password in the origin, control characters in the label, a TOML date and unknown keys do no harm."""
    (root / SCOPE).mkdir(parents=True)
    text = f'label = "a\\u001b[31mb\\n"\norigin = "{URL}"\ncreated = 2026-11-30T18:35:00Z\nmore = 1\n'
    (root / SCOPE / "scope.toml").write_text(text)
    content, finding = read_scope_file(root / SCOPE)
    assert finding == ""
    assert content == ScopeFile("ab", CANONICAL, (), "2026-11-30T18:35:00+00:00")
    (root / SCOPE / "scope.toml").write_text('origin = "ana:pa55w@host:x"\n')
    content, _ = read_scope_file(root / SCOPE)
    assert content == ScopeFile()


def test_a_disk_that_refuses_is_said(root: Path, tmp_path: Path) -> None:
    """A file where a directory should be made is a `StoreAccessError`, no traceback of the system."""
    root.write_text("a file")
    with pytest.raises(StoreAccessError):
        write_scope_file(root / SCOPE, ScopeFile("x"))


@given(st.text(max_size=40))
def test_any_text_survives_as_a_toml_string(text: str) -> None:
    """The small writer escapes whatever TOML does not allow inside quotes; lone surrogates become a question mark."""
    expected = text.encode("utf-8", "replace").decode()
    assert tomllib.loads(f"x = {quoted(text)}") == {"x": expected}


@given(st.text(max_size=200))
def test_a_label_is_one_clean_line(text: str) -> None:
    """At most 80 characters, no blanks at the ends, no line break."""
    label = clean_label(text)
    assert len(label) <= 80
    assert label == label.strip()
    assert "\n" not in label
    assert "\x1b" not in label


# --- the process -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}, {"TZ": "Pacific/Kiritimati"}]
)
def test_locale_and_time_zone_change_no_identity(variables: dict[str, str], git_repo: GitRepo, root: Path) -> None:
    """A repository in a folder with an accent has one scope under each locale."""
    place = git_repo("müll", origin="https://example.org/ana/müll.git")
    code = "import sys; from pathlib import Path; from memory_magic.store.scope import resolve; "
    code += "print(resolve(Path(sys.argv[1]), Path(sys.argv[2])).writes_to.id)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(place), str(root)],
        check=True,
        capture_output=True,
        env={**os.environ, **variables},
    )
    expected = canonical_origin("https://example.org/ana/müll.git")
    assert expected == "example.org/ana/müll"
    assert done.stdout.decode().strip() == f"workspace/{sha(expected)}"


def test_finding_a_scope_starts_no_process_and_loads_little(git_repo: GitRepo, root: Path) -> None:
    """The path of a hook: in a plain repository no subprocess module, never a third-party package."""
    place = git_repo("lab", origin=URL)
    code = "import sys; before = set(sys.modules); from pathlib import Path; "
    code += "from memory_magic.store.scope import resolve; "
    code += "resolve(Path(sys.argv[1]), Path(sys.argv[2])); print(*(set(sys.modules) - before))"
    words = [sys.executable, "-c", code, str(place), str(root)]
    loaded = set(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split())
    assert "memory_magic.store.scope" in loaded
    heavy = {"subprocess", "asyncio", "email", "http", "shutil", "tempfile", "filelock", "msgspec"}
    assert not loaded & heavy
