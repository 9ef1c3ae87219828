"""Names in a request that are not the token's: the places where a careless server looks for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mcp_auth_contract.checks.principals import Part, owners, pair
from mcp_auth_contract.contract import Contract

_PREFIX = "io.modelcontextprotocol/"


_PAIRS = (
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


@dataclass(frozen=True, slots=True)
class Override:
    """A name in one place of a request, as edits of it: members are added, present ones of the name replaced."""

    words: str
    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[tuple[str, str], ...] = ()
    arguments: tuple[tuple[str, str], ...] = ()
    meta: tuple[tuple[str, object], ...] = ()

    def applied(self, message: dict[str, object]) -> dict[str, object]:
        """Return the JSON-RPC message with arguments and `_meta` set."""
        changed = message
        for member, edits in (("arguments", self.arguments), ("_meta", self.meta)):
            if edits:
                params = _object(changed.get("params"))
                changed = {**changed, "params": {**params, member: {**_object(params.get(member)), **dict(edits)}}}
        return changed


def _object(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, dict) else {}


def _told(names: tuple[str, str], subject: str, tenant: str | None) -> tuple[tuple[str, str], ...]:
    """Name the user and the tenant; a principal without one leaves it out."""
    return ((names[0], subject),) if tenant is None else ((names[0], subject), (names[1], tenant))


def _words(place: str, pairs: tuple[tuple[str, str], ...]) -> str:
    return f"{place} {' and '.join(name for name, _ in pairs)}"


def _arguments(subject: str, tenant: str | None) -> tuple[Override, ...]:
    told = (_told(names, subject, tenant) for names in _PAIRS)
    return tuple(Override(_words("arguments", pairs), arguments=pairs) for pairs in told)


def _headers(subject: str, tenant: str | None) -> tuple[Override, ...]:
    told = (_told(names, subject, tenant) for names in _HEADERS)
    cookie = "; ".join(f"{name}={value}" for names in _PAIRS[:2] for name, value in _told(names, subject, tenant))
    cookies = Override("cookies user and tenant", headers=(("Cookie", cookie),))
    return (*(Override(_words("header fields", pairs), headers=pairs) for pairs in told), cookies)


def _query(subject: str, tenant: str | None) -> tuple[Override, ...]:
    told = (_told(names, subject, tenant) for names in _PAIRS[:3])
    return tuple(Override(_words("query", pairs), query=pairs) for pairs in told)


def _meta(subject: str, tenant: str | None) -> tuple[Override, ...]:
    told = (_told(names, subject, tenant) for names in _PAIRS[:3])
    return tuple(Override(_words("_meta", pairs), meta=pairs) for pairs in told)


def _client_info(subject: str, tenant: str | None) -> tuple[Override, ...]:
    told = {"name": subject, "title": subject, "version": "1", **({} if tenant is None else {"tenant": tenant})}
    return (Override("a clientInfo", meta=((f"{_PREFIX}clientInfo", told),)),)


OVERRIDES: Mapping[str, Callable[[str, str | None], tuple[Override, ...]]] = MappingProxyType(
    {
        "argument_override": _arguments,
        "header_override": _headers,
        "query_override": _query,
        "meta_override": _meta,
        "client_info_override": _client_info,
    }
)
"""By place: the overrides that name a subject and its tenant."""


def victims(contract: Contract, caller: str) -> tuple[tuple[Part, Part], ...]:
    """Return up to two meetings of the caller's call with a victim's: of the same tenant, and of another one.

    A server that believes the user's name alone shows itself by a victim in the caller's own tenant; one that
    believes the tenant's by a victim in another. Both call the same where that can be, else the caller calls what
    the victim does.
    """
    first, *others = owners(contract, caller) or ("",)
    home = contract.principals[first].tenant if others else None
    near = next((name for name in others if contract.principals[name].tenant == home), None)
    far = next((name for name in others if contract.principals[name].tenant != home), None)
    return tuple(_against(contract, first, name) for name in (near, far) if name is not None)


def _against(contract: Contract, caller: str, victim: str) -> tuple[Part, Part]:
    met = pair(contract, caller, only=victim)
    if met is None:
        raise ValueError(f"{victim} owns nothing")
    mine, theirs = met
    same = [(one, other) for one in mine for other in theirs if one.operation == other.operation]
    return min(same, key=lambda both: (not both[1].own, not both[0].own), default=(mine[0], theirs[0]))
