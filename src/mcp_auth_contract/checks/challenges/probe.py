"""Methods of the protocol, without a token or with one."""

from collections.abc import Mapping
from types import MappingProxyType

from mcp_auth_contract.answers import Attempt, read
from mcp_auth_contract.checks.client import PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import MethodQuestion
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.checks.tokens.probe import forms_of, minted_for
from mcp_auth_contract.contract import Operation
from mcp_auth_contract.model import Revision
from mcp_auth_contract.wire import Call
from mcp_auth_contract.wire.mcp import initialize

METHODS: Mapping[str, str] = MappingProxyType(
    {
        "initialize": "open a session",
        "ping": "is anybody there",
        "tools/list": "list the tools",
        "resources/list": "list the resources",
        "resources/templates/list": "list the resource templates",
        "prompts/list": "list the prompts",
        "completion/complete": "complete a prompt's argument",
        "server/discover": "which revisions and capabilities",
    }
)

_STATELESS = frozenset({"server/discover"})
_STATEFUL = frozenset({"initialize", "ping"})


def _exists(form: str, _operation: Operation, revision: Revision) -> bool:
    return form not in (_STATEFUL if revision.stateless else _STATELESS)


_UNKNOWN = "probe/unknown"


@probe(
    "What does a protocol method answer?",
    forms={**METHODS, _UNKNOWN: "a method that nobody has"},
    exists=_exists,
    anonymous=True,
)
async def ask_method(question: MethodQuestion, context: Context) -> CallObserved:
    """Send a protocol method, without a token or with the unbroken one."""
    session = PrincipalSession(context, question.revision, question.principal)
    ((_, presentation),) = forms_of("bearer", question, context, minted_for(question, context))
    if question.form == "initialize":
        message = initialize(question.revision, next(context.conversation.ids), context.capabilities)
        step = "initialize"
    else:
        message, step = await session.message(Call(question.form, _parameters(question.form))), "call"
    answer = (await session.send(message, token=presentation)).answer
    return CallObserved(question.form, (Attempt("", step, answer, read(answer)),))


def _parameters(method: str) -> dict[str, object]:
    if method != "completion/complete":
        return {}
    # A reference that need not exist: without a token the server must not even look.
    return {"ref": {"type": "ref/prompt", "name": "any"}, "argument": {"name": "any", "value": ""}}
