"""Fixed reports: one of every outcome, an interrupted one, and one that a hostile server wrote into."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from io import StringIO
from typing import Any

from rich.console import Console

from mcp_auth_contract.catalogue import Check
from mcp_auth_contract.gate import decide
from mcp_auth_contract.model import Error, Fail, Impact, Inconclusive, Level, NotApplicable, Outcome, Pass, Revision
from mcp_auth_contract.reports.model import (
    About,
    ControlSeen,
    Coverage,
    Report,
    Result,
    ServerSeen,
    TokenMember,
    TokenSeen,
    Waiver,
)
from mcp_auth_contract.reports.text import print_report
from mcp_auth_contract.waivers import stale_waivers, waive

NEWEST = Revision.R2026_07_28
OLDER = Revision.R2025_11_25
ENDPOINT = "https://mcp.example.com/mcp"
CURL = (
    "curl -i -X POST -H 'Content-Type: application/json' "
    '-H "Authorization: Bearer $(mcp-auth-contract mint invoices.toml alice --defect expired)" '
    f'--data-raw \'{{"jsonrpc":"2.0","id":7,"method":"tools/call"}}\' {ENDPOINT}'
)


def check(check_id: str, title: str, level: Level, impact: Impact, *cites: str, why: str, remedy: str) -> Check:
    """A check as the catalogue would load it."""
    return Check(
        id=check_id,
        family=check_id.split("-", 1)[0],
        title=title,
        level=level,
        impact=impact,
        cites=cites,
        requirements=(),
        probe="call",
        judge="refused_as_invalid_token",
        why=why,
        remedy=remedy,
    )


EXPIRED = check(
    "token-expired-refused",
    "An expired token is refused",
    Level.MUST,
    Impact.AUTH_BYPASS,
    "rfc7519-4.1.4",
    "mcp-2025-11-25-authorization#token-handling",
    why="A token that leaked once works for ever if its end is not looked at.",
    remedy="Let the JWT library check exp, and refuse tokens without one; allow a minute for clocks that differ.",
)
SCOPE = check(
    "scope-missing-denied",
    "A token without the needed scope does not run the operation",
    Level.MUST,
    Impact.PRIVILEGE_ESCALATION,
    "rfc6750-3.1",
    why="Whoever may read could also write.",
    remedy="Compare the token's scopes with those of the operation before it runs.",
)
RESOURCE_NAME = check(
    "prm-resource-name",
    "The protected-resource metadata has a display name",
    Level.SHOULD,
    Impact.HYGIENE,
    "rfc9728-2",
    why="Consent screens show it to the user.",
    remedy="Publish resource_name.",
)
SESSION = check(
    "challenge-delete-gated",
    "A stranger cannot end a session",
    Level.MUST,
    Impact.SESSION_HIJACK,
    "mcp-2025-11-25-security-best-practices#session-hijacking",
    why="Anybody could throw users out.",
    remedy="Check the token of a DELETE too.",
)
CHALLENGE_SCOPE = check(
    "challenge-scope-advertised",
    "The challenge names the scopes that are needed",
    Level.SHOULD,
    Impact.INTEROP,
    "rfc6750-3",
    why="Clients ask for what they are told.",
    remedy="Add scope to the challenge.",
)
METADATA = check(
    "prm-served",
    "The protected-resource metadata can be found",
    Level.MUST,
    Impact.INTEROP,
    "rfc9728-3.2",
    why="Without it no client finds the authorization server.",
    remedy="Serve it at the well-known location.",
)

ABOUT = About("tool", "get_invoice", "alice")
BYPASS = Fail('401 with error="invalid_token"', "200 with a result (expired 15 min ago)")
RESULTS = (
    Result("prm-served", METADATA, None, Pass()),
    Result("token-expired-refused[get_invoice]", EXPIRED, NEWEST, BYPASS, ("x3", "x4"), CURL, about=ABOUT),
    Result("token-expired-refused[get_invoice]", EXPIRED, OLDER, Fail(BYPASS.expected, "400", Impact.INTEROP), ("x5",)),
    *(
        Result(
            f"scope-missing-denied[{tool}:invoices:write]",
            SCOPE,
            NEWEST,
            Fail("a refusal", "200 with a result"),
            about=About("tool", tool, "alice", scope="invoices:write"),
        )
        for tool in ("create_invoice", "update_invoice", "delete_invoice", "send_invoice", "archive_invoice")
    ),
    Result(
        "scope-missing-denied[export_invoices:invoices:write]",
        SCOPE,
        NEWEST,
        Pass("refused inside a 200 (JSON-RPC error): a host cannot tell it from a failed tool"),
        about=About("tool", "export_invoices", "alice", scope="invoices:write"),
    ),
    Result("prm-resource-name", RESOURCE_NAME, None, Fail("resource_name", "no such member"), ("x1",)),
    Result(
        "challenge-delete-gated[get_invoice]",
        SESSION,
        OLDER,
        Inconclusive("the control was no longer accepted afterwards: no answer in time"),
    ),
    Result("challenge-scope-advertised[get_invoice]", CHALLENGE_SCOPE, NEWEST, Inconclusive("429")),
    Result("challenge-delete-gated", SESSION, None, NotApplicable("the server hands out no session ids")),
    Result("challenge-scope-advertised[list_invoices]", CHALLENGE_SCOPE, OLDER, Error("KeyError: 'scope'")),
)


TOKEN = TokenSeen(
    "alice",
    "the token expired 15 minutes ago",
    (
        TokenMember("header", "alg", '"RS256"'),
        TokenMember("claim", "sub", '"alice"'),
        TokenMember("claim", "exp", "1787392800", changed=True),
    ),
)
SOURCE = """[target]
url = "https://mcp.example.com/mcp"

[principals.alice]
subject = "alice"
scopes = ["invoices:read", "invoices:write"]

[[tools]]
name = "get_invoice"
scopes = ["invoices:read"]
"""


def exchange(identity: str, status: int, **response: Any) -> dict[str, Any]:
    """One recorded exchange, as the recorder gives it."""
    return {
        "id": identity,
        "started": 0.25,
        "duration": 0.012,
        "request": {
            "method": "POST",
            "url": ENDPOINT,
            "headers": [["Authorization", "Bearer token-expired#3f9a1c2e"]],
            "body": "{}",
            "truncated": False,
        },
        "response": {"status": status, "headers": [], "body": "", "truncated": False, **response},
        "trouble": None,
        "detail": "",
        "note": "",
    }


def report(results: Sequence[Result] = RESULTS, *, fail_on: Level = Level.MUST, **changes: Any) -> Report:
    """A report over the results; nothing in it depends on the time or the machine."""
    interrupted = changes.get("interrupted", False)
    whole = Report(
        kit_version="1.2.3",
        contract="invoices.toml",
        server=ServerSeen(ENDPOINT, "https://mcp.example.com/", (NEWEST, OLDER), "Invoices", "4.5"),
        started="2026-08-22T10:00:00+00:00",
        duration_s=12.3456,
        results=tuple(results),
        gate=decide(results, fail_on=fail_on, interrupted=interrupted),
        controls=(
            ControlSeen("get_invoice", "alice", NEWEST, accepted=True, observed="200 with a result"),
            ControlSeen("get_invoice", "alice", OLDER, accepted=False, observed="no answer in time"),
        ),
        exchanges={name: exchange(name, 200) for name in ("x1", "x2", "x3", "x4", "x5")},
        coverage=(
            Coverage("tools", 8, 7, ("debug_dump",)),
            Coverage("resources", 0, 0),
            Coverage("prompts", 1, 1),
        ),
        notes=("the server's clock is 30 s ahead; tokens follow it",),
        environment={"python": "3.13.1", "platform": "Linux x86_64", "httpx": "0.28.1"},
        source=SOURCE,
        tokens={"token-expired#3f9a1c2e": TOKEN},
    )
    return replace(whole, **changes)


def interrupted() -> Report:
    """A run that was cut after its second case."""
    cut = Inconclusive("the run was interrupted")
    results = [RESULTS[0], RESULTS[8], *(replace(each, outcome=cut) for each in RESULTS[9:])]
    return report(results, interrupted=True, controls=(), notes=(), exchanges={})


def green() -> Report:
    """A run in which everything held."""
    return report([RESULTS[0], RESULTS[12]], controls=(), notes=())


ESCAPES = "\x1b[2J\x1b]0;owned\x07 ]]><script>\x00\x9b31m\u202e\u200b\ud800\ufffe\r\nINJECTED: 401 & <b>\U000e0001"
"""What a hostile server may put into a header, a name or a document: terminal commands, XML, broken Unicode."""


def hostile() -> Report:
    """Every outcome and every field that a server has a hand in, filled with escape sequences."""
    outcomes: list[Outcome] = [
        Pass(ESCAPES),
        Fail(f'issuer "{ESCAPES}"', ESCAPES),
        Inconclusive(ESCAPES),
        NotApplicable(ESCAPES),
        Error(ESCAPES),
    ]
    results = [
        Result(f"{check.id}[{ESCAPES}]", check, None, outcome, ("x9",), f"curl -i '{ESCAPES}'")
        for check in (EXPIRED, RESOURCE_NAME)
        for outcome in outcomes
    ]
    return report(
        results,
        contract=ESCAPES,
        server=ServerSeen(ESCAPES, ESCAPES, (), ESCAPES, ESCAPES),
        controls=(ControlSeen(ESCAPES, ESCAPES, NEWEST, accepted=False, observed=ESCAPES),),
        notes=(ESCAPES,),
        exchanges={"x9": exchange("x9", 200, headers=[["x-evil", ESCAPES]], body=ESCAPES)},
    )


def text_of(whole: Report, width: int = 100) -> str:
    """The whole text report, without colour."""
    return _printed(whole, width, verbose=True)


def short_of(whole: Report, width: int = 100) -> str:
    """The text report as it is printed without -v, without colour."""
    return _printed(whole, width, verbose=False)


def _printed(whole: Report, width: int, *, verbose: bool) -> str:
    out = StringIO()
    console = Console(file=out, width=width, highlight=False, emoji=False, markup=False, color_system=None)
    print_report(whole, console, verbose=verbose)
    return out.getvalue()


def waived() -> Report:
    """A run whose failures are waived, but for a recommendation, with one waiver that is no longer true."""
    waivers = (
        Waiver("waivers.toml", 1, "scope-missing-denied", None, "#481", "jane", date(2026, 12, 31)),
        Waiver("waivers.toml", 2, None, RESULTS[1].case, "the gateway checks it", "ops | team", date(2026, 9, 1)),
        Waiver("waivers.toml", 3, "prm-served", None, "not yet served", "jane", date(2026, 12, 31)),
    )
    today = date(2026, 8, 22)
    results = waive([result for result in RESULTS[:9] if not isinstance(result.outcome, Pass)], waivers, today)
    whole = (RESULTS[0], *results)
    stale = stale_waivers(waivers, whole, today)
    return report(whole, waivers=waivers, gate=decide(whole, stale=stale), notes=())
