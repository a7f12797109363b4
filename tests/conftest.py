"""Fixtures that all tests share, and the walls around every test.

Each test, whether it asks or not, runs with HOME and the present directory inside its own temporary folder, with no
`MEMORY_MAGIC_*` or `GIT_*` variable of the person who started it: no test can see or touch a real memory, a real
`.gitconfig` or a real IPython profile. The same holds for what a test starts as a sub-process, because the environment
itself is changed. `root` is the store root of the test, `git_repo` makes repositories, `chromium` finds a browser.

Three variables steer a run (make sets them):
- `TEST_WHEEL`: path of the built wheel; `memory_magic` must then come from site-packages (tests/test_project.py);
- `TEST_NEED_BROWSER=1`: a browser test that is skipped fails the run;
- `CHROME`: the Chromium to use.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

TREE = Path(__file__).resolve().parent.parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FIRST_TEST = "test_package_comes_from_site_packages"
NO_BROWSER = "no Chromium found; on Debian or Ubuntu: apt-get install chromium (or set CHROME=/path/to/chrome)"

# What headless Chromium must not do in a test: ask anybody for anything.
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--font-render-hinting=none", "--disable-lcd-text"),  # the same picture on every machine
)

# read before any test changes the environment
_CHROME = os.environ.get("CHROME", "")
_NEED_BROWSER = os.environ.get("TEST_NEED_BROWSER") == "1"

# a shared two-core machine decides how long one example takes: time is measured in tests/bench only
# and the examples are the same in every run: a red run is about the change, not about the dice. To search on:
# HYPOTHESIS_PROFILE=explore make check
hypothesis.settings.register_profile("project", deadline=None, derandomize=True)
hypothesis.settings.register_profile("explore", deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "project"))

GitRepo = Callable[..., Path]


@pytest.fixture(scope="session")
def tree() -> Path:
    """Give the top of the source tree (where pyproject.toml lies)."""
    return TREE


@pytest.fixture(scope="session")
def data() -> Path:
    """Give tests/data."""
    return TREE / "tests" / "data"


@pytest.fixture(scope="session", autouse=True)
def _session_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep fixtures of module and session scope away from the real home, too."""
    home = tmp_path_factory.mktemp("session_home")
    for name in _foreign_variables():
        del os.environ[name]
    os.environ.update(_home_variables(home))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a home and a present directory of its own, and no setting of the machine's user."""
    place = tmp_path / "home"
    work = tmp_path / "work"
    place.mkdir()
    work.mkdir()
    for name in _foreign_variables():
        monkeypatch.delenv(name)
    for name, value in _home_variables(place).items():
        monkeypatch.setenv(name, value)
    # a temporary folder may itself lie in somebody's work tree
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(work)
    return place


@pytest.fixture
def root(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Name a throw-away store root (not made yet) that MEMORY_MAGIC_HOME points to."""
    place = home.parent / "root"
    monkeypatch.setenv("MEMORY_MAGIC_HOME", str(place))
    return place


@pytest.fixture
def git_repo(tmp_path: Path) -> GitRepo:
    """Make git repositories: `git_repo(name="repo", origin="https://example.org/ana/NAME.git")` gives the work tree.

    `origin=None` leaves the remote out, `bare=True` makes a bare repository.
    """

    def make(name: str = "repo", *, origin: str | None = "", bare: bool = False) -> Path:
        place = tmp_path / name
        url = f"https://example.org/ana/{name}.git" if origin == "" else origin
        subprocess.run(
            ["git", "init", "--quiet", "--initial-branch=main", *(["--bare"] if bare else []), str(place)], check=True
        )
        settings = {"user.name": "Ana", "user.email": "ana@example.org"}
        for key, value in settings.items():
            subprocess.run(["git", "-C", str(place), "config", key, value], check=True)
        if url is not None:
            subprocess.run(["git", "-C", str(place), "remote", "add", "origin", url], check=True)
        return place

    return make


@pytest.fixture(scope="session")
def chromium() -> str:
    """Give the path of a Chromium ($CHROME first), or skip with the line that installs one."""
    found = next((path for name in (_CHROME, *BROWSERS) if name and (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(NO_BROWSER)
    return found


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """Give the one Chromium in which browser tests open contexts (a thread may drive only one)."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield opened
        opened.close()


def _foreign_variables() -> list[str]:
    """List the variables of this process that would steer memory-magic or git."""
    # it only says where the benchmarks' data lie
    kept = "MEMORY_MAGIC_BENCH_DATA"
    return [name for name in os.environ if name.startswith(("MEMORY_MAGIC_", "GIT_")) and name != kept]


def _home_variables(home: Path) -> dict[str, str]:
    """Say where programs keep their files when *home* is the person's home."""
    return {
        "HOME": str(home),
        "IPYTHONDIR": str(home / ".ipython"),
        "JUPYTER_CONFIG_DIR": str(home / ".jupyter"),
        "JUPYTER_DATA_DIR": str(home / ".local" / "share" / "jupyter"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
    }


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run first what decides whether the other results mean anything: where the package comes from."""
    items.sort(key=lambda item: item.name != FIRST_TEST)


_skipped_browser_tests: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note each browser test that was skipped (under xdist the reports of all workers arrive here)."""
    if report.skipped and "browser" in report.keywords and not hasattr(report, "wasxfail"):
        _skipped_browser_tests.append(report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that had to open a browser and did not."""
    if _NEED_BROWSER and _skipped_browser_tests and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why a run failed for want of a browser."""
    if _NEED_BROWSER and _skipped_browser_tests:
        terminalreporter.section("browser tests were skipped, and TEST_NEED_BROWSER=1 forbids that", red=True)
        for name in _skipped_browser_tests:
            terminalreporter.line(name)
