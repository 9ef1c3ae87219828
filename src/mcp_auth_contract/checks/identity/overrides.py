"""Names in a request that are not the token's: the places where a careless server looks for them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias
from urllib.parse import quote, urlencode

from mcp_auth_contract.checks.presentation import Presentation

_Override: TypeAlias = Callable[[str, str | None], Iterator[Presentation]]
"""Presentations that name a subject and its tenant, if it has one; `offered` says where."""

_NAMES = (
    ("user_id", "tenant_id"),
    ("user", "tenant"),
    ("owner", "org_id"),
    ("sub", "organization_id"),
    ("account_id", "workspace_id"),
)

_HEADERS = (
    ("X-User-Id", "X-Tenant-Id"),
    ("X-Forwarded-User", "X-Org-Id"),
    ("X-Remote-User", "X-Tenant"),
    ("X-Auth-Request-User", "X-Organization-Id"),
    ("X-Authenticated-User", "X-Account-Id"),
)


def _told(names: tuple[str, str], subject: str, tenant: str | None) -> dict[str, str]:
    return {names[0]: subject, **({} if tenant is None else {names[1]: tenant})}


def _in(place: str, pairs: Sequence[tuple[str, str]], make: Callable[[dict[str, str]], Presentation]) -> _Override:
    def build(subject: str, tenant: str | None) -> Iterator[Presentation]:
        for names in pairs:
            told = _told(names, subject, tenant)
            yield replace(make(told), offered=f"{place} {' and '.join(told)}")

    return build


_IN_HEADERS = _in("header fields", _HEADERS, lambda told: Presentation(tuple(told.items())))


def _headers(subject: str, tenant: str | None) -> Iterator[Presentation]:
    yield from _IN_HEADERS(subject, tenant)
    told = {name: value for names in _NAMES[:2] for name, value in _told(names, subject, tenant).items()}
    cookie = "; ".join(f"{name}={value}" for name, value in told.items())
    yield Presentation((("Cookie", cookie),), offered="cookies user and tenant")


def _client_info(subject: str, tenant: str | None) -> Iterator[Presentation]:
    told = {"name": subject, "title": subject, "version": "1", **({} if tenant is None else {"tenant": tenant})}
    meta = {"io.modelcontextprotocol/clientInfo": told}
    yield Presentation(member=("params", "_meta"), value=meta, offered="a clientInfo")


OVERRIDES: Mapping[str, _Override] = MappingProxyType(
    {
        "argument_override": _in(
            "arguments", _NAMES, lambda told: Presentation(member=("params", "arguments"), value=told)
        ),
        "header_override": _headers,
        "query_override": _in(
            "query", _NAMES[:3], lambda told: Presentation(query=urlencode(told, safe="", quote_via=quote))
        ),
        "meta_override": _in("_meta", _NAMES[:3], lambda told: Presentation(member=("params", "_meta"), value=told)),
        "client_info_override": _client_info,
    }
)
"""By place: what names a subject and its tenant there."""
