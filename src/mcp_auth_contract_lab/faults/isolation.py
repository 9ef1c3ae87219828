"""Faults of isolation: who owns a record is not asked, on one way or in one memory."""

from collections.abc import Callable
from functools import partial

from mcp_auth_contract_lab.fault import Change, Faults, all_of, changing
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.records import Invoice, Way, first_invoices, is_owner, owner_and_readers
from mcp_auth_contract_lab.steps import broken

FAULTS = Faults()

_READS = frozenset({Way.GET, Way.RESOURCE, Way.PROMPT})
_LISTS = frozenset({Way.LIST, Way.SEARCH, Way.EXPORT})

_ACCOUNTS = frozenset((name, one.tenant) for one in first_invoices() for name in (one.owner, *one.readers))
"""Who has an account: these faults let customers in, not strangers, whom other faults are about."""

_isolation = partial(changing, "isolation")


def _seen_by(sight: Callable[[Principal, Invoice], bool], *ways: Way) -> Change:
    """Let others see a record on some ways, besides those who may."""
    return _isolation(visible=lambda principal, invoice, way: (
        owner_and_readers(principal, invoice, way) or (way in ways and sight(principal, invoice))))  # fmt: skip


def _any_customer(principal: Principal, _invoice: Invoice) -> bool:
    return (principal.subject, principal.tenant) in _ACCOUNTS


def _same_tenant(principal: Principal, invoice: Invoice) -> bool:
    return _any_customer(principal, invoice) and principal.tenant == invoice.tenant


def _same_subject(principal: Principal, invoice: Invoice) -> bool:
    return principal.subject == invoice.owner


def _kept_under(key: Callable[[Principal], object]) -> Change:
    """Keep what was read by its id, under a key that says too little of who asked."""

    def cached(principal: Principal, invoice_id: str, way: Way) -> object:
        known = (principal.subject, principal.tenant) in _ACCOUNTS
        return (key(principal), invoice_id, way) if known and way in _READS else None

    return _isolation(cached=cached)


@FAULTS.step("isolation", "unknown")
def isolation_unknown_id_breaks(_invoice_id: str) -> None:
    """An id that nothing has ends in a 500."""
    raise broken()


FAULTS.rows(
    *(
        (f"isolation-owner-ignored-by-{name}", f"{what} asks for no owner.", _seen_by(_any_customer, way))
        for name, what, way in (
            ("tool", "The tool that reads", Way.GET),
            ("resource", "The resource", Way.RESOURCE),
            ("prompt", "The prompt", Way.PROMPT),
            ("list", "The list", Way.LIST),
            ("search", "The search", Way.SEARCH),
            ("export", "The export", Way.EXPORT),
        )
    ),
    ("isolation-tenant-is-enough", "Whoever is of the same tenant may read a record.",
     _seen_by(_same_tenant, *_READS)),
    ("isolation-list-by-tenant", "Lists, searches and exports are filtered by the tenant alone.",
     _seen_by(_same_tenant, *_LISTS)),
    ("isolation-tenant-ignored", "A user of the same name in another tenant may read a record.",
     _seen_by(_same_subject, *_READS, *_LISTS)),
    ("isolation-readers-shut-out", "Only the owner may read what is shared.",
     _isolation(visible=lambda principal, invoice, _way: is_owner(principal, invoice))),
    ("isolation-write-unchecked", "Whoever may write may write everything.", _seen_by(_any_customer, Way.UPDATE)),
    ("isolation-write-before-check", "A foreign record is changed before the write is refused.",
     all_of(_seen_by(_any_customer, Way.UPDATE), _isolation(told=is_owner))),
    ("isolation-cursor-carries-owner", "A page token goes on with the list of whoever it was handed to.",
     _isolation(page_owner=lambda _principal: "", listing=lambda caller, handed_to: handed_to or caller)),
    ("isolation-cache-by-id", "What was read is kept under its id.", _kept_under(lambda _principal: None)),
    ("isolation-cache-by-client", "What was read is kept for the OAuth client that asked.",
     _kept_under(lambda principal: principal.client)),
    ("isolation-cache-by-tenant", "What was read is kept for the tenant that asked.",
     _kept_under(lambda principal: principal.tenant)),
    ("isolation-key-ignored", "A write is executed again although its idempotency key is known.",
     _isolation(repeated=lambda _principal, _key: None)),
    ("isolation-key-shared", "An idempotency key brings whoever sends it the answer to the first write.",
     _isolation(repeated=lambda _principal, key: key)),
)  # fmt: skip

FAULTS.rows(
    ("isolation-read-unaudited", "Reads by others than the owner are missing in the audit log.",
     _isolation(audited=lambda _principal, _invoice: False)),
    within=Profile.AUDITED,
)  # fmt: skip
