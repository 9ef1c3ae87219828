"""How a genuine token is made, as far as a contract has a key for it."""

from collections.abc import Iterable, Mapping

from mcp_auth_contract.contract import Claims
from mcp_auth_contract.init.inspection import TokenShape
from mcp_auth_contract.tokens import parse_genuine

_SCOPES = ("scp", "scopes", "permissions")
_CLIENTS = ("azp", "cid", "appid")
_TENANTS = ("tid", "org_id", "tenant", "organization_id")
_LONGEST = 60


def shape_of(token: str) -> TokenShape:
    """Return the names of a token's claims, its `typ` and its `alg`; no other value of it leaves this function."""
    parts = parse_genuine(token)
    if parts is None:
        return TokenShape(opaque=True)
    usual, claims = Claims(), parts.claims
    scope = _other(usual.scope, _SCOPES, claims)
    typ = parts.header.get("typ")
    usable = isinstance(typ, str) and typ != usual.typ and 0 < len(typ) <= _LONGEST and typ.isprintable()
    return TokenShape(
        scope=scope,
        scope_list=isinstance(claims.get(scope or usual.scope), list),
        client=_other(usual.client, _CLIENTS, claims),
        tenant=_other(usual.tenant, _TENANTS, claims),
        typ=typ if usable and isinstance(typ, str) else None,
        algorithm=None if parts.algorithm is None else str(parts.algorithm),
    )


def _other(usual: str, known: Iterable[str], claims: Mapping[str, object]) -> str | None:
    """Return the first name that is there in place of the usual one."""
    return None if usual in claims else next((name for name in known if name in claims), None)
