"""Redaction: megabytes in a second on prose and on code, and reach beside detect-secrets and betterleaks.

Speed: the standard library's language reference (prose) and its modules (code), one thread, the quickest round. Reach:
gitleaks' even rules, the pasted secrets and the harmless prose of tests/data/secrets, for each scanner that is
installed; a secret counts as found when a finding covers or lies in it. The table is printed, never a secret.
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
import json
import sysconfig
import time
from pathlib import Path
from pydoc_data.topics import topics
from typing import TYPE_CHECKING

import pytest

from memory_magic.text.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchmark.fixture import BenchmarkFixture

    Scanner = Callable[[str], list[str] | None]

SLOWEST = 20.0  # megabytes in a second (issue 5)
SIZE = 1_000_000
ROUNDS = 20
SECRETS = Path(__file__).parents[1] / "data" / "secrets"

pytestmark = pytest.mark.bench


def prose() -> str:
    """Return a megabyte of English."""
    text = "\n".join(topics.values())
    return (text * (SIZE // len(text) + 1))[:SIZE]


def code() -> str:
    """Return a megabyte of Python."""
    pieces: list[str] = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")):
        pieces.append(path.read_text(encoding="utf-8"))
        if sum(map(len, pieces)) > SIZE:
            break
    return "".join(pieces)[:SIZE]


@pytest.mark.parametrize("make", [prose, code], ids=["prose", "code"])
def test_speed(make: Callable[[], str], benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """A megabyte without secrets passes at twenty megabytes in a second or more."""
    text = make()
    spent: list[float] = []

    def run() -> None:
        start = time.perf_counter()
        redact(text)
        spent.append(time.perf_counter() - start)

    for _ in range(ROUNDS):
        run()
    benchmark(run)
    speed = len(text) / 1e6 / min(spent)
    with capsys.disabled():
        print(f"\nredact, {make.__name__}: {speed:.1f} MB/s")
    assert speed >= SLOWEST


def with_ours(text: str) -> list[str] | None:
    """Return None where our redaction changed *text*, as if everything had been found: the caller looks at the text."""
    return None if redact(text).text != text else []


def with_betterleaks(text: str) -> list[str] | None:
    """Return what betterleaks finds."""
    # by name, because type checkers must not need it: it is an extra
    return [finding.secret for finding in importlib.import_module("betterleaks").scan_string(text)]


def with_detect_secrets(text: str) -> list[str] | None:
    """Return what detect-secrets finds with its usual plugins."""
    scan_line = importlib.import_module("detect_secrets.core.scan").scan_line
    with importlib.import_module("detect_secrets.settings").default_settings():
        return [found.secret_value or "" for line in text.splitlines() for found in scan_line(line)]


def is_found(scanner: Scanner, text: str, secret: str) -> bool:
    """Tell whether *scanner* finds *secret* in *text* (anything at all, where the data marks no secret)."""
    found = scanner(text)
    if found is None:
        return secret not in redact(text).text if secret else True
    return any(one and (not secret or one in secret or secret in one) for one in found)


def cases(name: str) -> list[tuple[str, str, str]]:
    """Return kind, text and secret of each line of a data file."""
    found = []
    for line in (SECRETS / name).read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        text = base64.b64decode(record["text_b64"]).decode() if "text_b64" in record else record["text"]
        found.append((record.get("kind", ""), text, base64.b64decode(record.get("secret_b64", "")).decode()))
    return found


def share(scanner: Scanner, chosen: list[tuple[str, str, str]]) -> float:
    """Return the share of *chosen* in which *scanner* finds something (the secret, where one is marked)."""
    return sum(is_found(scanner, text, secret) for _, text, secret in chosen) / len(chosen)


def test_reach(benchmark: BenchmarkFixture, capsys: pytest.CaptureFixture[str]) -> None:
    """Recall and false alarms of each scanner on the same data in one run, ours within the limits of issue 5."""
    gitleaks = cases("gitleaks_even.jsonl")
    true = [case for case in gitleaks if case[0] == "tp"]
    false = [case for case in gitleaks if case[0] == "fp"]
    scanners: dict[str, Scanner] = {"memory-magic": with_ours}
    if importlib.util.find_spec("betterleaks"):
        scanners["betterleaks"] = with_betterleaks
    if importlib.util.find_spec("detect_secrets"):
        scanners["detect-secrets"] = with_detect_secrets
    table = [f"{'':16}{'gitleaks tp':>12}{'chat tp':>9}{'gitleaks fp':>12}{'prose fp':>9}{'seconds':>9}"]
    reach = {}
    for name, scanner in scanners.items():
        start = time.perf_counter()
        shares = [share(scanner, each) for each in (true, cases("chat_tp.jsonl"), false, cases("prose_fp.jsonl"))]
        spent = time.perf_counter() - start
        table.append(f"{name:16}{shares[0]:>12.3f}{shares[1]:>9.3f}{shares[2]:>12.3f}{shares[3]:>9.3f}{spent:>9.2f}")
        reach[name] = shares
    with capsys.disabled():
        print("", *table, sep="\n")
    benchmark(share, with_ours, true)
    ours = reach["memory-magic"]
    assert ours[0] >= 0.98
    assert ours[1] == 1
    assert ours[2] <= 0.10
    assert ours[3] <= 0.01
