"""Faults of introspection: what the authorization server says is misread, not waited for, or kept too long."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from mcp_auth_contract.clock import stopwatch
from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.credentials import Absent, Credential, Presented
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.somebody import DEFAULT_USER
from mcp_auth_contract_lab.fetching import Reply
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.introspection import ask, is_active, object_of_200
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.refusal import IntrospectionTrouble, IntrospectionUnavailable, InvalidToken
from mcp_auth_contract_lab.settings import LabSettings
from mcp_auth_contract_lab.verification import Claims, Trust

__all__ = ["FAULTS"]

_PREFIX = 16
_PATIENCE_S = 1.0
_GRUDGE_S = 400
_STRIKES = 2
_UNAVAILABLE = 503


def _introspecting(**steps: Any) -> Change:
    return lambda behaviour: replace(behaviour, introspection=replace(behaviour.introspection, **steps))


def _skip(_claims: Claims, _trust: Trust) -> None:
    """Check nothing."""


def _truthy(claims: Claims, _trust: Trust) -> None:
    if not claims.get("active"):
        raise InvalidToken("the token is not active")


def _active_unless_denied(claims: Claims, trust: Trust) -> None:
    if claims.get("active") is not None:
        is_active(claims, trust)


def _open_on(*troubles: IntrospectionTrouble) -> Callable[[IntrospectionUnavailable], Principal]:
    def failed(unavailable: IntrospectionUnavailable) -> Principal:
        if unavailable.trouble in troubles:
            return DEFAULT_USER
        raise unavailable

    return failed


def _for_ever(_claims: Claims, _trust: Trust) -> float:
    return math.inf


def _first_characters(token: str) -> str:
    return token[:_PREFIX]


def _raw_form(token: str) -> bytes:
    return f"token={token}&token_type_hint=access_token".encode()


async def _unread_header(incoming: Incoming) -> Credential:
    scheme, _, token = (incoming.header("authorization") or "").partition(" ")
    return Presented(token) if scheme.lower() == "bearer" and token else Absent()


def _pasted_into_the_form(behaviour: Behaviour) -> Behaviour:
    return replace(
        behaviour,
        introspection=replace(behaviour.introspection, form=_raw_form),
        credentials=replace(behaviour.credentials, sources=(_unread_header,)),
    )


def _nobody(_settings: LabSettings) -> Mapping[str, str]:
    return {}


def _server_error() -> Response:
    return Response("Internal Server Error", 500, media_type="text/plain")


def _active_and_usual(claims: Claims, trust: Trust) -> None:
    is_active(claims, trust)
    odd = isinstance(claims.get("scope"), list) or claims.get("token_type", "Bearer") != "Bearer" or "aud" not in claims
    if odd or claims["exp"] < claims["iat"]:
        raise RuntimeError("nobody expected this")


def _impatient(settings: LabSettings, form: bytes, headers: Mapping[str, str]) -> Reply:
    begun = stopwatch()
    reply = ask(settings, form, headers)
    if stopwatch() - begun > _PATIENCE_S:
        raise RuntimeError("nobody expected this")
    return reply


def _breaks_on_pages(reply: Reply) -> Claims:
    if reply.media_type == "text/html":
        raise RuntimeError("nobody expected this")
    return object_of_200(reply)


def _remembering_failures(behaviour: Behaviour) -> Behaviour:
    failed: list[float] = []

    def asked(settings: LabSettings, form: bytes, headers: Mapping[str, str]) -> Reply:
        if len(failed) >= _STRIKES and settings.clock() - failed[-1] < _GRUDGE_S:
            raise IntrospectionUnavailable(IntrospectionTrouble.UNREACHABLE)
        reply = behaviour.introspection.ask(settings, form, headers)
        if reply.status == _UNAVAILABLE:
            failed.append(settings.clock())
        else:
            failed.clear()
        return reply

    return _introspecting(ask=asked)(behaviour)


_FAULTS = (
    Fault(
        "introspection-outage-remembered",
        "After two answers of 503 in a row the authorization server is not asked again for some minutes.",
        _remembering_failures,
    ),
    Fault(
        "introspection-surprises-break",
        "An answer that is legal but unusual ends in a 500.",
        _introspecting(active=_active_and_usual, read=_breaks_on_pages),
    ),
    Fault(
        "introspection-impatient",
        "An authorization server that takes more than a second ends in a 500.",
        _introspecting(ask=_impatient),
    ),
    Fault(
        "introspection-active-ignored",
        "Whatever the authorization server says of a token, it is taken to be active.",
        _introspecting(active=_skip),
    ),
    Fault(
        "introspection-active-truthy",
        'Anything but an empty value counts as active, the string "false" too.',
        _introspecting(active=_truthy),
    ),
    Fault(
        "introspection-active-missing-accepted",
        "A token of which nobody says whether it is active is accepted.",
        _introspecting(active=_active_unless_denied),
    ),
    Fault(
        "introspection-audience-ignored",
        "An active token for any resource is accepted.",
        _introspecting(audience=_skip),
    ),
    Fault(
        "introspection-open-on-error-status",
        "While the authorization server answers with an error, everybody is let in.",
        _introspecting(failed=_open_on(IntrospectionTrouble.STATUS)),
    ),
    Fault(
        "introspection-open-on-no-answer",
        "While the authorization server does not answer, or with a page, everybody is let in.",
        _introspecting(failed=_open_on(IntrospectionTrouble.UNREACHABLE, IntrospectionTrouble.UNREADABLE)),
    ),
    Fault(
        "introspection-cached-for-ever",
        "A token once accepted is accepted for ever, revoked and expired or not.",
        _introspecting(kept_until=_for_ever),
    ),
    Fault(
        "introspection-cached-by-prefix",
        "Cached verdicts are found by the first characters of a token.",
        _introspecting(cache_key=_first_characters),
    ),
    Fault(
        "introspection-form-injection",
        "The token is pasted into the form as it is, so that it can bring parameters of its own.",
        _pasted_into_the_form,
    ),
    Fault(
        "introspection-anonymous",
        "Tokens are introspected without client authentication.",
        _introspecting(credentials=_nobody),
    ),
    Fault(
        "introspection-500-on-outage",
        "While tokens cannot be introspected, requests end with 500.",
        _introspecting(outage=_server_error),
    ),
)

FAULTS = tuple(replace(fault, within=Profile.OPAQUE) for fault in _FAULTS)
