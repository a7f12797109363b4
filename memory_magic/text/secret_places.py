"""Secrets that their place gives away: addresses, private key blocks, commands, Kubernetes manifests.

`scheme://user:password@host` loses the password (and a user name that is itself a key), the address of a webhook what
follows its host, a PEM block its body, `curl -u` and `mysql -p` the password, a manifest of kind Secret its data.

Invariants: each finder reads up to a fixed distance from its anchor; the search for the end of a key block stops for
good once there is none, so time is linear on any input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memory_magic.text.secret_judge import is_placeholder, is_random, pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memory_magic.text.secret_tokens import Found, Page

_LONGEST_BLOCK = 20_000
_LONGEST_COMMAND = 600
_MANIFEST = 6000
_LONGEST_KIND = 20

_AUTHORITY: Final = r"[^\s/?#\"'`<>\\(){}]{0,512}+"
_SLASHED: Final = r"[^\s\"'`<>\\@:]{1,100}:[^\s\"'`<>\\@]{1,200}@(?=[A-Za-z0-9\[])"
_WEBHOOK: Final = (
    r"(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/"
    r"|(?:[a-z]+\.)?discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+/"
    r"|[\w-]+(?:\.[\w-]+)?\.office\.com/webhook(?:b2)?/|hooks\.zapier\.com/hooks/catch/)"
    r"(?P<secret>[^\s\"'`<>)\]\\?#]{8,1024}+)"
)
_USUAL: Final = frozenset(
    {"pass", "pw", "pwd", "passwd", "password", "secret", "token", "apikey", "api_key", "key", "port"}
)
"""What stands in the place of a password in documentation."""

_SHORTEST_PASSWORD = 3
_SHORTEST_USER_KEY = 16
_SHORTEST_USER_TOKEN = 8

_PEM_HEAD: Final = r"-----BEGIN [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)?-----(?:\s|\\r|\\n)*+"
_PEM_LINES: Final = r"(?:[ \t>+|#*\"']{0,8}+[A-Za-z0-9+/=]{1,100}+[\"',]{0,2}+[ \t]*+(?:\r?\n|\\r\\n|\\n|$|\Z))++"
_PEM_TAIL: Final = r"(?:\s|\\r|\\n)*+\Z"

_PUTTY: Final = r"(?i:private-lines):[ \t]*[0-9]{1,4}[ \t]*\r?\n(?P<value>(?:[A-Za-z0-9+/=]{1,64}+(?:\r?\n|\Z))++)"
_PGPASS: Final = r":5432:[\w*-]{1,64}:(?P<user>[\w.*-]{1,64}):(?P<value>[^\s:\"'`]{4,200})(?=\s|[\"'`]|\Z)"
_USER_FLAG: Final = (
    r"[ \t=]*+(?P<open>[\"']?)(?P<user>[^\s:\"'`]{0,200}+)[\"']?:(?P<quote>[\"']?)(?P<value>[^\s\"'`]{0,200})"
)
_LOGIN: Final = r"(?P<quote>[ \t]*+[\"']?)(?P<value>[^\s\"'`;|&]{4,200})"
_CLIENTS: Final = ("mysql", "mariadb", "sshpass", "docker login", "podman login", "helm registry login", "oc login")
_MAPPING: Final = r"(?m)^([ \t]*+)(?:stringData|data):[ \t]*+\r?\n((?:\1[ \t]++[^\r\n]*+(?:\r?\n|\Z))++)"
_ENTRY: Final = (
    r"(?m)^[ \t]++(?:[\w.\"'-]{1,100}+:[ \t]++)?[\"']?(?P<value>[^\s\"'|>#:{][^\s\"':]{3,})[\"']?[ \t]*+(?:#.*)?\r?$"
)


def find_places(page: Page) -> Iterator[Found]:
    """Yield each secret that stands where secrets stand."""
    for at in _all(page.low, b"://"):
        yield from _in_address(page.text, at + 3)
    for at in _all(page.low, b"hooks.slack"):
        yield from _webhook(page.text, at)
    yield from _key_blocks(page)
    for at in _all(page.low, b"q~"):
        azure = pattern(r"(?<![\w.~-])[\w.~-]{4}Q~[\w.~-]{31,34}(?![\w~-])").match(page.text, max(at - 4, 0))
        if azure and not is_placeholder(azure[0][6:]):
            yield *azure.span(), "azure"
    yield from _headed(page)
    for at in _all(page.low, b" -u", b"-user"):
        yield from _user_flag(page, at)
    for at in _all(page.low, b" -p"):
        yield from _password_flag(page, at)


def _headed(page: Page) -> Iterator[Found]:
    """Yield what follows Okta's scheme, the head of a PuTTY key, or the port in a line of .pgpass."""
    for at in _all(page.low, b"ssws 00"):
        okta = pattern(r"(?<!\w)SSWS (?P<value>00[\w-]{40})(?![\w-])").match(page.text, at)
        if okta and not is_placeholder(okta["value"]):
            yield *okta.span("value"), "okta"
    for at in _all(page.low, b"private-lines:"):
        lines = pattern(_PUTTY).match(page.text, at)
        if lines:
            yield *lines.span("value"), "private_key"
    for at in _all(page.low, b":5432:"):
        login = pattern(_PGPASS).match(page.text, at)
        if login and _is_password(login["user"], login["value"]):
            yield *login.span("value"), "password"


def _all(low: bytes, *needles: bytes) -> Iterator[int]:
    """Yield where one of *needles* stands."""
    for needle in needles:
        at = low.find(needle)
        while at >= 0:
            yield at
            at = low.find(needle, at + 1)


def _in_address(text: str, at: int) -> Iterator[Found]:
    """Yield the password of the address whose host part begins at *at*, or the secret path of a webhook."""
    whole = pattern(_AUTHORITY).match(text, at)
    end = whole.end() if whole else at
    cut = text.rfind("@", at, end)
    if cut >= 0:
        yield from _user_part(text, at, cut)
        return
    sign = text.find(":", at, end)
    if sign >= 0 and not pattern(r"[0-9]{0,5}+\Z").match(text, sign + 1, end):
        slashed = pattern(_SLASHED).match(text, at)
        if slashed:
            yield from _user_part(text, at, slashed.end() - 1)
    yield from _webhook(text, at)


def _webhook(text: str, at: int) -> Iterator[Found]:
    """Yield the path of the webhook whose host begins at *at*."""
    hook = pattern(_WEBHOOK).match(text, at)
    if hook and not is_placeholder(hook["secret"]) and is_random(hook["secret"].replace("/", "")):
        yield *hook.span("secret"), "webhook"


def _user_part(text: str, low: int, high: int) -> Iterator[Found]:
    """Yield the password between *low* and *high*, with the user name when that is itself a key."""
    user, colon, password = text[low:high].partition(":")
    is_key = len(user) >= _SHORTEST_USER_KEY and is_random(user) and not is_placeholder(user)
    if not colon:
        if is_key and text[max(low - len("https://"), 0) : low].lower().endswith(("http://", "https://")):
            yield low, high, "url_password"
    elif _is_password(user, password):
        is_key = is_key or pattern("[0-9a-f]{8,}").fullmatch(user) is not None
        yield low if is_key else low + len(user) + 1, high, "url_password"


def _is_password(user: str, password: str) -> bool:
    """Tell a password from what documentation writes in its place."""
    usual = len(password) < _SHORTEST_PASSWORD or password.lower() in {*_USUAL, user.lower()}
    return not usual and not is_placeholder(password)


def _key_blocks(page: Page) -> Iterator[Found]:
    """Yield the body of each private key block, closed or cut off."""
    done = 0
    are_ends_left = True
    for at in _all(page.low, b"-----begin"):
        head = pattern(_PEM_HEAD).match(page.text, at) if at >= done else None
        if not head:
            continue
        low = head.end()
        end = page.low.find(b"-----end", low, low + _LONGEST_BLOCK) if are_ends_left else -1
        if end < 0 and are_ends_left:
            are_ends_left = page.low.find(b"-----end", low) >= 0
        if end < 0 or page.low.find(b"-----begin", low, end) >= 0:
            lines = pattern(_PEM_LINES).match(page.text, low)
            end = lines.end() if lines else low
        done = end
        high = low + len(pattern(r"(?:\s|\\r|\\n)++\Z").sub("", page.text[low:end]))
        if pattern("[A-Za-z0-9+/]{16}").search(page.text, low, high):
            yield low, high, "private_key"


def _user_flag(page: Page, at: int) -> Iterator[Found]:
    """Yield the password of `-u user:password` of curl and its like."""
    if not _is_command(page, at, (b"curl", b"wget", b"http ")):
        return
    flag = pattern(r"[ \t]?-u(?:ser)?(?![\w-])").match(page.text, at)
    value = pattern(_USER_FLAG).match(page.text, flag.end()) if flag else None
    if not value:
        return
    low, high = value.span("value")
    quote = value["quote"] or value["open"]
    close = page.text.find(quote, low, low + _LONGEST_COMMAND) if quote else -1
    high = close if close > low else high
    user, password = value["user"], page.text[low:high]
    if not password and len(user) >= _SHORTEST_USER_TOKEN and is_random(user) and not is_placeholder(user):
        yield *value.span("user"), "token"
    elif _is_password(user, password):
        yield low, high, "password"


def _password_flag(page: Page, at: int) -> Iterator[Found]:
    """Yield the password of `mysql -pPASSWORD` and of the commands that log in with `-p PASSWORD`."""
    if not _is_command(page, at, tuple(client.encode() for client in _CLIENTS)):
        return
    value = pattern(_LOGIN).match(page.text, at + 3)
    if not value or not _is_password("", value["value"]):
        return
    is_mysql = _is_command(page, at, (b"mysql", b"mariadb"))
    if bool(value["quote"].strip("\"'")) != is_mysql and not value["value"].startswith("-"):
        yield *value.span("value"), "password"


def _is_command(page: Page, at: int, programs: tuple[bytes, ...]) -> bool:
    """Tell whether one of *programs* is called on the line of *at*, lines continued by a backslash counted as one."""
    before = page.low[max(at - _LONGEST_COMMAND, 0) : at].replace(b"\\\n", b"  ").replace(b"\\\r\n", b"   ")
    line = before[before.rfind(b"\n") + 1 :]
    return any(program in line for program in programs)


def find_in_manifest(page: Page, at: int) -> tuple[int, list[Found]]:
    """Return the data of a Kubernetes manifest when the word *Secret* at *at* is its kind, and how far that reaches."""
    text = page.text
    if not pattern(r"(?i)kind[\"']?[ \t]*:[ \t]*[\"']?\Z").search(text, max(at - _LONGEST_KIND, 0), at):
        return at, []
    low = max(text.rfind("\n---", max(at - _MANIFEST, 0), at), at - _MANIFEST, 0)
    end = text.find("\n---", at, at + _MANIFEST)
    end = end if end >= 0 else min(at + _MANIFEST, len(text))
    return end, [
        (*entry.span("value"), "kubernetes")
        for mapping in pattern(_MAPPING).finditer(text, low, end)
        for entry in pattern(_ENTRY).finditer(text, *mapping.span(2))
        if not is_placeholder(entry["value"])
    ]
