"""Nobody comes in without the token: not to the page, not to a file, not to the websocket."""

from __future__ import annotations

import http.client
import re
from typing import Any

import pytest

from memory_dashboard.gate import Gate

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol": "bokeh, abc",
}
PLACES = ["/", "/ws", "/static/js/bokeh.min.js", "/static/extensions/panel/panel.min.js", "/autoload.js", "/nothing"]


def ask(port: int, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    """Send one request and return the answer, read."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    if answer.status != 101:
        answer.body = answer.read().decode()  # type: ignore[attr-defined]
    connection.close()
    return answer


def token_of(dashboard: Any) -> str:
    """Return the token of the printed address."""
    return str(dashboard.url.partition("token=")[2])


def cookie_of(dashboard: Any) -> str:
    """Come in as a browser does and return the cookie."""
    given = ask(dashboard.port, f"/?token={token_of(dashboard)}").headers["Set-Cookie"]
    return str(given.partition(";")[0])


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("token", [None, "", "wrong", "%ff%fe"])
def test_no_token_or_a_wrong_one_is_refused_everywhere(dashboard: Any, path: str, token: str | None) -> None:
    """Each address answers 403 in plain words, and tells nothing of the store."""
    answer: Any = ask(dashboard.port, path if token is None else f"{path}?token={token}")
    assert answer.status == 403
    assert "needs its token" in answer.body
    assert "penguins" not in answer.body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])
def test_other_methods_are_refused_with_the_token_too(dashboard: Any, method: str) -> None:
    """A token opens by GET alone."""
    assert ask(dashboard.port, f"/?token={token_of(dashboard)}", method).status == 403


def test_the_websocket_is_refused_without_the_cookie_and_opened_with_it(dashboard: Any) -> None:
    """The websocket asks for the same cookie as the page; a made-up one does not do."""
    name = cookie_of(dashboard).partition("=")[0]
    assert ask(dashboard.port, "/ws", **UPGRADE).status == 403
    assert ask(dashboard.port, "/ws", Cookie=f"{name}=made-up", **UPGRADE).status == 403
    assert ask(dashboard.port, "/ws", Cookie=f"{name}={token_of(dashboard)}", **UPGRADE).status == 403
    assert ask(dashboard.port, "/ws", Cookie=cookie_of(dashboard), **UPGRADE).status == 101


@pytest.mark.parametrize(
    "origin", ["https://example.org", "http://127.0.0.1:1", "null", "http://localhost.example.org"]
)
def test_a_foreign_page_cannot_use_the_cookie(dashboard: Any, origin: str) -> None:
    """A request or websocket that another page starts is refused although the browser sends the cookie along."""
    cookie = cookie_of(dashboard)
    assert ask(dashboard.port, "/ws", Cookie=cookie, Origin=origin, **UPGRADE).status == 403
    assert ask(dashboard.port, "/", Cookie=cookie, Origin=origin).status == 403


@pytest.mark.parametrize("host", ["example.org", "example.org:{port}", "127.0.0.1", "127.0.0.1:1"])
def test_a_foreign_host_name_is_refused(dashboard: Any, host: str) -> None:
    """A name of somebody else that resolves to this machine opens nothing, token or cookie notwithstanding."""
    host = host.format(port=dashboard.port)
    assert ask(dashboard.port, "/", Cookie=cookie_of(dashboard), Host=host).status == 403
    assert ask(dashboard.port, f"/?token={token_of(dashboard)}", Host=host).status == 403


def test_the_token_becomes_a_strict_cookie_and_leaves_the_address(dashboard: Any) -> None:
    """The cookie is HttpOnly and SameSite=Strict and is not the token; the way on keeps the view, on this server."""
    answer: Any = ask(dashboard.port, f"/?page=journal&token={token_of(dashboard)}&q=%22%3E%3Cb%3E")
    cookie = answer.headers["Set-Cookie"]
    assert answer.status == 200
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert token_of(dashboard) not in cookie + answer.body
    assert re.search(r'content="0;url=/\?page=journal&amp;q=%22%3E%3Cb%3E"', answer.body)
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_token_in_another_path_leads_to_the_first_page(dashboard: Any) -> None:
    """No path in front of the token can send a window to another host."""
    answer: Any = ask(dashboard.port, f"//example.org/?token={token_of(dashboard)}")
    assert 'url=/?"' in answer.body


def test_every_answer_confines_the_page_to_this_server(dashboard: Any) -> None:
    """Headers forbid talk to other hosts, frames elsewhere and referrers, on pages and on refusals."""
    for answer in (ask(dashboard.port, "/", Cookie=cookie_of(dashboard)), ask(dashboard.port, "/")):
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'self';")
        assert not re.search(r"\*|https?:|wss:", policy)
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_each_server_has_secrets_of_its_own() -> None:
    """Tokens are long, random and never shared."""
    one, other = Gate(5000), Gate(5000)
    assert len({one.token, one.pass_value, other.token, other.pass_value}) == 4
    assert len(one.token) >= 43
