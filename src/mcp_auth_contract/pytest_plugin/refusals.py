"""Assertions about answers of a protected server, which read challenges as a client does."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from mcp_auth_contract.answers import Accepted, Answer, describe, read
from mcp_auth_contract.oauth.challenge import Challenge, Challenges, parse_challenges, scopes_of
from mcp_auth_contract.oauth.challenge_syntax import FaultKind
from mcp_auth_contract.wire.messages import events_in, messages_in

if TYPE_CHECKING:
    from mcp_auth_contract.pytest_plugin.client import Reply

_STATUS_OF = {"invalid_request": 400, "invalid_token": 401, "insufficient_scope": 403}
"""RFC 6750 §3.1."""


class Response(Protocol):
    """What an HTTP client returns: httpx, httpx2 and requests, the test clients of Starlette and FastAPI."""

    @property
    def status_code(self) -> int: ...
    @property
    def headers(self) -> Any: ...
    @property
    def text(self) -> str: ...


def answer_of(response: "Response | Answer | Reply") -> Answer:
    """Return any response as an answer of the kit: a reply of `mcp_client`, an answer, a response of an HTTP client."""
    if isinstance(response, Answer):
        return response
    inner = getattr(response, "answer", None)
    if isinstance(inner, Answer):
        return inner
    status = getattr(response, "status_code", None)
    if not isinstance(status, int):
        raise TypeError(f"no response of an HTTP client: {type(response).__name__}")
    text = str(getattr(response, "text", ""))
    fields = getattr(response, "headers", {})
    # Every line of every field: a second WWW-Authenticate must not hide behind the first one.
    pairs = fields.multi_items() if hasattr(fields, "multi_items") else fields.items()
    headers = tuple((str(name).lower(), str(value)) for name, value in pairs)
    answer = Answer("", "", "", status=status, headers=headers, text=text)
    stream = answer.media_type == "text/event-stream"
    bodies = list(events_in(text)) if stream else [text]
    messages = tuple(message for body in bodies for message in messages_in(body))
    replies = [one for one in messages if "result" in one or "error" in one]
    reply = replies[-1] if replies else None
    return Answer("", "", "", status=status, headers=headers, text=text, messages=messages, reply=reply, stream=stream)


def _challenges(answer: Answer) -> Challenges:
    """The challenges of the header, or else those that a tool's result carries (`mcp/www_authenticate`)."""
    lines = answer.header_lines("www-authenticate")
    if lines:
        return parse_challenges(lines)
    result = (answer.reply or {}).get("result")
    meta = result.get("_meta") if isinstance(result, Mapping) else None
    said = meta.get("mcp/www_authenticate") if isinstance(meta, Mapping) else None
    strings = [said] if isinstance(said, str) else [one for one in said or () if isinstance(one, str)]
    return parse_challenges(strings)


def challenge_of(response: "Response | Answer | Reply") -> Challenge:
    """Return the Bearer challenge of a response (RFC 9110 §11.6.1, RFC 6750 §3).

    Several fields, several schemes in one field, quoted commas and any case are read as a client has to read them.
    Raises AssertionError when there is none, or when its form breaks a rule.
    """
    __tracebackhide__ = True
    answer = answer_of(response)
    challenges = _challenges(answer)
    # A realm without quotes is read by every parser.
    known = [fault for fault in challenges.faults if fault.kind is not FaultKind.UNQUOTED_REALM]
    faults = [fault for fault in known if (fault.scheme or "bearer").lower() == "bearer"]
    if faults:
        said = "; ".join(f"{fault.kind.value} ({fault.detail})" for fault in faults)
        raise AssertionError(f"expected a well-formed Bearer challenge, observed {said}: {list(challenges.lines)}")
    if challenges.bearer is None:
        found = f"{list(challenges.lines)}" if challenges.lines else "no WWW-Authenticate"
        raise AssertionError(f"expected a Bearer challenge, observed {describe(answer)} and {found}")
    return challenges.bearer


def assert_refused(
    response: "Response | Answer | Reply",
    error: str | None = None,
    *,
    status: int | None = None,
    scopes: Iterable[str] = (),
) -> Challenge:
    """See that a server refused a request as RFC 6750 §3 says, and return its Bearer challenge.

    `error` is "invalid_request" (400), "invalid_token" (401) or "insufficient_scope" (403); None stands for a request
    without a token: 401 with a challenge that names no error. `status` replaces the status of the error. `scopes` have
    to be in the challenge's `scope`. A tool's result with `mcp/www_authenticate` is a refusal too, with status 200.
    """
    __tracebackhide__ = True
    answer = answer_of(response)
    accepted = isinstance(read(answer, expects_reply=False), Accepted)
    if accepted:
        raise AssertionError(f"expected a refusal{_named(error)}, observed {describe(answer)}: it was accepted")
    in_result = answer.status == 200 and status is None
    wanted = status or (200 if in_result else _STATUS_OF.get(error or "invalid_token", 401))
    if answer.status != wanted:
        raise AssertionError(f"expected {wanted}{_named(error)}, observed {describe(answer)}")
    challenge = challenge_of(answer)
    if error is None and status is None and challenge.get("error") is not None:
        raise AssertionError(f"expected a challenge without an error code, observed {describe(answer)}")
    if error is not None and challenge.get("error") != error:
        observed = f"{describe(answer)}: {dict(challenge.params)}"
        raise AssertionError(f"expected error={json.dumps(error)}, observed {observed}")
    said = challenge.get("scope")
    missing = sorted(set(scopes) - scopes_of(said or ""))
    if missing:
        observed = "no scope" if said is None else f"scope={json.dumps(said)}"
        raise AssertionError(f"expected the scopes {' '.join(missing)} in the challenge, observed {observed}")
    return challenge


def assert_accepted(response: "Response | Answer | Reply") -> Answer:
    """See that a request had its effect, and return the answer: a 200 can hold a JSON-RPC error or a failed tool."""
    __tracebackhide__ = True
    answer = answer_of(response)
    accepted = isinstance(read(answer, expects_reply=False), Accepted)
    if not accepted:
        raise AssertionError(f"expected the request to be accepted, observed {describe(answer)}: {answer.text[:200]}")
    return answer


def _named(error: str | None) -> str:
    return "" if error is None else f" with error={json.dumps(error)}"
