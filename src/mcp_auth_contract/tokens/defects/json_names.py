"""Defects of the names inside a token: given twice, in another case, or where only some readers look.

RFC 7519 §4: "The Claim Names within a JWT Claims Set MUST be unique; JWT parsers MUST either reject JWTs with duplicate Claim
Names or use a JSON parser that returns only the lexically last duplicate member name"; RFC 7515 §4 says it of headers.
"""

from dataclasses import replace
from typing import NamedTuple

from mcp_auth_contract.tokens.defects.defect import Capability, Defects, Expectation
from mcp_auth_contract.tokens.defects.json_texts import members
from mcp_auth_contract.tokens.spec import TokenSpec, compact_json, unsigned

__all__ = ["DEFECTS"]

DEFECTS = Defects()

_OTHER = "urn:mcp-auth-contract:somebody-else"
_NONE = b'"alg":"none"'
_WRONG: dict[str, dict[str, object]] = {"expiry": {"exp": 1}, "audience": {"aud": _OTHER}, "issuer": {"iss": _OTHER}}


def _twice_wrong_last(good: TokenSpec, wrong: dict[str, object]) -> TokenSpec | None:
    if not wrong.keys() <= good.claims.keys():
        return None
    return replace(good, raw_payload=members(b"", good.claims, b"," + compact_json(wrong)[1:-1]))


@DEFECTS.each(_WRONG)
def claim_twice_wrong_last(good: TokenSpec, wrong: dict[str, object]) -> TokenSpec | None:
    """A claim stands there twice, the wrong value last (RFC 7519 §4)."""
    return _twice_wrong_last(good, wrong)


@DEFECTS.each({name: _WRONG[name] for name in ("expiry", "audience")}, Expectation.DISPUTED)
def claim_twice_wrong_first(good: TokenSpec, wrong: dict[str, object]) -> TokenSpec:
    """A claim stands there twice, the wrong value first, which a reader may refuse (RFC 7519 §4)."""
    return replace(good, raw_payload=members(compact_json(wrong)[1:-1] + b",", good.claims, b""))


@DEFECTS.single(Expectation.DISPUTED, needs=frozenset({Capability.SUBJECT_REQUIRED}))
def subject_twice(good: TokenSpec) -> TokenSpec | None:
    """The subject stands there twice, a stranger's last (RFC 7519 §4)."""
    return _twice_wrong_last(good, {good.profile.subject_claim: _OTHER})


@DEFECTS.each({"none_last": (b"", b"," + _NONE), "none_first": (_NONE + b",", b"")})
def alg_twice(good: TokenSpec, around: tuple[bytes, bytes]) -> TokenSpec:
    """The header names two algorithms, one of them none, and the signature is empty."""
    first, last = around
    return replace(good, raw_header=members(first, good.header, last), signature=unsigned)


@DEFECTS.single(Expectation.DISPUTED)
def alg_twice_signed(good: TokenSpec) -> TokenSpec:
    """The header names two algorithms, none first, and the signature is honest."""
    return replace(good, raw_header=members(_NONE + b",", good.header, b""))


class _Named(NamedTuple):
    """A claim, the name that only a sloppy reader takes for it, and the value that is wrong."""

    name: str
    other: str
    wrong: object = _OTHER
    first: bool = False


@DEFECTS.each(
    {
        "audience": _Named("aud", "AUD"),
        "audience_first": _Named("aud", "AUD", first=True),
        "expiry": _Named("exp", "Exp", 1),
        "issuer": _Named("iss", "Iss"),
        "issuer_with_long_s": _Named("iss", "is\u017f"),
    }
)
def claim_in_other_case(good: TokenSpec, claim: _Named) -> TokenSpec:
    """A claim is wrong, and right under a name that differs in case or by a long s.

    RFC 7519 §10.1.1 keeps claim names case-sensitive.
    """
    right = {claim.other: good.claims[claim.name]}
    broken = {**good.claims, claim.name: claim.wrong}
    return replace(good, claims={**right, **broken} if claim.first else {**broken, **right})


@DEFECTS.each({"audience": "aud", "issuer": "iss", "algorithm": ""})
def members_in_prototype(good: TokenSpec, claim: str) -> TokenSpec:
    """What is required is missing, and stands in a member named __proto__."""
    if claim:
        return good.without_claim(claim).with_claim("__proto__", {claim: good.claims[claim]})
    hidden = good.without_header("alg").with_header(__proto__={"alg": "none"})
    return replace(hidden, signature=unsigned)


@DEFECTS.each({"issuer": "iss", "audience": "aud"})
def hostile_claim(good: TokenSpec, claim: str) -> TokenSpec:
    """The token is of an issuer, or for an audience, in characters that no header value may repeat."""
    return good.with_claim(claim, 'https://\r\n"\\<script>\u00e9\u202e.invalid')
