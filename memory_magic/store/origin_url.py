"""The canonical origin of a repository: one text for every way to write its address, without credentials.

`git@host:a/b`, `ssh://git@host:22/a/b.git` and `https://user:token@HOST/a/b/` all become `host/a/b`; the SHA-256 of
that text names the workspace. Pure: a string goes in, a string or None comes out, and no file, name server or git is
asked.

Invariants: user names, passwords, queries and fragments never reach the result; a network origin never begins with a
slash and a local one always does, so that neither can pose as the other; `canonical_origin("https://" + result)` gives
a network result back unless it ends in a second `.git`. What we do not understand is None, and None means: no
workspace.

A local origin (`/srv/git/a.git`, `file:///srv/git/a`) is kept as an absolute path and cleaned as text only: the disk
is not asked, because a link that moves must not change an identity. A relative path (`.`, `../a`, `~/a`) means another
place in each clone and names nothing; neither does a remote helper (`ext::…`) or a scheme that git does not speak
itself.
"""

from __future__ import annotations

import hashlib
import re

# longer than any address that a host accepts, short enough to be read at once
_LONGEST = 4096
# control, line-breaking, surrogate, zero-width and bidi characters: no host offers such paths, forgers do
_HOSTILE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)")
_HELPER = re.compile(r"[A-Za-z0-9]+::")
_SCP_BRACKET = re.compile(r"(?:[^@/\[\]]*@)?\[([^\]/]+)\]:(.*)")
_HOST = re.compile(r"[0-9a-z_][0-9a-z_.-]*")
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
# each port as IANA lists it: an address that spells it out is the same address
_PORTS = {
    "ssh": 22,
    "git+ssh": 22,
    "ssh+git": 22,
    "git": 9418,
    "http": 80,
    "https": 443,
    "ftp": 21,
    "ftps": 990,
}
_LAST_PORT = 65535
_WITH_QUERY = frozenset({"http", "https", "ftp", "ftps"})


def canonical_origin(url: str) -> str | None:
    """Return the one text for all spellings of an origin, or None when it names no place that we can tell."""
    text = url.strip(" ")
    if not text or len(text) > _LONGEST or _HOSTILE.search(text):
        return None
    if address := _URL.fullmatch(text):
        return _from_url(address[1].lower(), address[2])
    if _HELPER.match(text):
        return None
    colon, slash = text.find(":"), text.find("/")
    # git's own rule: a colon before the first slash makes it host:path
    if colon >= 0 and (slash < 0 or colon < slash):
        return _from_scp(text)
    return _local(_literal(text))


def workspace_id(canonical: str) -> str:
    """Return the 64 hex digits that name the workspace of a canonical origin (or of a project's random id)."""
    return hashlib.sha256(canonical.encode("utf-8", "surrogateescape")).hexdigest()


def display_origin(url: str) -> str:
    """Return an origin as it may be shown and kept: canonical, without credentials, or empty when it is unclear."""
    return canonical_origin(url) or ""


def _from_url(scheme: str, rest: str) -> str | None:
    """Read `scheme://rest`."""
    if scheme == "file":
        host, slash, path = rest.partition("/")
        return _local(_decoded(slash + path)) if host.lower() in {"", "localhost"} else None
    if scheme not in _PORTS:
        return None
    if scheme in _WITH_QUERY:
        rest = re.split(r"[?#]", rest, maxsplit=1)[0]
    authority, _, path = rest.partition("/")
    return _joined(_host(authority.rpartition("@")[2], _PORTS[scheme]), _clean(_decoded(path)))


def _from_scp(text: str) -> str | None:
    """Read `[user@]host:path`, with the host in brackets when it holds colons or a port."""
    if bracket := _SCP_BRACKET.fullmatch(text):
        inner, path = bracket[1].rpartition("@")[2], bracket[2]
        host = f"[{inner}]" if inner.count(":") > 1 else inner
    else:
        authority, _, path = text.partition(":")
        host = authority.rpartition("@")[2]
    # `user:password@host:path` parses as host "user": refusing it keeps the password out of the result
    if "@" in path.partition("/")[0]:
        return None
    return _joined(_host(host, _PORTS["ssh"]), _clean(_literal(path)))


def _local(path: str) -> str | None:
    """Keep an absolute path as text, refuse a relative one."""
    cleaned = _clean(path) if path.startswith("/") else None
    return f"/{cleaned}" if cleaned else None


def _joined(host: str | None, path: str | None) -> str | None:
    """Put host and path together when both are known."""
    return f"{host}/{path}" if host and path else None


def _host(text: str, default_port: int) -> str | None:
    """Return `host` or `host:port` in lower case, or None when either is malformed."""
    if text.startswith("["):
        inner, closed, tail = text[1:].partition("]")
        name = _ipv6(inner) if closed else None
    else:
        inner, colon, port_text = text.partition(":")
        name, tail = _name(inner), colon + port_text
    port = _port(tail, default_port)
    if name is None or port is None:
        return None
    return name + port


def _ipv6(text: str) -> str | None:
    """Return an IPv6 address in its shortest spelling and in brackets."""
    import ipaddress

    try:
        return f"[{ipaddress.IPv6Address(text.replace('%25', '%')).compressed.lower()}]"
    except ValueError:
        return None


def _name(text: str) -> str | None:
    """Return a host name in lower-case ASCII (international names in their `xn--` form)."""
    name = text.removesuffix(".").lower()
    if not name.isascii():
        try:
            name = name.encode("idna").decode("ascii")
        except UnicodeError:
            return None
    return name if _HOST.fullmatch(name) else None


def _port(text: str, default: int) -> str | None:
    """Return `:port`, an empty string for the default port, None for what is no port."""
    number = text[1:]
    if not number:
        return "" if text in {"", ":"} else None
    if text[0] != ":" or not (number.isascii() and number.isdigit()):
        return None
    shown = number.lstrip("0")
    # five digits at most, which also keeps int() from a number of megabytes
    if not shown or len(shown) > len(str(_LAST_PORT)) or int(shown) > _LAST_PORT:
        return None
    return "" if int(shown) == default else f":{shown}"


def _clean(path: str) -> str | None:
    """Drop empty and `.` segments and one trailing `.git`; refuse `..`, whose meaning depends on links."""
    segments = [part for part in path.split("/") if part not in {"", "."}]
    if not segments or ".." in segments:
        return None
    segments[-1] = segments[-1].removesuffix(".git")
    kept = segments if segments[-1] else segments[:-1]
    return "/".join(kept) if kept and kept[-1] not in {".", ".."} else None


def _literal(path: str) -> str:
    """Write the characters that separate parts of a URL as escapes, so that both kinds of address meet."""
    return path.replace("%", "%25").replace("?", "%3F").replace("#", "%23")


def _decoded(path: str) -> str:
    """Decode percent escapes, except those that would change the structure or hide a control character."""
    pieces: list[str] = []
    end = 0
    for run in _ESCAPES.finditer(path):
        pieces += [_literal(path[end : run.start()]), _unescaped(run[0])]
        end = run.end()
    return "".join([*pieces, _literal(path[end:])])


def _unescaped(run: str) -> str:
    """Decode one run of escapes; bytes that are no UTF-8 stay escaped."""
    raw = bytes.fromhex(run.replace("%", ""))
    text = raw.decode("utf-8", "surrogateescape")
    return "".join(_escaped(char) if char in "/%?#\\" or _HOSTILE.match(char) else char for char in text)


def _escaped(char: str) -> str:
    """Write one character as upper-case percent escapes."""
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogateescape"))
