"""Users whom no contract names: for each owner of records those who resemble the owner in one thing alone."""

from collections.abc import Mapping

from mcp_auth_contract.contract.models import Contract, Principal

_SUBJECT = "stranger-5c1e"
_TENANT = "tenant-5c1e"
_CLIENT = "client-5c1e"


def strangers(contract: Contract, owner: str) -> Mapping[str, Principal]:
    """Return who must not be taken for the owner, by names of their own.

    A namesake in another tenant, where the contract has tenants; a neighbour, who has the owner's tenant and client; an
    outsider, who has the client alone; and somebody who shares nothing with the owner. None has further claims, which
    might name the owner, or a role.
    """
    known = contract.principals[owner]
    tenanted = contract.claims.tenant is not None and known.tenant is not None
    elsewhere = _other_tenant(contract, known) if tenanted else None
    plain = known.model_copy(update={"claims": {}})
    unknown = plain.model_copy(update={"subject": _SUBJECT})
    outside = unknown.model_copy(update={"tenant": elsewhere})
    found = {f"namesake-of-{owner}": plain.model_copy(update={"tenant": elsewhere})} if tenanted else {}
    found[nearest(owner)] = unknown
    if tenanted:
        found[f"outsider-to-{owner}"] = outside
    return {**found, f"unknown-to-{owner}": outside.model_copy(update={"client": _CLIENT})}


def nearest(owner: str) -> str:
    """Return the name of the stranger who has the owner's tenant and client."""
    return f"neighbour-of-{owner}"


def namesake_of(contract: Contract, owner: str) -> str | None:
    """Return the name of the stranger with the owner's subject; None where the contract has no tenants."""
    name = f"namesake-of-{owner}"
    return name if name in strangers(contract, owner) else None


def stranger_named(contract: Contract, name: str) -> Principal:
    """Return the stranger of that name. Raises KeyError for a name that is none."""
    return {key: one for owner in contract.principals for key, one in strangers(contract, owner).items()}[name]


def _other_tenant(contract: Contract, known: Principal) -> str:
    """Return a tenant where the contract knows nobody of that subject, one that it names if there is one."""
    taken = {one.tenant for one in contract.principals.values() if one.subject == known.subject}
    named = (one.tenant for one in contract.principals.values() if one.tenant is not None)
    return next((tenant for tenant in named if tenant not in taken), _TENANT)
