"""Faults of the claims: of which kind a token is, who issued it, for whom, how long it is good, what it is bound to."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import format_datetime
from urllib.parse import urlsplit

from starlette.responses import Response

from mcp_auth_contract.clock import system_clock
from mcp_auth_contract_lab.fault import Change, Faults, all_of, with_memory
from mcp_auth_contract_lab.incoming import Incoming
from mcp_auth_contract_lab.principal import Principal
from mcp_auth_contract_lab.refusal import InsufficientScope, InvalidToken
from mcp_auth_contract_lab.scopes import BASIC_SCOPE, granted_scopes
from mcp_auth_contract_lab.sessions import Session, owner_alone
from mcp_auth_contract_lab.steps import (
    DEFAULT_USER,
    accepting,
    always,
    breaking,
    edited,
    fails,
    refusing,
    remembering,
    verifying,
)
from mcp_auth_contract_lab.verification import (
    SOUND,
    Claims,
    Trust,
    already_valid,
    audience_named,
    is_numeric_date,
    not_expired,
)

FAULTS = Faults()

_issuer, _audience, _expiry = accepting("issuer"), accepting("audience"), accepting("expiry")
_after_expiry = breaking("expiry", after=True)
_DAY_S = 86_400
_BEHIND_S = 120
_LARGEST_32_BIT = 2**31 - 1
_OLDEST_S = 10 * 365 * 86_400
_PROLONGED_S = 30
_BINDINGS = frozenset({"jkt", "x5t#S256", "jwk"})
_FOREIGN_CLAIMS = frozenset({"token_use", "typ", "events", "nonce"})


def _token_by(claims: Claims, name: str) -> tuple[object, object]:
    value = claims.get(name)
    return claims.get("jti"), value if isinstance(value, int | float | str) else repr(value)


def _issuer_text(matches: Callable[[str, str], bool]) -> Change:
    """Compare an issuer with the own one in another way as well."""
    return _issuer(lambda claims, trust: isinstance(claims.get("iss"), str)
                   and matches(claims["iss"], trust.settings.issuer))  # fmt: skip


def _one_audience(matches: Callable[[str, str], bool]) -> Change:
    """Compare a single audience with the own one in another way as well."""
    return _audience(lambda claims, trust: isinstance(claims.get("aud"), str)
                     and matches(claims["aud"], trust.settings.resource))  # fmt: skip


def _same_origin(named: str, resource: str) -> bool:
    try:
        ours, theirs = urlsplit(resource), urlsplit(named)
    except ValueError:
        return False
    return (ours.scheme, ours.netloc) == (theirs.scheme, theirs.netloc)


FAULTS.rows(
    ("issuer-ignored", "The issuer is not looked at.", _issuer(always)),
    ("issuer-missing-accepted", "The issuer is compared only where the token names one.",
     _issuer(lambda claims, _trust: claims.get("iss") is None)),
    ("issuer-prefix-accepted", "An issuer that begins with the trusted one is trusted.", _issuer_text(str.startswith)),
    ("issuer-part-accepted", "An issuer that is a part of the trusted one is trusted (CVE-2024-53861).",
     _issuer_text(lambda named, ours: named != "" and named in ours)),
    ("issuer-slash-normalised", "A slash at the end of the issuer makes no difference.",
     _issuer_text(lambda named, ours: named.rstrip("/") == ours.rstrip("/"))),
    ("issuer-of-other-type-accepted", "An issuer that is no string is not compared.",
     _issuer(lambda claims, _trust: not isinstance(claims.get("iss", ""), str | None))),
    ("issuer-list-accepted", "A list that holds the trusted issuer is trusted (CVE-2025-30144).",
     _issuer(lambda claims, trust: isinstance(claims.get("iss"), list) and trust.settings.issuer in claims["iss"])),
    ("issuer-space-stripped", "White space around the issuer makes no difference.",
     _issuer_text(lambda named, ours: named.strip() == ours)),
    ("issuer-cut-at-nul", "The issuer is read up to the first NUL.",
     _issuer_text(lambda named, ours: named.split("\0")[0] == ours)),
    ("issuer-unknown-fails", "The settings of an unknown issuer are looked up, and the request fails.",
     breaking("issuer")(lambda claims, trust: claims.get("iss") != trust.settings.issuer)),
    ("audience-ignored", "The audience is not looked at.", _audience(always)),
    ("audience-missing-accepted", "The audience is compared only where the token names one.",
     _audience(lambda claims, _trust: claims.get("aud") is None)),
    ("audience-replaced-by-azp", "A token without an audience is for whoever has azp in it.",
     _audience(lambda claims, _trust: "aud" not in claims and "azp" in claims)),
    ("audience-empty-list-accepted", "An empty list of audiences counts as every audience.",
     _audience(lambda claims, _trust: claims.get("aud") == [])),
    ("audience-prefix-accepted", "An audience that begins with the own one is taken for it.",
     _one_audience(str.startswith)),
    ("audience-part-accepted", "An audience that contains the own one is taken for it.",
     _one_audience(str.__contains__)),
    ("audience-origin-accepted", "Any audience on the own origin is taken for the own one.",
     _one_audience(_same_origin)),
    ("audience-wildcard-accepted", "An audience with a star in it matches.",
     _one_audience(lambda named, _ours: "*" in named)),
    ("audience-of-issuer-accepted", "A token for the authorization server itself is accepted.",
     _audience(lambda claims, trust: claims.get("aud") == trust.settings.issuer)),
    ("audience-list-unread", "Any list of audiences is accepted, whatever is in it.",
     _audience(lambda claims, _trust: isinstance(claims.get("aud"), list) and claims["aud"] != [])),
    ("audience-list-refused", "A list of audiences is refused even if the own one is in it.",
     refusing("audience")(lambda claims, trust: claims.get("aud") != trust.settings.resource)),
    ("audience-object-accepted", "An object that has the own audience as a member is taken for a list.",
     _audience(lambda claims, trust: isinstance(claims.get("aud"), dict) and trust.settings.resource in claims["aud"])),
    ("audience-of-client-accepted", "A token for the client that asked for it is accepted.",
     _audience(lambda claims, trust: "aud" in claims and claims["aud"] == claims.get(trust.settings.claims.client))),
    ("audience-from-resource-claim", "A claim named resource counts as an audience.",
     _audience(lambda claims, trust: claims.get("resource") == trust.settings.resource)),
    ("audience-split-at-spaces", "A single audience is split at its spaces.",
     _one_audience(lambda named, ours: " " in named and ours in named.split(" "))),
    ("audience-cut-at-nul", "The audience is read up to the first NUL.",
     _one_audience(lambda named, ours: named.split("\0")[0] == ours)),
    ("audience-query-ignored", "Query and fragment of the audience make no difference.",
     _one_audience(lambda named, ours: named.split("?")[0].split("#")[0] == ours)),
    ("audience-member-fails", "The request fails where a member of the list of audiences is no string.",
     breaking("audience")(lambda claims, _trust: isinstance(claims.get("aud"), list)
                          and not all(isinstance(member, str) for member in claims["aud"]))),
    ("resource-claim-fails", "The request fails where a claim named resource names another server.",
     breaking("audience", after=True)(
         lambda claims, trust: claims.get("resource", trust.settings.resource) != trust.settings.resource)),
    ("audience-unknown-fails", "The settings of an unknown audience are looked up, and the request fails.",
     breaking("audience")(fails(audience_named, InvalidToken))),
    ("expiry-ignored", "Expired tokens, and tokens that never expire, are accepted.", _expiry(always)),
    ("expiry-missing-accepted", "A token without exp is accepted.",
     _expiry(lambda claims, _trust: "exp" not in claims)),
    ("leeway-of-a-day", "Tokens live a day longer than they say.",
     verifying(expiry=lambda claims, trust: not_expired(claims, replace(trust, now=trust.now - _DAY_S)))),
    ("not-before-ignored", "Tokens are accepted before their nbf.", accepting("not_before")(always)),
)  # fmt: skip


@FAULTS.step("verification", "expiry")
def scope_before_expiry(claims: Claims, trust: Trust) -> None:
    """The scope is judged before the expiry: an expired token without scopes is answered with 403."""
    held = granted_scopes(claims, trust.settings)
    if not held:
        raise InsufficientScope(frozenset({BASIC_SCOPE}), held)
    not_expired(claims, trust)


def _defaulting(part: str, when: Callable[[Claims, str], bool]) -> Change:
    sound, default = getattr(SOUND, part), getattr(DEFAULT_USER, part)

    def step(claims: Claims, trust: Trust) -> str:
        name = getattr(trust.settings.claims, part)
        return str(default if when(claims, name) else sound(claims, trust))

    return verifying(**{part: step})


def _bound(claims: Claims) -> bool:
    return isinstance(claims["cnf"], dict) and bool(_BINDINGS & set(claims["cnf"]))


def _accepting(typ: str, when: Callable[[Claims, Trust], bool]) -> Change:
    """Accept tokens of one more kind, whose audience is right for that kind."""
    return all_of(accepting("kind")(lambda header, _trust: header.get("typ") == typ), accepting("audience")(when))


FAULTS.rows(
    *(
        (f"{part}-{how}-accepted", f"A token whose {part} is {how} stands for a default {part}.",
         _defaulting(part, when))
        for part in ("subject", "tenant")
        for how, when in (
            ("missing", lambda claims, name: name not in claims),
            ("empty", lambda claims, name: claims.get(name) == ""),
            ("null", lambda claims, name: name in claims and claims[name] is None),
        )
    ),
    ("bound-token-breaks", "A token that is bound to a key breaks the server.",
     breaking("not_before")(lambda claims, _trust: "cnf" in claims and _bound(claims))),
    ("confirmation-breaks", "A confirmation of a kind that nobody has thought of breaks the server.",
     breaking("not_before")(lambda claims, _trust: "cnf" in claims and not _bound(claims))),
    ("id-token-accepted", "An ID token of the same login is taken for an access token.",
     _accepting("JWT", lambda claims, trust: "nonce" in claims
                and claims.get("aud") == claims.get(trust.settings.claims.client))),
    ("refresh-token-accepted", "A refresh token is taken for an access token.",
     _accepting("JWT", lambda claims, trust: claims.get("typ") == "Refresh"
                and claims.get("aud") == trust.settings.issuer)),
    ("assertion-accepted", "An assertion is taken for the access token that it could be exchanged for.",
     _accepting("oauth-id-jag+jwt", lambda claims, trust: (
         (claims.get("aud"), claims.get("resource")) == (trust.settings.issuer, trust.settings.resource)))),
    ("session-token-accepted", "The issuer's own session token is taken for an access token.",
     _accepting("JWT", lambda claims, _trust: "sid" in claims and "aud" not in claims)),
    ("typ-unknown-fails",
     "A verifier is looked up by the type in the header, and the request fails where there is none.",
     breaking("kind")(lambda header, trust: not isinstance(header.get("typ"), str)
                      or header["typ"] not in trust.settings.types)),
    ("kind-ignored", "The type in the header is not looked at.", accepting("kind")(always)),
    ("typ-jwt-accepted", "A token that is no access token by its type is one where its type is JWT.",
     accepting("kind")(lambda header, _trust: header.get("typ") == "JWT")),
    ("typ-long-form-refused", "Only the short form of the access token's media type is known.",
     refusing("kind")(lambda header, _trust: header.get("typ") == "application/at+jwt")),
    ("typ-type-fails", "The request fails where the type in the header is no string.",
     breaking("kind")(lambda header, _trust: not isinstance(header.get("typ", ""), str))),
    ("kind-in-claims-fails", "A verifier is looked up by the kind that the claims suggest, and the request fails.",
     breaking("audience", after=True)(lambda claims, _trust: bool(_FOREIGN_CLAIMS & set(claims)))),
    ("expiry-date-fails", "The request fails where exp is no date of the calendar.",
     _after_expiry(fails(lambda claims, _trust: datetime.fromtimestamp(claims["exp"], UTC),
                         ValueError, OverflowError, OSError))),
    ("expiry-zero-accepted", "An exp of zero counts as none.",
     _expiry(lambda claims, _trust: is_numeric_date(claims.get("exp")) and claims["exp"] == 0)),
    ("expiry-of-other-type-accepted", "An exp that is no number is not compared.",
     _expiry(lambda claims, _trust: claims.get("exp") is not None and not is_numeric_date(claims["exp"]))),
    ("expiry-text-fails", "The request fails where exp is a string.",
     breaking("expiry")(lambda claims, _trust: isinstance(claims.get("exp"), str))),
    ("expiry-32-bits-fail", "The request fails where exp is a fraction, or does not fit in 32 bits.",
     _after_expiry(lambda claims, _trust: claims["exp"] > _LARGEST_32_BIT or isinstance(claims["exp"], float))),
    ("not-before-required", "A token without nbf is refused.",
     refusing("not_before")(lambda claims, _trust: "nbf" not in claims)),
    ("not-before-of-other-type-accepted", "An nbf that is no number is not compared.",
     accepting("not_before")(lambda claims, _trust: not is_numeric_date(claims.get("nbf")))),
    ("not-before-type-fails", "The request fails where nbf is no number.",
     breaking("not_before")(lambda claims, _trust: "nbf" in claims and not is_numeric_date(claims["nbf"]))),
    ("issued-at-type-fails", "The request fails where iat is missing or no number.",
     _after_expiry(lambda claims, _trust: not is_numeric_date(claims.get("iat")))),
    ("issued-at-without-leeway", "A token that was issued a moment from now is refused.",
     refusing("expiry")(lambda claims, trust: is_numeric_date(claims.get("iat")) and claims["iat"] > trust.now + 1)),
    ("issued-at-age-fails", "The request fails where the token's age is negative, or beyond ten years.",
     _after_expiry(lambda claims, trust: is_numeric_date(claims.get("iat"))
                   and not 0 <= trust.now - claims["iat"] < _OLDEST_S)),
    ("verified-tokens-remembered", "A token that was valid once is not looked at again: it works after its expiry.",
     remembering("expiry", lambda claims: _token_by(claims, "exp"))),
)  # fmt: skip


@FAULTS.by(with_memory(lambda not_before: verifying(not_before=not_before)))
def refused_tokens_remembered(refused: dict[object, bool], claims: Claims, trust: Trust) -> None:
    """A token that came before its nbf is refused for ever."""
    try:
        already_valid(claims, trust)
    except InvalidToken:
        refused[_token_by(claims, "nbf")] = True
    if _token_by(claims, "nbf") in refused:
        raise InvalidToken("the token was refused before")


@FAULTS.step("sessions", "usable_by")
def session_ends_with_its_first_token(session: Session, principal: Principal) -> bool:
    """A session takes no token that lives longer than the one that opened it."""
    first, now = session.owner.expires, principal.expires
    prolonged = first is not None and now is not None and now > first + _PROLONGED_S
    return owner_alone(session, principal) and not prolonged


def _behind(step: Callable[[Claims, Trust], None]) -> Callable[[Claims, Trust], None]:
    return lambda claims, trust: step(claims, replace(trust, now=trust.now - _BEHIND_S))


async def _dated_behind(_incoming: Incoming, response: Response) -> Response:
    response.headers["date"] = format_datetime(datetime.fromtimestamp(system_clock() - _BEHIND_S, UTC), usegmt=True)
    return response


FAULTS.rows(
    ("clock-behind", "The server's clock is two minutes behind.",
     all_of(verifying(expiry=_behind(not_expired), not_before=_behind(already_valid)), edited(_dated_behind))),
)  # fmt: skip
