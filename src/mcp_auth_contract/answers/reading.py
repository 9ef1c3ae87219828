"""Reading an answer: accepted with effect, refused (how), or ambiguous. Nothing else."""

from dataclasses import dataclass
from enum import StrEnum

from mcp_auth_contract.answers.answer import Answer, TransportFailure


class Refusal(StrEnum):
    """The ways in which real servers say no."""

    UNAUTHORIZED = "401"
    FORBIDDEN = "403"
    MALFORMED = "400"
    NOT_SERVED = "not served here"  # 404, 405, 406, 410, 415, 421, 501: the door itself is closed
    OTHER = "other 4xx"
    TOOL_CHALLENGE = "tool result with a challenge"  # isError and _meta["mcp/www_authenticate"]
    TOOL_ERROR = "tool result with isError"
    RPC_ERROR = "JSON-RPC error"


class AmbiguityReason(StrEnum):
    """Why an answer says neither yes nor no."""

    SERVER_ERROR = "server error"
    RATE_LIMITED = "rate limited"
    REDIRECT = "redirect"
    NO_ANSWER = "no answer"
    UNREADABLE = "unreadable answer"


@dataclass(frozen=True, slots=True)
class Accepted:
    """The operation ran: a JSON-RPC result without `isError`, or 2xx where no reply was due."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The operation was denied, in the given way."""

    how: Refusal


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The answer proves neither acceptance nor refusal."""

    why: AmbiguityReason


Reading = Accepted | Refused | Ambiguous


_NOT_SERVED = frozenset({404, 405, 406, 410, 415, 421, 426, 501})


def read(answer: Answer, *, expects_reply: bool = True) -> Reading:
    """Read one answer. `expects_reply` is False for notifications and other requests without a JSON-RPC id."""
    if answer.status is None:
        return Ambiguous(AmbiguityReason.NO_ANSWER)
    status = answer.status
    if status == 501:
        return Refused(Refusal.NOT_SERVED)
    if answer.limits_rate:
        return Ambiguous(AmbiguityReason.RATE_LIMITED)
    if status >= 500:
        return Ambiguous(AmbiguityReason.SERVER_ERROR)
    if status >= 400:
        return Refused(_refusal(status))
    if status >= 300:
        return Ambiguous(AmbiguityReason.REDIRECT)
    if status < 200:
        return Ambiguous(AmbiguityReason.UNREADABLE)
    return _read_success(answer, expects_reply=expects_reply)


def _refusal(status: int) -> Refusal:
    if status == 401:
        return Refusal.UNAUTHORIZED
    if status == 403:
        return Refusal.FORBIDDEN
    if status == 400:
        return Refusal.MALFORMED
    return Refusal.NOT_SERVED if status in _NOT_SERVED else Refusal.OTHER


def _read_success(answer: Answer, *, expects_reply: bool) -> Reading:
    reply = answer.reply
    if reply is None:
        # A page for people, such as a login form, is no answer to any MCP request.
        return (
            Ambiguous(AmbiguityReason.UNREADABLE) if expects_reply or answer.media_type == "text/html" else Accepted()
        )
    result = reply.get("result")
    # A member that is null says nothing. Both at once break JSON-RPC, and a result must not hide behind an error.
    if reply.get("error") is not None:
        return Refused(Refusal.RPC_ERROR) if result is None else Ambiguous(AmbiguityReason.UNREADABLE)
    if not isinstance(result, dict):
        return Ambiguous(AmbiguityReason.UNREADABLE)
    if result.get("isError"):
        meta = result.get("_meta")
        challenged = isinstance(meta, dict) and "mcp/www_authenticate" in meta
        return Refused(Refusal.TOOL_CHALLENGE if challenged else Refusal.TOOL_ERROR)
    return Accepted()


def describe(answer: Answer) -> str:
    """Say in a few words what was observed, as in "observed 401 with error="invalid_token""."""
    if answer.status is None:
        trouble = answer.trouble or TransportFailure.PROTOCOL
        return f"{trouble.value}{f' ({answer.detail})' if answer.detail else ''}"
    said = str(answer.status)
    bearer = answer.challenges.bearer
    error = bearer.get("error") if bearer else None
    if error:
        said += f' with error="{error}"'
    elif answer.status in (401, 403):
        said += " without a WWW-Authenticate header" if not answer.header_lines("www-authenticate") else ""
    match read(answer, expects_reply=False):
        case Accepted():
            return said + (" with a result" if answer.reply is not None else "")
        case Refused(how=Refusal.TOOL_CHALLENGE | Refusal.TOOL_ERROR | Refusal.RPC_ERROR as how):
            return f"{said} with a {how.value}"
        case Ambiguous(why=AmbiguityReason.REDIRECT):
            return f"{said} to {answer.header('location') or 'nowhere'}"
        case _:
            return said
