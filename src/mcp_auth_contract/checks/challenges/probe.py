"""Methods of the protocol, without a token or with one."""

from mcp_auth_contract.answers import Attempt, read
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.tokens.observation import CallObserved
from mcp_auth_contract.wire import (
    Call,
    request,
)
from mcp_auth_contract.wire.mcp import initialize


async def ask_method(question: Question, context: Context) -> CallObserved:
    """Send a protocol method, without a token or with the unbroken one."""
    revision = question.revision
    if revision is None:
        raise ValueError("a method needs a revision")
    minted = _minted(question, context)
    ((_, presentation),) = _presentations(question, context, minted)
    if question.word == "initialize":
        message = initialize(revision, next(context.conversation.ids))
        answer = await send_presented(context, message, presentation)
        return CallObserved(question.word, (Attempt("", "initialize", answer, read(answer)),))
    live = await context.live(revision, question.principal)
    call = Call(question.word, _parameters(question))
    message = request(revision, call, next(context.conversation.ids), session=live.session if live else None)
    answer = await send_presented(context, message, presentation)
    return CallObserved(question.word, (Attempt("", "call", answer, read(answer)),))


def _parameters(question: Question) -> dict[str, object]:
    if question.word != "completion/complete":
        return {}
    # A reference that need not exist: without a token the server must not even look.
    return {"ref": {"type": "ref/prompt", "name": "any"}, "argument": {"name": "any", "value": ""}}
