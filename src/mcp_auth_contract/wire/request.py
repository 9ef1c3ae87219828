"""One HTTP request, exactly as it is to be sent; which host its URL leads to, and whether it may go there."""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import httpx

from mcp_auth_contract import __version__
from mcp_auth_contract.answers.answer import WITHHELD

Origin = tuple[str, str, int]
"""Scheme, host in lower case without brackets, port (RFC 6454 §4)."""

Resolve = Callable[[str, int], Awaitable[tuple[str, ...]]]
"""Looks up the addresses of a host name; raises OSError when there are none."""

_PORTS = {"http": 80, "https": 443}
# IPv4 in the last four octets: NAT64 (RFC 6052), and the old form of RFC 4291 §2.5.5.1.
_EMBEDDING = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("::/96"))
# Of AWS and most others, AWS in IPv6, Alibaba, Azure and Oracle.
_CLOUD_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        ("169.254.169.254", "169.254.170.2", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
    )
)


class KitFault(AssertionError):
    """The kit was about to do what it must never do, or was asked for something impossible. Not a user's error."""


class Reach(StrEnum):
    """From where an address can be reached."""

    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"
    UNIQUE_LOCAL = "unique-local"
    CARRIER_GRADE = "carrier-grade NAT"
    CLOUD_METADATA = "cloud metadata"
    PRIVATE = "private"
    PUBLIC = "public"


_NETWORKS = tuple(
    (ipaddress.ip_network(network), reach)
    for network, reach in (
        ("127.0.0.0/8", Reach.LOOPBACK),
        ("0.0.0.0/8", Reach.LOOPBACK),  # this host, to most systems
        ("::/127", Reach.LOOPBACK),
        ("169.254.0.0/16", Reach.LINK_LOCAL),
        ("fe80::/10", Reach.LINK_LOCAL),
        ("fc00::/7", Reach.UNIQUE_LOCAL),
        ("100.64.0.0/10", Reach.CARRIER_GRADE),
    )
)


def origin_of(url: httpx.URL | str) -> Origin | None:
    """Return the origin of an http or https URL, or None for anything else."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError, ValueError):
        return None
    host = parsed.raw_host.decode("ascii").lower()
    if parsed.scheme not in _PORTS or not host:
        return None
    return parsed.scheme, host, parsed.port if parsed.port is not None else _PORTS[parsed.scheme]


def reach_of(address: str) -> Reach:
    """Classify an IP address; addresses of IPv4 hidden in IPv6 count as what they lead to."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        hidden = ip.ipv4_mapped or ip.sixtofour
        if hidden is None and int(ip) > 1 and any(ip in network for network in _EMBEDDING):
            hidden = ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
        ip = hidden or ip
    if ip in _CLOUD_METADATA:
        return Reach.CLOUD_METADATA
    for network, reach in _NETWORKS:
        if ip in network:
            return reach
    return Reach.PUBLIC if ip.is_global and not ip.is_multicast else Reach.PRIVATE


def refusal(addresses: tuple[str, ...], target: frozenset[Reach]) -> str | None:
    """Say why a metadata URL with these addresses is not fetched for this target, or None if it may be.

    A public target may lead only to public addresses. Loopback, link-local, unique-local and carrier-grade addresses,
    and those of cloud metadata services, are reached only for a target that is itself at one of the kind.
    """
    for address in addresses:
        reach = reach_of(address)
        if reach is Reach.PUBLIC or reach in target or (reach is Reach.PRIVATE and Reach.PUBLIC not in target):
            continue
        return f"{WITHHELD}{reach.value} address {address}"
    return None


async def resolve_host(host: str, port: int) -> tuple[str, ...]:
    """Look up the addresses of a host, IPv4 first; a literal address is its own answer."""
    try:
        return (str(ipaddress.ip_address(host)),)
    except ValueError:
        pass
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    ordered = sorted(found, key=lambda entry: entry[0] != socket.AF_INET)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in ordered))


RawField = tuple[bytes, bytes]
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


def encode_headers(headers: tuple[HeaderPair, ...]) -> list[RawField]:
    """Return names and values as octets. White space around a value is dropped, as every receiver drops it."""
    pairs: list[RawField] = []
    for name, value in headers:
        raw_name = name if isinstance(name, bytes) else name.encode()
        raw_value = value if isinstance(value, bytes) else value.encode()
        if not _NAME.fullmatch(raw_name) or not _VALUE.fullmatch(raw_value):
            # The value may be a secret, so it is not shown.
            raise KitFault(f"the header field {raw_name[:40]!r} cannot be sent in HTTP/1.1")
        pairs.append((raw_name, raw_value.strip(b" \t")))
    return pairs


def wire_headers(request: Request, url: httpx.URL, static: Sequence[RawField]) -> list[RawField]:
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
