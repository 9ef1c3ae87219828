"""Asking the authorization server about an opaque token, one named step per rule (RFC 7662)."""

import asyncio
import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote_plus, urlencode

from starlette.responses import Response

from mcp_auth_contract_lab import verification
from mcp_auth_contract_lab.fetching import Reply, Unreachable, exchange
from mcp_auth_contract_lab.incoming import parse_json
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import IntrospectionFailure, IntrospectionUnavailable, InvalidToken
from mcp_auth_contract_lab.settings import LabSettings
from mcp_auth_contract_lab.verification import Claims, Trust

_CACHE_LIMIT = 1000
_TIMES = (verification.not_expired, verification.already_valid)


def basic_credentials(settings: LabSettings) -> Mapping[str, str]:
    """Identify the server with its own credentials (RFC 7662 §2.1, RFC 6749 §2.3.1)."""
    pair = f"{quote_plus(settings.introspection_client)}:{quote_plus(settings.introspection_secret)}"
    return {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def ask(settings: LabSettings, form: bytes, headers: Mapping[str, str], *, follow: bool = False) -> Reply:
    """Send the request, by default without following redirects, which would tell the token to another."""
    sent = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json", **headers}
    try:
        return exchange(settings.introspection_uri, ca_file=settings.ca_file, form=form, headers=sent, follow=follow)
    except Unreachable:
        raise IntrospectionUnavailable(IntrospectionFailure.UNREACHABLE) from None


def object_of_200(reply: Reply) -> Claims:
    """Only a JSON object with status 200 is an answer (RFC 7662 §2.2, §2.3)."""
    if reply.status != 200:
        raise IntrospectionUnavailable(IntrospectionFailure.STATUS)
    claims = parse_json(reply.body)
    if not isinstance(claims, dict):
        raise IntrospectionUnavailable(IntrospectionFailure.UNREADABLE)
    return claims


def cannot_tell(failure: IntrospectionUnavailable) -> Principal:
    """Whoever cannot be judged is not let in."""
    raise failure


def is_active(claims: Claims, _trust: Trust) -> None:
    """`active` is the JSON value true; nothing else means it (RFC 7662 §2.2)."""
    if claims.get("active") is not True:
        raise InvalidToken("the token is not active")


def bearer_kind(claims: Claims, _trust: Trust) -> None:
    """`token_type`, if there is one, is that of a bearer token (RFC 7662 §2.2, RFC 6749 §5.1)."""
    kind = claims.get("token_type", "bearer")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise InvalidToken("this is not a bearer token")


def issuer_if_named(claims: Claims, trust: Trust) -> None:
    """`iss` is optional, but no other issuer's token is taken (RFC 7662 §2.2)."""
    if "iss" in claims:
        verification.issuer_identical(claims, trust)


@dataclass(frozen=True, slots=True)
class Introspection:
    """The steps in the order in which they run.

    `form` and `credentials` make the request, `ask` sends it and blocks, `read` takes the claims out of the
    answer; the last two raise IntrospectionUnavailable, which `failed` turns into a verdict. Each following
    step raises InvalidToken, or says nothing. `kept_until` is the time up to which the verdict is cached under
    `cache_key`; `outage` is the answer to a request that cannot be judged.
    """

    # Tokens are told apart by every character, and none of them is kept.
    cache_key: Callable[[str], str] = lambda token: hashlib.sha256(token.encode()).hexdigest()
    # Percent-encoded, whatever is in it (RFC 7662 §2.1).
    form: Callable[[str], bytes] = lambda token: urlencode({"token": token, "token_type_hint": "access_token"}).encode()
    credentials: Callable[[LabSettings], Mapping[str, str]] = basic_credentials
    ask: Callable[[LabSettings, bytes, Mapping[str, str]], Reply] = ask
    read: Callable[[Reply], Claims] = object_of_200
    failed: Callable[[IntrospectionUnavailable], Principal] = cannot_tell
    active: Callable[[Claims, Trust], None] = is_active
    audience: Callable[[Claims, Trust], None] = verification.audience_named
    # For a short time, and never beyond the token's end (RFC 7662 §4).
    kept_until: Callable[[Claims, Trust], float] = lambda claims, trust: min(
        trust.now + trust.settings.introspection_ttl, claims["exp"]
    )
    # The server cannot tell, and says when to come back (RFC 9110 §15.6.4).
    outage: Callable[[], Response] = lambda: Response(
        "the token cannot be introspected", 503, {"retry-after": "5"}, "text/plain"
    )


class Introspector:
    """Judges tokens by what the authorization server says, and remembers good verdicts for a moment."""

    def __init__(self, settings: LabSettings, steps: Introspection) -> None:
        self._settings = settings
        self._steps = steps
        self._verdicts: dict[str, tuple[Principal, float]] = {}

    async def principal_of(
        self, token: str, trust: Trust, granted: Callable[[Claims, LabSettings], frozenset[str]]
    ) -> Principal:
        """Return who the token stands for. Raises InvalidToken or IntrospectionUnavailable."""
        steps, key = self._steps, self._steps.cache_key(token)
        principal, until = self._verdicts.get(key, (None, 0.0))
        if principal is not None and trust.now < until:
            return principal
        headers = steps.credentials(self._settings)
        try:
            claims = steps.read(await asyncio.to_thread(steps.ask, self._settings, steps.form(token), headers))
        except IntrospectionUnavailable as failure:
            return steps.failed(failure)
        trust = replace(trust, now=self._settings.clock())
        for step in (steps.active, bearer_kind, issuer_if_named, steps.audience, *_TIMES):
            step(claims, trust)
        principal = verification.principal_named(claims, trust, granted)
        self._keep(key, principal, steps.kept_until(claims, trust))
        return principal

    def _keep(self, key: str, principal: Principal, until: float) -> None:
        self._verdicts.pop(key, None)
        while len(self._verdicts) >= _CACHE_LIMIT:
            del self._verdicts[next(iter(self._verdicts))]
        self._verdicts[key] = (principal, until)
