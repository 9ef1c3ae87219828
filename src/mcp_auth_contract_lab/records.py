"""The invoices, and who may see which."""

import base64
import hmac
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from mcp_auth_contract_lab.principal import Principal


@dataclass(frozen=True, slots=True)
class Invoice:
    """One record. `note` holds the canary: text that only owner and readers, all of one tenant, may receive."""

    owner: str
    tenant: str
    invoice_id: str
    amount: int
    note: str
    readers: frozenset[str] = frozenset()


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


def is_owner(principal: Principal, invoice: Invoice) -> bool:
    """The owner, in the tenant that the token names."""
    return invoice.owner == principal.subject and invoice.tenant == principal.tenant


def owner_and_readers(principal: Principal, invoice: Invoice, way: Way) -> bool:
    """The owner sees a record on every way; a reader of the same tenant does, too, and changes nothing."""
    reads = way is not Way.UPDATE and invoice.tenant == principal.tenant and principal.subject in invoice.readers
    return reads or is_owner(principal, invoice)


@dataclass(frozen=True, slots=True)
class ExportRules:
    """Steps: whom an export serves, what it is called (by its number), and whether a use by anybody ends it.

    `linked` says whom it serves besides where it is read by its URI.
    """

    serves: Callable[[Principal, Principal], bool] = Principal.same
    named: Callable[[int], str] = lambda _number: secrets.token_urlsafe(16)
    linked: Callable[[Principal, Principal], bool] = lambda _caller, _maker: False
    ended_by_use: bool = False
    ended_by_strangers: bool = False


@dataclass(slots=True)
class Exports:
    """The exports of one server."""

    rules: ExportRules = field(default_factory=ExportRules)
    _kept: dict[str, tuple[Principal, str]] = field(default_factory=dict)

    def keep(self, maker: Principal, text: str) -> str:
        """Keep an export, and return its handle."""
        handle = self.rules.named(len(self._kept) + 1)
        self._kept[handle] = (maker, text)
        return handle

    def find(self, caller: Principal, handle: str, *, by_uri: bool = False) -> str | None:
        """Return a kept export that serves the caller, or None: a foreign one looks like none."""
        maker, text = self._kept.get(handle, (None, ""))
        if maker is None:
            return None
        served = self.rules.serves(caller, maker) or (by_uri and self.rules.linked(caller, maker))
        if (served and self.rules.ended_by_use) or (not served and self.rules.ended_by_strangers):
            # The place stays taken, so that numbers go on.
            self._kept[handle] = (Principal("", "", ""), "")
        return text if served else None


@dataclass(frozen=True, slots=True)
class Isolation:
    """Steps: who may see a record on which way, what page tokens and keys are bound to, what is kept and logged.

    `elsewhere` says what an id leads to past its owner (None: nothing), `sought` whether a search finds everything.
    `listing` says whose list goes on where a page token was handed to another, `cached` the key under which an invoice
    found by its id is kept (None: it is not), `unknown` what happens for an id that nothing has, `told` whether a
    caller is told of a change that was made, `repeated` the key under which a write is remembered (None: it is not),
    `strict_keys` whether each write needs a key, and a key serves one payload only, `audited` whether a read is logged,
    `exports` what is done with kept exports.
    """

    visible: Callable[[Principal, Invoice, Way], bool] = owner_and_readers
    page_owner: Callable[[Principal], str] = lambda principal: "\n".join(principal.key)
    listing: Callable[[Principal, Principal | None], Principal] = lambda caller, _handed_to: caller
    cached: Callable[[Principal, str, Way], object] = lambda _principal, _what, _way: None
    unknown: Callable[[str], None] = lambda _invoice_id: None
    elsewhere: Callable[[str, Invoice], bool] = lambda _invoice_id, _invoice: False
    sought: Callable[[str], bool] = lambda _query: False
    told: Callable[[Principal, Invoice], bool] = lambda _principal, _invoice: True
    repeated: Callable[[Principal, str], object] = lambda principal, key: (principal.key, key)
    strict_keys: bool = False
    audited: Callable[[Principal, Invoice], bool] = lambda principal, invoice: not is_owner(principal, invoice)
    exports: ExportRules = field(default_factory=ExportRules)


def first_invoices() -> tuple[Invoice, ...]:
    """Return the records that each lab server starts with; two tenants share the id INV-1."""
    return (
        Invoice("alice", "t1", "INV-1", 120, "alice-t1-INV-1-7f3a"),
        Invoice("bob", "t1", "INV-2", 80, "bob-t1-INV-2-91bd", frozenset({"admin"})),
        Invoice("carol", "t2", "INV-1", 310, "carol-t2-INV-1-c04e"),
        Invoice("alice", "t1", "INV-11", 12, "paper clips"),
        Invoice("bob", "t1", "INV-12", 8, "paper clips"),
        Invoice("carol", "t2", "INV-13", 31, "paper clips"),
    )


class Ledger:
    """The invoices of one server, the page tokens it hands out, and the exports it keeps."""

    def __init__(self, isolation: Isolation, audit: Path | None = None) -> None:
        self._isolation = isolation
        self._audit = audit
        self.exports = Exports(isolation.exports)
        if audit is not None:
            audit.touch()
        self._invoices = list(first_invoices())
        self._secret = secrets.token_bytes(32)
        self._handed: dict[str, Principal] = {}
        self._cache: dict[object, Invoice] = {}
        self._payloads: dict[str | None, tuple[str, int]] = {}
        self._written: dict[object, Invoice | None] = {}

    def visible(self, principal: Principal, way: Way) -> Iterator[Invoice]:
        """Yield what the caller may see, the caller's own first."""
        own = [one for one in self._invoices if is_owner(principal, one)]
        others = [one for one in self._invoices if one not in own]
        return (one for one in (*own, *others) if self._isolation.visible(principal, one, way))

    def search(self, principal: Principal, query: str) -> list[Invoice]:
        """Return what the caller may see, as far as it has the words of a query."""
        if self._isolation.sought(query):
            return list(self._invoices)
        invoices = self.visible(principal, Way.SEARCH)
        return [one for one in invoices if query.lower() in f"{one.invoice_id} {one.note}".lower()]

    def find(self, principal: Principal, invoice_id: str, way: Way) -> Invoice | None:
        """Return the invoice of that id that the caller may see, or None: a foreign one looks like none."""
        past = next((one for one in self._invoices if self._isolation.elsewhere(invoice_id, one)), None)
        if past is not None:
            return past
        if all(one.invoice_id != invoice_id for one in self._invoices):
            self._isolation.unknown(invoice_id)
        key = self._isolation.cached(principal, invoice_id, way)
        if key is not None and key in self._cache:
            return self._cache[key]
        found = next((one for one in self.visible(principal, way) if one.invoice_id == invoice_id), None)
        if key is not None and found is not None:
            self._cache[key] = found
        if found is not None and self._audit is not None and self._isolation.audited(principal, found):
            entry = {"actor": principal.subject, "tenant": principal.tenant, "way": way, "id": invoice_id}
            with self._audit.open("a", encoding="utf-8") as log:
                log.write(json.dumps(entry) + "\n")
        return found

    def update(self, principal: Principal, invoice_id: str, amount: int, key: str | None = None) -> Invoice | None:
        """Set the amount of an invoice that the caller may change, or return None.

        A second write with an idempotency key answers as the first one did, and changes nothing. Where keys are strict,
        each belongs to the arguments that it first came with (draft-ietf-httpapi-idempotency-key-header).
        """
        if self._isolation.strict_keys and self._payloads.setdefault(key, (invoice_id, amount)) != (invoice_id, amount):
            return None
        remembered = None if key is None else self._isolation.repeated(principal, key)
        if remembered is not None and remembered in self._written:
            return self._written[remembered]
        found = self.find(principal, invoice_id, Way.UPDATE)
        changed = None if found is None else replace(found, amount=amount)
        if found is not None and changed is not None:
            self._invoices[self._invoices.index(found)] = changed
        told = changed if changed is not None and self._isolation.told(principal, changed) else None
        if remembered is not None:
            self._written[remembered] = told
        return told

    def page_of(self, principal: Principal, token: object) -> Iterator[Invoice]:
        """Yield what the list shows that a page token goes on with."""
        handed_to = self._handed.get(token) if isinstance(token, str) else None
        return self.visible(self._isolation.listing(principal, handed_to), Way.LIST)

    def page_token(self, principal: Principal, listing: str, offset: int) -> str:
        """Return an opaque token for the next page, good for this caller and listing only."""
        seal = self._seal(principal, listing, offset)
        token = base64.urlsafe_b64encode(f"{offset}.{seal}".encode()).decode().rstrip("=")
        self._handed[token] = principal
        return token

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
