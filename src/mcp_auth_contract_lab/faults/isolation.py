"""Faults of isolation: who owns a record is not asked, on one way or in one memory."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.records import Invoice, Way, first_invoices, is_owner, owner_and_readers
from mcp_auth_contract_lab.refusal import HttpRefused

__all__ = ["FAULTS"]

_Sight = Callable[[Principal, Invoice], bool]

_READS = frozenset({Way.GET, Way.RESOURCE, Way.PROMPT})
_LISTS = frozenset({Way.LIST, Way.SEARCH, Way.EXPORT})


_ACCOUNTS = frozenset((name, one.tenant) for one in first_invoices() for name in (one.owner, *one.readers))
"""Who has an account: these faults let customers in, not strangers, whom other faults are about."""


def _isolation(**steps: Any) -> Change:
    return lambda behaviour: replace(behaviour, isolation=replace(behaviour.isolation, **steps))


def _seen_by(sight: _Sight, *ways: Way) -> Change:
    """Let others see a record on some ways, besides those who may."""

    def visible(principal: Principal, invoice: Invoice, way: Way) -> bool:
        return owner_and_readers(principal, invoice, way) or (way in ways and sight(principal, invoice))

    return _isolation(visible=visible)


def _anybody(principal: Principal, _invoice: Invoice) -> bool:
    return (principal.subject, principal.tenant) in _ACCOUNTS


def _same_tenant(principal: Principal, invoice: Invoice) -> bool:
    return _anybody(principal, invoice) and principal.tenant == invoice.tenant


def _same_subject(principal: Principal, invoice: Invoice) -> bool:
    return principal.subject == invoice.owner


def _owner_alone(principal: Principal, invoice: Invoice, _way: Way) -> bool:
    return is_owner(principal, invoice)


def _one_for_all(_principal: Principal) -> str:
    return ""


def _as_it_was_handed(caller: Principal, handed_to: Principal | None) -> Principal:
    return caller if handed_to is None else handed_to


def _not_told(principal: Principal, invoice: Invoice) -> bool:
    return is_owner(principal, invoice)


def _kept_under(key: Callable[[Principal], object]) -> Change:
    """Keep what was read by its id, under a key that says too little of who asked."""

    def cached(principal: Principal, invoice_id: str, way: Way) -> object:
        known = (principal.subject, principal.tenant) in _ACCOUNTS
        return (key(principal), invoice_id, way) if known and way in _READS else None

    return _isolation(cached=cached)


def _broken(_invoice_id: str) -> None:
    raise HttpRefused(500, "internal error")


_READ, _LISTED = ("isolation-read-denied",), ("isolation-list-filtered",)

_TENANTS = (
    "token-tenant-in-other-claim-not-mistaken",
    "token-tenant-lookalike-not-mistaken",
    "token-tenant-pattern-not-mistaken",
    "token-tenant-unknown-not-mistaken",
)

_BY_WAY = tuple(
    Fault(f"isolation-owner-ignored-by-{name}", f"{what} asks for no owner.", _seen_by(_anybody, way))
    for name, what, breaks, way in (
        ("tool", "The tool that reads", _READ, Way.GET),
        ("resource", "The resource", _READ, Way.RESOURCE),
        ("prompt", "The prompt", _READ, Way.PROMPT),
        ("list", "The list", _LISTED, Way.LIST),
        ("search", "The search", _LISTED, Way.SEARCH),
        ("export", "The export", _LISTED, Way.EXPORT),
    )
)

_BY_SIGHT = (
    Fault("isolation-tenant-is-enough", "Whoever is of the same tenant may read a record.",
          _seen_by(_same_tenant, *_READS)),
    Fault("isolation-list-by-tenant", "Lists, searches and exports are filtered by the tenant alone.",
          _seen_by(_same_tenant, *_LISTS)),
    Fault("isolation-tenant-ignored", "A user of the same name in another tenant may read a record.",
          _seen_by(_same_subject, *_READS, *_LISTS)),
    Fault("isolation-readers-shut-out", "Only the owner may read what is shared.",
          _isolation(visible=_owner_alone)),
    Fault("isolation-unknown-id-breaks", "An id that nothing has ends in a 500.",
          _isolation(unknown=_broken)),
)  # fmt: skip

_WRITES = (
    Fault("isolation-write-unchecked", "Whoever may write may write everything.",
          _seen_by(_anybody, Way.UPDATE)),
    Fault("isolation-write-before-check", "A foreign record is changed before the write is refused.",
          lambda behaviour: _isolation(told=_not_told)(_seen_by(_anybody, Way.UPDATE)(behaviour))),
)  # fmt: skip

_MEMORIES = (
    Fault("isolation-cursor-carries-owner", "A page token goes on with the list of whoever it was handed to.",
          _isolation(page_owner=_one_for_all, listing=_as_it_was_handed)),
    Fault("isolation-cache-by-id", "What was read is kept under its id.",
          _kept_under(lambda _principal: None)),
    Fault("isolation-cache-by-client", "What was read is kept for the OAuth client that asked.",
          _kept_under(lambda principal: principal.client)),
    Fault("isolation-cache-by-tenant", "What was read is kept for the tenant that asked.",
          _kept_under(lambda principal: principal.tenant)),
)  # fmt: skip

_KEYS = (
    Fault("isolation-key-ignored", "A write is executed again although its idempotency key is known.",
          _isolation(repeated=lambda _principal, _key: None)),
    Fault("isolation-key-shared", "An idempotency key brings whoever sends it the answer to the first write.",
          _isolation(repeated=lambda _principal, key: key)),
    Fault("isolation-read-unaudited", "Reads by others than the owner are missing in the audit log.",
          _isolation(audited=lambda _principal, _invoice: False), Profile.AUDITED),
)  # fmt: skip

FAULTS = (*_BY_WAY, *_BY_SIGHT, *_WRITES, *_MEMORIES, *_KEYS)
