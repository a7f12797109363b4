"""Keys of providers that no list of cases holds: made up at run time in the documented shape, from parts."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

import pytest

from memory_magic.text.redact import MARKER, redact

SMALL, LETTERS, HEX = string.ascii_lowercase, string.ascii_letters + string.digits, "0123456789abcdef"

Draw = Callable[[int, str], str]


def _terraform(draw: Draw) -> str:
    return draw(14, LETTERS) + ".atla" + "sv1." + draw(67, LETTERS)


def _azure_devops(draw: Draw) -> str:
    return draw(76, LETTERS) + "AZDO" + draw(4, LETTERS)


def _azure_ai(draw: Draw) -> str:
    return draw(52, LETTERS) + "JQQ" + "J99" + draw(26, LETTERS)


def _new_relic(draw: Draw) -> str:
    return draw(36, HEX) + "NR" + "AL"


def _asana(draw: Draw) -> str:
    return "1/" + draw(16, string.digits) + ":" + draw(32, HEX)


def _asana_newer(draw: Draw) -> str:
    return "2/" + draw(16, string.digits) + "/" + draw(16, string.digits) + ":" + draw(32, HEX)


def _braintree(draw: Draw) -> str:
    return "access_tok" + "en$production$" + draw(16, SMALL) + "$" + draw(32, HEX)


def _twitter(draw: Draw) -> str:
    return "A" * 22 + "7" + draw(24, LETTERS) + "%2B" + draw(30, LETTERS) + "%3D" + draw(30, LETTERS)


def _adafruit(draw: Draw) -> str:
    return "ai" + "o_" + draw(28, LETTERS)


def _segment(draw: Draw) -> str:
    return "sg" + "p_" + draw(64, LETTERS)


def _intercom(draw: Draw) -> str:
    return "dG9r" + "On" + draw(52, LETTERS) + "="


def _gocardless(draw: Draw) -> str:
    return "li" + "ve_" + draw(40, LETTERS)


def _razorpay(draw: Draw) -> str:
    return "rzp" + "_live_" + draw(14, LETTERS)


SHAPES = (
    *(_terraform, _azure_devops, _azure_ai, _new_relic, _asana, _asana_newer, _braintree, _twitter, _adafruit),
    *(_segment, _intercom, _gocardless, _razorpay),
)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__.strip("_"))
@pytest.mark.parametrize("frame", ["{}", "my note: {} is for tests", "- uses `{}` today", '{{"a": "{}"}}'])
def test_a_key_of_a_documented_shape_is_taken_out(shape: Callable[[Draw], str], frame: str) -> None:
    """Nothing is left of a key that a provider's form alone gives away; the text around it stays."""
    for seed in range(20):
        dice = random.Random(seed)  # noqa: S311 -- the same made-up keys on every run
        key = shape(lambda count, letters, dice=dice: "".join(dice.choice(letters) for _ in range(count)))  # type: ignore[misc]
        assert redact(frame.format(key)).text == frame.format(MARKER), (shape.__name__, seed)


@pytest.mark.parametrize(
    ("before", "length", "after"),
    [
        ("SSWS " + "00", 40, ""),
        ("https://b.example/k?X-Amz-Signature=", 64, ""),
        ("db.local:5432:app:ana:", 16, ""),
        ("PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n", 48, "\nPrivate-MAC: none"),
    ],
    ids=["okta", "presigned", "pgpass", "putty"],
)
def test_what_stands_where_a_secret_stands_is_taken_out(before: str, length: int, after: str) -> None:
    """A login line, a signed address, a PuTTY key lose their secret, though it has no form of its own."""
    dice = random.Random(length)  # noqa: S311
    secret = "".join(dice.choice(HEX) for _ in range(length))
    assert secret[2:] not in redact(before + secret + after).text


@pytest.mark.parametrize(
    "text",
    [
        "postgres listens on :5432: that is the default",
        "sgp_region is the name of the column with the region",
        "https://b.example/k?X-Amz-Date=20240101T000000Z&X-Amz-Algorithm=AWS4-HMAC-SHA256",
        "live_view_of_the_sales_dashboard_is_slow_on_mondays",
        "the ratio is 1/1000000000000000:2",
        "A" * 64,
    ],
)
def test_what_only_looks_like_such_a_key_stays(text: str) -> None:
    """Names, dates, numbers and padding near those shapes are no secrets."""
    assert redact(text).text == text
