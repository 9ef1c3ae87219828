"""The invoices, and who may see which."""

import base64
import hmac
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from mcp_auth_contract.lab.principal import Principal

__all__ = ["SOUND", "Invoice", "Isolation", "Ledger", "Way", "first_invoices"]


@dataclass(frozen=True, slots=True)
class Invoice:
    """One record. `note` holds the canary: text that only the owner may receive."""

    owner: str
    tenant: str
    invoice_id: str
    amount: int
    note: str


class Way(StrEnum):
    """The ways that lead to a record; each asks anew whether the caller may see it."""

    GET = "get_invoice"
    LIST = "list_invoices"
    SEARCH = "search_invoices"
    EXPORT = "export_invoices"
    UPDATE = "update_invoice"
    RESOURCE = "resources/read"
    RESOURCES = "resources/list"
    PROMPT = "prompts/get"
    COMPLETION = "completion/complete"


@dataclass(frozen=True, slots=True)
class Isolation:
    """Steps: who may see a record on which way, and what a page token is bound to."""

    visible: Callable[[Principal, Invoice, Way], bool]
    page_owner: Callable[[Principal], str]


def owner_only(principal: Principal, invoice: Invoice, _way: Way) -> bool:
    """Only the owner, in the tenant that the token names, sees a record."""
    return invoice.owner == principal.subject and invoice.tenant == principal.tenant


def whole_principal(principal: Principal) -> str:
    """A page token belongs to subject, tenant and client."""
    return "\n".join(principal.key)


SOUND = Isolation(visible=owner_only, page_owner=whole_principal)


def first_invoices() -> tuple[Invoice, ...]:
    """Return the records that each lab server starts with; two tenants share the id INV-1."""
    return (
        Invoice("alice", "t1", "INV-1", 120, "alice-t1-INV-1-7f3a"),
        Invoice("bob", "t1", "INV-2", 80, "bob-t1-INV-2-91bd"),
        Invoice("carol", "t2", "INV-1", 310, "carol-t2-INV-1-c04e"),
        Invoice("alice", "t1", "INV-11", 12, "paper clips"),
        Invoice("bob", "t1", "INV-12", 8, "paper clips"),
        Invoice("carol", "t2", "INV-13", 31, "paper clips"),
    )


class Ledger:
    """The invoices of one server, and the page tokens it hands out."""

    def __init__(self, isolation: Isolation) -> None:
        self._isolation = isolation
        self._invoices = list(first_invoices())
        self._secret = secrets.token_bytes(32)

    def visible(self, principal: Principal, way: Way) -> Iterator[Invoice]:
        """Yield what the caller may see, the caller's own first."""
        own = [one for one in self._invoices if owner_only(principal, one, way)]
        others = [one for one in self._invoices if one not in own]
        return (one for one in (*own, *others) if self._isolation.visible(principal, one, way))

    def find(self, principal: Principal, invoice_id: str, way: Way) -> Invoice | None:
        """Return the invoice of that id that the caller may see, or None: a foreign one looks like none."""
        return next((one for one in self.visible(principal, way) if one.invoice_id == invoice_id), None)

    def update(self, principal: Principal, invoice_id: str, amount: int) -> Invoice | None:
        """Set the amount of an invoice that the caller may change, or return None."""
        found = self.find(principal, invoice_id, Way.UPDATE)
        if found is None:
            return None
        changed = replace(found, amount=amount)
        self._invoices[self._invoices.index(found)] = changed
        return changed

    def page_token(self, principal: Principal, listing: str, offset: int) -> str:
        """Return an opaque token for the next page, good for this caller and listing only."""
        seal = self._seal(principal, listing, offset)
        return base64.urlsafe_b64encode(f"{offset}.{seal}".encode()).decode().rstrip("=")

    def page_offset(self, principal: Principal, listing: str, token: object) -> int | None:
        """Return where the page starts: 0 without a token, None for one not handed to this caller."""
        if token is None:
            return 0
        if not isinstance(token, str) or not token.isascii():
            return None
        try:
            offset, _, seal = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode().partition(".")
            start = int(offset)
        except ValueError:
            return None
        return start if hmac.compare_digest(seal.encode(), self._seal(principal, listing, start).encode()) else None

    def _seal(self, principal: Principal, listing: str, offset: int) -> str:
        owner = self._isolation.page_owner(principal)
        return hmac.new(self._secret, f"{listing}\n{offset}\n{owner}".encode(), "sha256").hexdigest()[:32]
