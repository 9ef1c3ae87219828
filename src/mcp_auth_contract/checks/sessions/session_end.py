"""The end of a session, asked for without a token."""

from mcp_auth_contract.answers import Accepted, Attempt, read
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.sessions.observation import SessionEndObserved
from mcp_auth_contract.wire import (
    Request,
    operation_call,
    read_headers,
)


async def ask_session_end(question: Question, context: Context) -> SessionEndObserved:
    """Open a session, DELETE it without a token, and use it once more with one."""
    revision, principal, operation = question.revision, question.principal, question.operation
    if revision is None or principal is None or operation is None:
        raise ValueError("the end of a session needs a revision, a principal and an operation")
    if revision.stateless:
        return SessionEndObserved(session=False, ended=None, after=None)
    conversation, bearer = context.conversation, context.bearer(principal)
    handshake = await conversation.open_session(revision, bearer, note="a session to be ended")
    if handshake.session is None:
        return SessionEndObserved(session=False, ended=None, after=None)
    headers = read_headers(handshake.revision, handshake.session, accept="*/*")
    ended = await conversation.door.send(Request("DELETE", context.endpoint, headers))
    call = operation_call(operation.kind, operation.name, operation.arguments)
    answer = await conversation.call(handshake.revision, call, bearer, session=handshake.session)
    after = Attempt("in the session after DELETE", "call", answer, read(answer))
    if isinstance(after.reading, Accepted):
        await conversation.close_session(handshake, bearer)
    return SessionEndObserved(session=True, ended=ended, after=after)
