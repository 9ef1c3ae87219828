"""Faults of introspection: what the authorization server says is misread, not waited for, or kept too long."""

import math
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus

from starlette.responses import Response

from mcp_auth_contract.clock import stopwatch
from mcp_auth_contract_lab.credentials import Absent, Credential, Presented
from mcp_auth_contract_lab.fault import Change, Faults, all_of, changing, with_memory
from mcp_auth_contract_lab.fetching import Reply
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.introspection import ask, is_active, object_of_200
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.refusal import IntrospectionFailure, IntrospectionUnavailable
from mcp_auth_contract_lab.settings import LabSettings
from mcp_auth_contract_lab.steps import DEFAULT_USER, sources
from mcp_auth_contract_lab.verification import Claims, Trust

FAULTS = Faults(within=Profile.OPAQUE)

_PATIENCE_S = 1.0
_GRUDGE_S = 400

_introspecting = partial(changing, "introspection")


def _open_on(*failures: IntrospectionFailure) -> Change:
    """Let everybody in while the authorization server fails in some ways."""

    def failed(unavailable: IntrospectionUnavailable) -> Principal:
        if unavailable.failure in failures:
            return DEFAULT_USER
        raise unavailable

    return _introspecting(failed=failed)


def _breaking_on_pages(reply: Reply) -> Claims:
    if reply.media_type == "text/html":
        raise RuntimeError("nobody expected this")
    return object_of_200(reply)


@FAULTS.by(lambda active: _introspecting(active=active, read=_breaking_on_pages))
def introspection_surprises_break(claims: Claims, trust: Trust) -> None:
    """An answer that is legal but unusual ends in a 500."""
    is_active(claims, trust)
    odd = isinstance(claims.get("scope"), list) or claims.get("token_type", "Bearer") != "Bearer" or "aud" not in claims
    if odd or claims["exp"] < claims["iat"]:
        raise RuntimeError("nobody expected this")


@FAULTS.step("introspection", "ask")
def introspection_impatient(settings: LabSettings, form: bytes, headers: Mapping[str, str]) -> Reply:
    """An authorization server that takes more than a second ends in a 500."""
    begun = stopwatch()
    reply = ask(settings, form, headers)
    if stopwatch() - begun > _PATIENCE_S:
        raise RuntimeError("nobody expected this")
    return reply


@FAULTS.by(with_memory(lambda asked: _introspecting(ask=asked)))
def introspection_outage_remembered(
    known: dict[str, list[float]], settings: LabSettings, form: bytes, headers: Mapping[str, str]
) -> Reply:
    """After two answers of 503 in a row the authorization server is not asked again for some minutes."""
    failed = known.setdefault("failed", [])
    if len(failed) > 1 and settings.clock() - failed[-1] < _GRUDGE_S:
        raise IntrospectionUnavailable(IntrospectionFailure.UNREACHABLE)
    reply = ask(settings, form, headers)
    if reply.status == HTTPStatus.SERVICE_UNAVAILABLE:
        failed.append(settings.clock())
    else:
        failed.clear()
    return reply


async def _unread_header(incoming: Incoming) -> Credential:
    scheme, _, token = (incoming.header("authorization") or "").partition(" ")
    return Presented(token) if scheme.lower() == "bearer" and token else Absent()


FAULTS.rows(
    ("introspection-active-truthy", 'Anything but an empty value counts as active, the string "false" too.',
     _introspecting(active=lambda claims, trust: is_active({"active": bool(claims.get("active"))}, trust))),
    ("introspection-active-missing-accepted", "A token of which nobody says whether it is active is accepted.",
     _introspecting(active=lambda claims, trust: (
         None if claims.get("active") is None else is_active(claims, trust)))),
    ("introspection-active-ignored", "Whatever the authorization server says of a token, it is taken to be active.",
     _introspecting(active=lambda _claims, _trust: None)),
    ("introspection-audience-ignored", "An active token for any resource is accepted.",
     _introspecting(audience=lambda _claims, _trust: None)),
    ("introspection-open-on-error-status",
     "While the authorization server answers with an error, everybody is let in.",
     _open_on(IntrospectionFailure.STATUS)),
    ("introspection-open-on-no-answer",
     "While the authorization server does not answer, or with a page, everybody is let in.",
     _open_on(IntrospectionFailure.UNREACHABLE, IntrospectionFailure.UNREADABLE)),
    ("introspection-cached-for-ever", "A token once accepted is accepted for ever, revoked and expired or not.",
     _introspecting(kept_until=lambda _claims, _trust: math.inf)),
    ("introspection-cached-by-prefix", "Cached verdicts are found by the first characters of a token.",
     _introspecting(cache_key=lambda token: token[:16])),
    ("introspection-form-injection",
     "The token is pasted into the form as it is, so that it can bring parameters of its own.",
     all_of(_introspecting(form=lambda token: f"token={token}&token_type_hint=access_token".encode()),
            sources(_unread_header))),
    ("introspection-anonymous", "Tokens are introspected without client authentication.",
     _introspecting(credentials=lambda _settings: {})),
    ("introspection-redirect-followed", "The token goes to wherever the introspection endpoint redirects to.",
     _introspecting(ask=partial(ask, follow=True))),
    ("introspection-500-on-outage", "While tokens cannot be introspected, requests end with 500.",
     _introspecting(outage=lambda: Response("Internal Server Error", 500, media_type="text/plain"))),
)  # fmt: skip
