"""A look at a server without a contract and without a token."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from urllib.parse import urlsplit

from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.clock import stopwatch
from mcp_auth_contract.contract import Operation
from mcp_auth_contract.errors import Unreachable
from mcp_auth_contract.execution.first_contact import NO_TOKEN_AT_ALL, asks_for_no_token, demand_mcp
from mcp_auth_contract.execution.options import Options
from mcp_auth_contract.execution.plan_run import EVERY_REVISION, carry_out
from mcp_auth_contract.execution.servers import REACH_LIMIT
from mcp_auth_contract.model import OperationKind, Revision
from mcp_auth_contract.oauth.metadata import is_loopback_url
from mcp_auth_contract.plan import Case, Plan, make_anonymous_plan
from mcp_auth_contract.reports.model import Report, ServerSeen
from mcp_auth_contract.server import wait_for_port
from mcp_auth_contract.wire import Conversation, HttpClient, Redactor, detect_revisions


@dataclass(slots=True)
class _AnonymousRun:
    """A look at a URL without contract and token."""

    options: Options
    redactor: Redactor
    http: HttpClient
    url: str
    started: float = field(default_factory=stopwatch)

    @property
    def lasting(self) -> bool:
        """The kit has not started the server."""
        return True

    @property
    def minting(self) -> bool:
        """There is no contract to mint from."""
        return False

    def hurry(self) -> None:
        """Nothing to do: the kit has not started the server."""

    def facts(self, revisions: tuple[Revision, ...], case: Case) -> Facts:
        return Facts(
            endpoint=self.url,
            resource=self.url,
            revisions=revisions,
            revision=case.revision,
            loopback=is_loopback_url(self.url),
            has_contract=False,
        )


_ABOUT_TOKENS = frozenset({"prm", "as", "challenge"})


def _without_tokens(plan: Plan) -> Plan:
    """Return the plan without what concerns only a server that asks for a token."""
    cases = (
        replace(case, inapplicable=NO_TOKEN_AT_ALL) if case.check.family in _ABOUT_TOKENS else case
        for case in plan.cases
    )
    return replace(plan, cases=tuple(cases))


async def probe_url(url: str, options: Options) -> Report:
    """Look at a server without a contract and without a token, and return the report."""
    redactor = Redactor()
    begun = datetime.fromtimestamp(options.clock(), UTC).isoformat(timespec="seconds")
    make_anonymous_plan(options.checks, EVERY_REVISION, selection=options.selection)
    if not await wait_for_port(url, REACH_LIMIT):
        parts = urlsplit(url)
        raise Unreachable(f"nothing accepts connections at {parts.hostname}:{parts.port or parts.scheme}")
    async with HttpClient(url, redactor=redactor, time_limit=options.time_limit, ca_files=options.ca_files) as http:
        conversation = Conversation(http, url)
        detected = await detect_revisions(conversation)
        await demand_mcp(http, url, detected.answers)
        notes = ["without a contract and a token only the anonymous part can be seen"]
        revisions = detected.revisions
        if not revisions:
            revisions = EVERY_REVISION
            notes.append("the server does not show which revisions it speaks without a token; all are assumed")
        run = _AnonymousRun(options, redactor, http, url)
        context = Context(conversation, url, revisions, control=Operation(OperationKind.TOOL, "tools/list"))
        plan = make_anonymous_plan(options.checks, revisions, selection=options.selection)
        finding = ""
        if detected.revisions and await asks_for_no_token(context, detected.revisions[0]):
            finding = f"{NO_TOKEN_AT_ALL}: it answers whatever it is asked, and says nowhere where to get one"
            plan = _without_tokens(plan)
        seen = ServerSeen(url, url, revisions if detected.revisions else (), detected.name, detected.version)
        return await carry_out(run, plan, context, seen, begun, tuple(notes), finding)
