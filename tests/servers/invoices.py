"""The invoices that the sample servers keep: each belongs to one user of one tenant, who alone may see it."""

from dataclasses import dataclass, replace

__all__ = ["Account", "Invoice", "find", "of", "search", "update"]


@dataclass(frozen=True, slots=True)
class Account:
    """Who a call acts for: a subject within a tenant."""

    tenant: str
    subject: str


@dataclass(frozen=True)
class Invoice:
    """An invoice as its owner sees it, the amount in cents."""

    invoice_id: str
    amount: int
    memo: str


# Invoice numbers repeat from tenant to tenant, as they do wherever each tenant counts from one.
_INVOICES = {
    Account("t1", "alice"): {"INV-1": Invoice("INV-1", 1200, "alice-t1-INV-1-7f3a")},
    Account("t1", "bob"): {"INV-2": Invoice("INV-2", 3400, "bob-t1-INV-2-91bd")},
    Account("t2", "carol"): {"INV-1": Invoice("INV-1", 5600, "carol-t2-INV-1-c04e")},
}


def of(account: Account) -> list[Invoice]:
    """Return every invoice of an account."""
    return list(_INVOICES.get(account, {}).values())


def search(account: Account, query: str) -> list[Invoice]:
    """Return an account's invoices whose number or memo holds `query`, in any case."""
    wanted = query.casefold()
    return [row for row in of(account) if wanted in f"{row.invoice_id} {row.memo}".casefold()]


def find(account: Account, invoice_id: str) -> Invoice | None:
    """Return one invoice of an account; another account's is as absent as one that never was."""
    return _INVOICES.get(account, {}).get(invoice_id)


def update(account: Account, invoice_id: str, amount: int) -> Invoice | None:
    """Set the amount of one invoice of an account and return it, or None as `find` does."""
    invoice = find(account, invoice_id)
    if invoice is None:
        return None
    changed = replace(invoice, amount=amount)
    _INVOICES[account][invoice_id] = changed
    return changed
