"""One HTTP request, exactly as it is to be sent."""

import re
from dataclasses import dataclass, field

import httpx

from mcp_auth_contract import __version__
from mcp_auth_contract.wire.origin import KitFault

HeaderPair = tuple[str | bytes, str | bytes]
"""A header field's name and value; str is sent as UTF-8."""

_USER_AGENT = f"mcp-auth-contract/{__version__}".encode()
# RFC 9110 §5.5, with the obsolete octets above 0x7F: whatever a hostile client could send in one line.
_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TARGET = re.compile(rb"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Request:
    """What to send, and how to wait for the answer.

    Header fields keep their order, case and repetitions; the client adds Host, Content-Length, User-Agent and
    Accept-Encoding unless they are given. `target` replaces the request target derived from the URL, octet for octet.
    `expects_id` is the id of the JSON-RPC response that ends an event stream. `fresh` asks for a new connection.
    `timeout` replaces the client's time limit, in seconds. `note` goes into the evidence.
    """

    method: str
    url: str
    headers: tuple[HeaderPair, ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    target: bytes | None = field(default=None, repr=False)
    expects_id: int | str | None = None
    fresh: bool = False
    timeout: float | None = None
    note: str = ""


def encode_headers(headers: tuple[HeaderPair, ...]) -> list[tuple[bytes, bytes]]:
    """Return names and values as octets. White space around a value is dropped, as every receiver drops it."""
    pairs: list[tuple[bytes, bytes]] = []
    for name, value in headers:
        raw_name = name if isinstance(name, bytes) else name.encode()
        raw_value = value if isinstance(value, bytes) else value.encode()
        if not _NAME.fullmatch(raw_name) or not _VALUE.fullmatch(raw_value):
            # The value may be a secret, so it is not shown.
            raise KitFault(f"the header field {raw_name[:40]!r} cannot be sent in HTTP/1.1")
        pairs.append((raw_name, raw_value.strip(b" \t")))
    return pairs


def wire_headers(
    request: Request, url: httpx.URL, static: tuple[tuple[bytes, bytes], ...] = ()
) -> list[tuple[bytes, bytes]]:
    """Return all header fields of a request: its own, then `static` ones that it does not name, then the usual ones."""
    pairs = encode_headers(request.headers)
    named = {name.lower() for name, _ in pairs}
    pairs += [pair for pair in static if pair[0].lower() not in named]
    named |= {name.lower() for name, _ in pairs}
    usual = [(b"User-Agent", _USER_AGENT), (b"Accept-Encoding", b"identity")]
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        usual.append((b"Content-Length", str(len(request.body)).encode()))
    pairs += [pair for pair in usual if pair[0].lower() not in named]
    host = [] if b"host" in named else [(b"Host", url.netloc)]
    if request.target is not None and not _TARGET.fullmatch(request.target):
        raise KitFault("the request target holds octets that cannot be sent in HTTP/1.1")
    return host + pairs


def header_text(octets: bytes) -> str:
    """Decode a header value: UTF-8, else Latin-1."""
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        return octets.decode("latin-1")
