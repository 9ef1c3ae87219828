"""Which host a URL leads to, and whether a request may go there."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from enum import StrEnum

import httpx

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
