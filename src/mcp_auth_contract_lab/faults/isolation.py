"""Faults of isolation: who owns a record, an export, a task or a state is not asked, on one way or in one memory."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import unquote

from starlette.responses import Response

from mcp_auth_contract_lab import rpc
from mcp_auth_contract_lab.app import Lab
from mcp_auth_contract_lab.fault import Change, Faults, all_of, changing
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.records import Invoice, Way, first_invoices, is_owner, owner_and_readers
from mcp_auth_contract_lab.refusal import InvalidToken
from mcp_auth_contract_lab.steps import DEFAULT_USER, always, broken, intercepting, verified
from mcp_auth_contract_lab.streams import OpenStream, event
from mcp_auth_contract_lab.tasks import Use, its_owner

FAULTS = Faults()

_READS = frozenset({Way.GET, Way.RESOURCE, Way.PROMPT})
_LISTS = frozenset({Way.LIST, Way.SEARCH, Way.EXPORT})

_ACCOUNTS = frozenset((name, one.tenant) for one in first_invoices() for name in (one.owner, *one.readers))
"""Who has an account: these faults let customers in, not strangers, whom other faults are about."""

_UPDATED = "notifications/resources/updated"

_isolation = partial(changing, "isolation")

_NAMES = frozenset(name for name, _ in _ACCOUNTS)


def _seen_by(sight: Callable[[Principal, Invoice], bool], *ways: Way) -> Change:
    """Let others see a record on some ways, besides those who may."""
    return _isolation(visible=lambda principal, invoice, way: (
        owner_and_readers(principal, invoice, way) or (way in ways and sight(principal, invoice))))  # fmt: skip


def _any_customer(principal: Principal, _invoice: Invoice) -> bool:
    return (principal.subject, principal.tenant) in _ACCOUNTS


def _same_tenant(principal: Principal, invoice: Invoice) -> bool:
    return _any_customer(principal, invoice) and principal.tenant == invoice.tenant


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
    ("isolation-read-unaudited", "Reads by others than the owner are missing in the audit log.",
     _isolation(audited=lambda _principal, _invoice: False)),
    within=Profile.AUDITED,
)  # fmt: skip

_Bound = Callable[[Principal, Principal], bool]

_tasks, _states = partial(changing, "tasks"), partial(changing, "states")


def _exports(**steps: Any) -> Change:
    return lambda b: replace(b, isolation=replace(b.isolation, exports=replace(b.isolation.exports, **steps)))


def _tenant(caller: Principal, owner: Principal) -> bool:
    return caller.tenant == owner.tenant


_BINDINGS: tuple[tuple[str, str, _Bound], ...] = (
    ("unbound", "anybody", always),
    ("bound-to-tenant", "the whole tenant", _tenant),
    ("bound-to-subject", "whoever has the same name", lambda caller, owner: caller.subject == owner.subject),
    ("bound-to-client", "all users of its OAuth client", lambda caller, owner: caller.client == owner.client),
)


def _serving(bound: _Bound, *uses: Use) -> Change:
    """Let a task serve others in some uses."""
    return _tasks(serves=lambda caller, task, use: (
        its_owner(caller, task, use) or (use in uses and bound(caller, task.owner))))  # fmt: skip


_IN_SESSION = frozenset({"in-a-session"})
"""A scope that nothing needs; it marks callers in sessions."""


def _in_sessions(sight: Callable[[Principal, Invoice], bool], *ways: Way) -> Change:
    """Let others see a record on some ways in the older era alone, whose calls stand in sessions."""
    marked = changing("sessions", acting=lambda _session, principal: replace(
        principal, scopes=principal.scopes | _IN_SESSION))  # fmt: skip
    return all_of(
        marked, _seen_by(lambda caller, invoice: caller.scopes >= _IN_SESSION and sight(caller, invoice), *ways)
    )


def _written_first(whose: Callable[[Lab, Incoming], Awaitable[Principal | None]]) -> Change:
    """Carry a write out, for whom a step takes the caller, before anything is asked."""

    async def intercept(lab: Lab, incoming: Incoming) -> None:
        message = await incoming.posted()
        params = rpc.params_of(message)
        given = params.get("arguments")
        called = message.get("method") == "tools/call" and params.get("name") == "update_invoice"
        if not called or not isinstance(given, dict):
            return
        principal = await whose(lab, incoming)
        if principal is not None:
            with suppress(Exception):
                lab.ledger.update(principal, given["invoice_id"], given["amount"], None)

    return intercepting(intercept=intercept)


async def _unchecked(_lab: Lab, incoming: Incoming) -> Principal | None:
    if incoming.header("authorization") is None:
        return DEFAULT_USER
    return None


async def _named(lab: Lab, incoming: Incoming) -> Principal | None:
    """Return whom a good token names whose scopes would not do."""
    with suppress(InvalidToken):
        principal = await verified(lab, incoming)
        return principal if principal is not None and "invoices:write" not in principal.scopes else None
    return None


def _told_to_all() -> Change:
    """Tell every open stream and subscription which invoice was changed."""
    subscribed: list[asyncio.Queue[str]] = []

    async def intercept(lab: Lab, incoming: Incoming) -> Response | None:
        message = await incoming.posted()
        if not lab.behaviour.endpoint.matches(incoming.path) or incoming.header("origin") is not None:
            return None
        response, params = await lab.guarded(incoming), rpc.params_of(message)
        if isinstance(response, OpenStream) and incoming.method == "POST":
            subscribed.append(response.waiting)
        if response.status_code == 200 and params.get("name") == "update_invoice":
            invoice = params["arguments"]["invoice_id"]
            news = {"jsonrpc": "2.0", "method": _UPDATED, "params": {"uri": f"invoice://{invoice}"}}
            streams = [one.waiting for session in lab.sessions.live() for one in session.listeners]
            for waiting in (*streams, *subscribed):
                waiting.put_nowait(event(news))
        return response

    return intercepting(intercept=intercept)


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
    ("isolation-list-for-newcomers", "Who has no account yet is shown the lists of the whole tenant.",
     _seen_by(lambda principal, invoice: principal.subject not in _NAMES and principal.tenant == invoice.tenant,
              *_LISTS)),
    ("isolation-tenant-ignored", "A user of the same name in another tenant may read a record.",
     _seen_by(lambda principal, invoice: principal.subject == invoice.owner, *_READS, *_LISTS)),
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
    ("isolation-id-with-tenant", "An id may name the tenant whose it is, whoever asks.",
     _isolation(elsewhere=lambda asked, one: asked == f"{one.tenant}/{one.invoice_id}")),
    ("isolation-id-with-dots", "The dots of an id lead out of the tenant's folder.",
     _isolation(elsewhere=lambda asked, one: unquote(asked) == f"../{one.tenant}/{one.invoice_id}")),
    ("isolation-id-with-subject", "An id may name its owner, whoever asks.",
     _isolation(elsewhere=lambda asked, one: asked == f"{one.owner}/{one.invoice_id}")),
    ("isolation-search-wildcard", "A search for % finds everything.", _isolation(sought=lambda query: query == "%")),
    ("isolation-search-operator", "A quotation mark ends the words of a search, and an operator stands behind it.",
     _isolation(sought=lambda query: "' or '" in query.lower())),
    ("isolation-key-ignored", "A write is executed again although its idempotency key is known.",
     _isolation(repeated=lambda _principal, _key: None)),
    ("isolation-key-shared", "An idempotency key brings whoever sends it the answer to the first write.",
     _isolation(repeated=lambda _principal, key: key)),
    ("isolation-older-era-searches-all", "In revisions with a handshake the search asks for no owner.",
     _in_sessions(_any_customer, Way.SEARCH)),
    ("isolation-older-era-writes-all", "In revisions with a handshake whoever may write may write everything.",
     _in_sessions(_any_customer, Way.UPDATE)),
    ("write-before-token-check", "A write without a token is refused once it is done.", _written_first(_unchecked)),
    ("write-before-scope-check", "A write is refused for its scope once it is done.", _written_first(_named)),
    ("isolation-updates-told-to-all", "Every stream is told which invoice was changed.", _told_to_all()),
    ("isolation-task-refusal-tells", "A foreign task is refused with its result beside the refusal.",
     _tasks(refuse=lambda task: rpc.Refused(
         rpc.INVALID_PARAMS, "task not found", None if task is None else dict(task.result or task.run())))),
    *(
        (f"isolation-handle-{name}", f"An export serves {whom}.", _exports(serves=bound))
        for name, whom, bound in _BINDINGS
    ),
    ("isolation-handle-spent-by-strangers", "A foreign use of an export is refused, and ends the export.",
     _exports(ended_by_strangers=True)),
    ("isolation-linked-export-open", "An export is read by its URI without asking whose it is.",
     _exports(linked=always)),
    ("isolation-handle-numbered", "Exports are numbered one by one.",
     _exports(named=lambda number: f"export-{number:06}")),
    *(
        (f"isolation-task-{name}", f"A task, its result and its end are for {whom}.", _serving(bound, *Use))
        for name, whom, bound in _BINDINGS
    ),
    ("isolation-task-status-open", "tasks/get asks for no owner.", _serving(always, Use.GET)),
    ("isolation-task-result-open", "tasks/result asks for no owner.", _serving(always, Use.RESULT)),
    ("isolation-task-list-unfiltered", "tasks/list shows the tasks of everybody.", _serving(always, Use.LIST)),
    ("isolation-task-list-by-tenant", "tasks/list shows the tasks of the tenant.", _serving(_tenant, Use.LIST)),
    ("isolation-task-cancel-open", "tasks/cancel asks for no owner.", _serving(always, Use.CANCEL)),
    ("isolation-task-cancelled-before-check", "A foreign task is cancelled before the request is refused.",
     _tasks(cancelled_first=True)),
    *(
        (f"isolation-request-state-{name}-and-acting",
         f"A state serves {whom}, in the name of whoever it was given to.",
         _states(serves=bound, acting=lambda _caller, given_to: given_to))
        for name, whom, bound in _BINDINGS
    ),
    ("isolation-request-state-unbound", "A state serves anybody, each for themselves.", _states(serves=always)),
    ("isolation-request-state-unsealed", "The seal of a state is not verified.", _states(verified=always)),
    ("isolation-request-state-seal-optional", "A state without a seal is as good as one with it.",
     _states(verified=lambda given, right: given is None or given == right)),
    ("isolation-request-state-seal-partial", "The seal of a state covers its user alone.",
     _states(sealed=lambda payload: payload["for"])),
    ("isolation-request-state-for-any-request", "A state is good with any request of its user.",
     _states(names=lambda _tool, _arguments: "")),
    ("isolation-request-state-for-any-arguments", "A state is good with any arguments of its tool.",
     _states(names=lambda tool, _arguments: tool)),
)  # fmt: skip
