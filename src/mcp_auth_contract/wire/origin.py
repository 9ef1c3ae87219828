"""Which host a URL leads to, and whether a request may go there."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from enum import StrEnum

import httpx

__all__ = ["KitFault", "Origin", "Reach", "Resolve", "origin_of", "reach_of", "refusal", "resolve_host"]

Origin = tuple[str, str, int]
"""Scheme, host in lower case without brackets, port (RFC 6454 §4)."""

Resolve = Callable[[str, int], Awaitable[tuple[str, ...]]]
"""Looks up the addresses of a host name; raises OSError when there are none."""

_PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class KitFault(AssertionError):
    """The kit was about to do what it must never do, or was asked for something impossible. Not a user's error."""


class Reach(StrEnum):
    """From where an address can be reached."""

    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"
    PRIVATE = "private"
    PUBLIC = "public"


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
        if hidden is None and ip in _NAT64:
            hidden = ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
        ip = hidden or ip
    if ip.is_loopback:
        return Reach.LOOPBACK
    if ip.is_link_local:
        return Reach.LINK_LOCAL
    return Reach.PUBLIC if ip.is_global and not ip.is_multicast else Reach.PRIVATE


def refusal(addresses: tuple[str, ...], target: frozenset[Reach]) -> str | None:
    """Say why a metadata URL with these addresses is not fetched for this target, or None if it may be.

    A public target may lead only to public addresses; cloud metadata services live on link-local ones, which are
    refused to every target that is not itself there.
    """
    for address in addresses:
        reach = reach_of(address)
        if reach is Reach.PUBLIC or reach in target:
            continue
        if Reach.PUBLIC in target or reach is Reach.LINK_LOCAL:
            word = "private" if reach is Reach.PRIVATE else reach.value
            return f"refused: {word} address {address}"
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
