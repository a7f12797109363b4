"""The project around the package: where it comes from, what is shipped, what is locked, what the papers promise."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import memory_magic

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCKS = ("requirements.lock", "requirements-dev.lock")
# what `import memory_magic` and `%load_ext memory_magic` must leave alone (DESIGN 2)
HEAVY = {
    *("pandas", "numpy", "panel", "panel_material_ui", "bokeh", "ipywidgets", "jinja2", "tqdm", "snowballstemmer"),
    *("filelock", "msgspec", "watchfiles", "nh3", "pydantic", "pydantic_ai", "openai", "anthropic", "mcp", "httpx"),
}
_LOCKED = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)(\[[^\]]*\])?==(?P<version>[^ ;\\]+)(?P<rest>[^\n]*(\n +[^\n]+)*)", re.MULTILINE
)


def test_package_comes_from_site_packages(tree: Path) -> None:
    """The wheel run tests the installed wheel; every other run tests the tree."""
    place = Path(memory_magic.__file__).resolve()
    if "TEST_WHEEL" in os.environ:
        assert "site-packages" in place.parts
        assert not place.is_relative_to(tree / "memory_magic")
    else:
        assert place == tree / "memory_magic" / "__init__.py"


# ---------------------------------------------------------------- what is shipped


@pytest.fixture(scope="session")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the wheel under test, or build one from a copy of the tree."""
    given = os.environ.get("TEST_WHEEL")
    if given:
        return Path(given)
    place = tmp_path_factory.mktemp("wheel")
    copy = place / "copy"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (copy / name).write_bytes((tree / name).read_bytes())
    for source in _shipped_sources(tree):
        target = copy / source.relative_to(tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(place), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(place.glob("*.whl"))


def _shipped_sources(tree: Path) -> Iterator[Path]:
    """Walk the files of both packages, leaving out what Python and editors leave behind."""
    for package in (tree / "memory_magic", tree / "dashboard" / "memory_dashboard"):
        for path in sorted(package.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("."):
                yield path


def test_wheel_holds_exactly_the_files_of_the_tree(tree: Path, wheel: Path) -> None:
    """No module, template or manifest is forgotten, and nothing else (no test, no data) is shipped."""
    names = {str(path.relative_to(tree)).removeprefix("dashboard/") for path in _shipped_sources(tree)}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == names
    assert {"memory_magic/py.typed", "memory_dashboard/py.typed"} <= packed


def test_wheel_carries_license_readme_and_console_script(wheel: Path, tree: Path) -> None:
    """Who gets only the wheel still gets the licence, the description and the command."""
    with zipfile.ZipFile(wheel) as archive:
        folder = next(name.split("/")[0] for name in archive.namelist() if ".dist-info/" in name)
        license_text = archive.read(f"{folder}/licenses/LICENSE")
        metadata = archive.read(f"{folder}/METADATA").decode()
        scripts = archive.read(f"{folder}/entry_points.txt").decode()
    assert license_text == (tree / "LICENSE").read_bytes()
    assert "License-Expression: Apache-2.0" in metadata
    assert "%load_ext memory_magic" in metadata
    assert "memory-magic = memory_magic.cli:main" in scripts


def test_license_is_the_unchanged_apache_text(tree: Path) -> None:
    """The licence is Apache 2.0, whole."""
    text = (tree / "LICENSE").read_text(encoding="utf-8")
    assert text.split()[:5] == ["Apache", "License", "Version", "2.0,", "January"]
    assert text.rstrip().endswith("limitations under the License.")
    assert all(f"\n   {number}. " in text for number in range(1, 10))


def test_tests_are_no_package(tree: Path) -> None:
    """Without `__init__.py` the tests import the installed wheel, never the tree beside them."""
    assert not list((tree / "tests").rglob("__init__.py"))


# ---------------------------------------------------------------- what is locked


def _locked(tree: Path, lock: str) -> dict[str, list[re.Match[str]]]:
    """Read a lock: for each package its entries (one for each range of Python versions)."""
    entries: dict[str, list[re.Match[str]]] = {}
    for match in _LOCKED.finditer((tree / lock).read_text(encoding="utf-8")):
        entries.setdefault(canonicalize_name(match["name"]), []).append(match)
    return entries


def _project(tree: Path) -> dict[str, Any]:
    """Read the [project] table."""
    table: dict[str, Any] = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_name_no_address(tree: Path, lock: str) -> None:
    """A lock works with whatever package index its user has: it names none."""
    text = (tree / lock).read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^(--|-[a-z]\b)", text, re.MULTILINE)
    assert not (tree / "uv.lock").exists() or "uv.lock" in (tree / ".gitignore").read_text(encoding="utf-8").split()


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_pin_each_package_by_hash(tree: Path, lock: str) -> None:
    """Every line of a lock belongs to a package with an exact version and at least one SHA-256."""
    entries = [match for matches in _locked(tree, lock).values() for match in matches]
    assert len(entries) > 30
    assert all(match["rest"].count("--hash=sha256:") >= 1 for match in entries)
    rest = _LOCKED.sub("", (tree / lock).read_text(encoding="utf-8"))
    assert rest.strip() == ""


@pytest.mark.parametrize(
    ("lock", "extras"),
    [
        ("requirements.lock", ("notebook", "dashboard")),
        ("requirements-dev.lock", ("notebook", "dashboard", "models", "mcp", "connect", "dev")),
    ],
)
def test_locks_satisfy_pyproject(tree: Path, lock: str, extras: tuple[str, ...]) -> None:
    """Whoever changes a dependency in pyproject.toml has to run `make lock`."""
    project = _project(tree)
    wanted = [*project["dependencies"]]
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    locked = _locked(tree, lock)
    for requirement in map(Requirement, wanted):
        if canonicalize_name(requirement.name) == canonicalize_name(project["name"]):
            continue
        versions = [Version(match["version"]) for match in locked[canonicalize_name(requirement.name)]]
        assert all(version in requirement.specifier for version in versions), requirement


def test_runtime_lock_is_a_part_of_the_development_lock(tree: Path) -> None:
    """`make demo` in an environment that `make test` made has nothing to change."""
    small, large = (_locked(tree, lock) for lock in LOCKS)
    assert {name: [m["version"] for m in matches] for name, matches in small.items()} == {
        name: [m["version"] for m in large[name]] for name in small
    }
    assert not {"pytest", "mypy", "openai", "mcp"} & set(small)


# ---------------------------------------------------------------- how much an import costs

_LIST_NEW_MODULES = """
import json, sys
{before}
known = set(sys.modules)
{step}
print(json.dumps(sorted(set(sys.modules) - known)))
"""


_SHELL = """
import json
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
"""


def _new_modules(step: str, before: str = "") -> set[str]:
    """Run *before*, then *step* in a fresh Python; list the modules that *step* loaded."""
    code = _LIST_NEW_MODULES.format(before=before, step=step)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def _top_names(modules: set[str]) -> set[str]:
    """Reduce module names to their first part."""
    return {name.split(".")[0] for name in modules}


def test_import_memory_magic_loads_nothing_heavy() -> None:
    """`import memory_magic` costs its own `__init__` and no third-party package."""
    modules = _new_modules("import memory_magic")
    assert not _top_names(modules) - {"memory_magic"} - sys.stdlib_module_names
    assert {name for name in modules if name.startswith("memory_magic.")} == set()


def test_load_ext_loads_nothing_heavy(root: Path) -> None:
    """`%load_ext memory_magic` registers the magics without pandas, Panel, widgets, templates, lock or model client."""
    modules = _new_modules('shell.run_line_magic("load_ext", "memory_magic")', before=_SHELL)
    assert any(name.startswith("memory_magic.notebook") for name in modules)
    assert not _top_names(modules) & HEAVY


def test_hook_needs_the_standard_library_only(root: Path) -> None:
    """The process that answers a prompt hook gives the block without loading any third-party package."""
    for words in (["remember", "Sales figures are in EUR"], ["config", "set", "enabled", "on"]):
        subprocess.run([sys.executable, "-m", "memory_magic", *words], capture_output=True, check=True)
    answer_one = """
from memory_magic.cli import main
sys.stdin = open("payload.json")
assert main(["hook", "capsule"]) == 0
"""
    Path("payload.json").write_text('{"response_topic": "here"}', encoding="utf-8")
    modules = _new_modules(answer_one)
    assert "memory_magic.prompt.block" in modules
    assert not _top_names(modules) - {"memory_magic"} - sys.stdlib_module_names


# ---------------------------------------------------------------- what the papers promise


def _readme(tree: Path) -> str:
    """Read the README."""
    return (tree / "README.md").read_text(encoding="utf-8")


def test_readme_names_only_commands_that_exist(tree: Path) -> None:
    """Each `memory-magic NAME` and `%memory NAME` of the README is a command."""
    from memory_magic import commands

    named = set(re.findall(r"(?:memory-magic|%memory) ([a-z][a-z-]*)", _readme(tree)))
    assert {"remember", "search", "view", "config", "dashboard"} <= named
    assert named <= {command.name for command in commands.TABLE}


def test_readme_names_only_magics_that_exist(tree: Path, root: Path) -> None:
    """Each `%magic` and `%%magic` of the README is registered by the extension (or is IPython's own)."""
    named = set(re.findall(r"(%%?[a-z_]+)", _readme(tree)))
    code = f"""{_SHELL}
shell.run_line_magic("load_ext", "memory_magic")
magics = shell.magics_manager.magics
print(json.dumps(["%" + name for name in magics["line"]] + ["%%" + name for name in magics["cell"]]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"%remember", "%memory_search", "%%memory_view"} <= named
    assert named <= set(json.loads(done.stdout.splitlines()[-1]))


def test_readme_names_only_make_targets_that_exist(tree: Path) -> None:
    """Each `make NAME` of the README is a target of the Makefile, and the two that matter are named."""
    targets = set(re.findall(r"^([a-z-]+):", (tree / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z-]+)", _readme(tree)))
    assert {"demo", "test"} <= named <= targets


def test_readme_names_only_files_that_exist(tree: Path) -> None:
    """Each Markdown link of the README that is no web address leads to a file of the tree."""
    links = re.findall(r"\]\(([^)#]+)", _readme(tree))
    assert links
    missing = [link for link in links if "://" not in link and not (tree / link).exists()]
    assert missing == []


def test_changelog_describes_the_present_version(tree: Path) -> None:
    """The newest heading of the changelog is the version of pyproject.toml, released or not."""
    heading = re.search(r"^## \[?([0-9][^\] ]*)\]?", (tree / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heading is not None
    assert heading[1] == _project(tree)["version"]
