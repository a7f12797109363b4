"""Who may come in: every request, page, file or websocket, passes here before any other code of the server sees it.

The printed address carries a random token. Who brings it gets a cookie (HttpOnly, SameSite=Strict, another random
value) and is sent on to the same address without the token, so that the token stands in no bookmark, history entry or
referrer. Whoever brings neither gets 403, on the page and on the websocket alike; so does a request that names
another host (a foreign name that resolves to 127.0.0.1) and a websocket that a foreign page opens.

The way on is a small page that moves by itself, not a redirect: a redirect inside a navigation that another site
started would be sent without the Strict cookie.

All answers carry a Content-Security-Policy that lets the page talk to this server only: should markup of somebody
else ever slip in, it has nobody to report to.
"""

from __future__ import annotations

import hmac
import html
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from tornado.routing import Matcher, Rule
from tornado.web import Application, OutputTransform, RequestHandler

if TYPE_CHECKING:
    from tornado.httputil import HTTPHeaders, HTTPServerRequest

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Memory</title>
<meta name="viewport" content="width=device-width, initial-scale=1">{head}<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 18vh auto; padding: 0 1.2rem; }}
h1 {{ font-size: 1.3rem; }}</style></head><body>{body}</body></html>"""
_REFUSED = """<h1>This page needs its token</h1>
<p>The dashboard shows your memory only to who started it. Open the whole address that
<code>memory-magic dashboard</code> printed, <code>?token=…</code> included. If the dashboard was started anew, the old
address no longer works: the new one stands in the terminal.</p>"""


class Gate:
    """The rule for one server on *port*: its token, its cookie, its hosts."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.pass_value = secrets.token_urlsafe(32)
        # Cookies know no ports: without the number, two dashboards would lock each other out.
        self.cookie = f"memory_magic_{port}"
        self.hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})

    def admits(self, request: HTTPServerRequest) -> bool:
        """Tell whether a request comes from a window that showed the token before."""
        brought = request.cookies.get(self.cookie)
        return self.at_home(request) and brought is not None and _same(brought.value, self.pass_value)

    def greets(self, request: HTTPServerRequest) -> bool:
        """Tell whether a request brings the token in its address."""
        brought = request.query_arguments.get("token", [b""])[-1].decode("utf-8", "replace")
        return self.at_home(request) and request.method == "GET" and _same(brought, self.token)

    def at_home(self, request: HTTPServerRequest) -> bool:
        """Tell whether a request names this server, as its host and as its origin if it has one."""
        origin = request.headers.get("Origin") or request.headers.get("Sec-Websocket-Origin")
        return request.host.lower() in self.hosts and (
            origin is None or origin.lower().removeprefix("http://") in self.hosts
        )

    def policy(self) -> str:
        """Return the Content-Security-Policy: this server, nobody else (Bokeh compiles its callbacks, hence eval)."""
        sockets = " ".join(sorted(f"ws://{host}" for host in self.hosts))
        return (
            "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
            "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
            f"connect-src 'self' {sockets} blob: data:; worker-src blob:; "
            "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
        )


def install(application: Application, gate: Gate) -> None:
    """Put *gate* before all routes of a Tornado application."""
    application.add_handlers(".*", [Rule(_Outside(gate), _Door, {"gate": gate})])
    application.transforms.append(lambda _request: _Headers(gate))  # type: ignore[arg-type]  # called like the class
    # Tornado's log of refused requests would write addresses, tokens included, to the terminal.
    application.settings["log_function"] = lambda _handler: None


class _Outside(Matcher):
    """Matches whatever may not pass, tokens still to be exchanged included."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        passes = self._gate.admits(request) and "token" not in request.query_arguments
        return None if passes else {}


class _Door(RequestHandler):
    """Answers those outside: a cookie and the way on, or 403."""

    def initialize(self, gate: Gate) -> None:
        self._gate = gate

    def prepare(self) -> None:
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        if self._gate.greets(self.request):
            self.set_cookie(self._gate.cookie, self._gate.pass_value, httponly=True, samesite="Strict", path="/")
            self.finish(_PAGE.format(head=_way_on(self.request.query), body="<p>Opening the dashboard …</p>"))
        else:
            self.set_status(403)
            self.finish(_PAGE.format(head="", body=_REFUSED))


class _Headers(OutputTransform):
    """Adds the headers that hold the page to this server."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def transform_first_chunk(
        self,
        status_code: int,
        headers: HTTPHeaders,
        chunk: bytes,
        finishing: bool,  # noqa: ARG002, FBT001 - Tornado's form
    ) -> tuple[int, HTTPHeaders, bytes]:
        headers["Content-Security-Policy"] = self._gate.policy()
        headers["Referrer-Policy"] = "no-referrer"
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Cross-Origin-Opener-Policy"] = "same-origin"
        return status_code, headers, chunk


def _way_on(query: str) -> str:
    """Return the tag that leads to the same view without the token, always on this server's first page."""
    rest = urlencode([(name, value) for name, value in parse_qsl(query) if name != "token"])
    return f'<meta http-equiv="refresh" content="0;url=/?{html.escape(rest)}">'


def _same(brought: str, expected: str) -> bool:
    return hmac.compare_digest(brought.encode("utf-8", "replace"), expected.encode())
