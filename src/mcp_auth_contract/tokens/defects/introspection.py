"""Defects of introspection: what the issuer answers when it is asked about an opaque token.

RFC 7662 §2.2: active is a required "Boolean indicator of whether or not the presented token is currently active".
"""

from dataclasses import replace
from functools import partial

from mcp_auth_contract.tokens.defects.defect import ABSENT, ACCEPTED, DISPUTED, Break, Capability, Defects, claim, own
from mcp_auth_contract.tokens.defects.times import expired_since
from mcp_auth_contract.tokens.mint import SPECIAL_CHARACTERS

DEFECTS = Defects(Capability.OPAQUE)
_active = partial(DEFECTS.table, claim("active"))


def _answered(way: str) -> Break:
    return lambda good: replace(good, introspection=way)


_answer = partial(DEFECTS.table, _answered)
_active("introspection_inactive", "The issuer says that the token is not active.", {"": False})
DEFECTS.add(
    "introspection_active_missing",
    "The issuer does not say whether the token is active.",
    {"null": claim("active")(None), "empty_object": _answered("empty_object")},
)
_active(
    "introspection_active_no_boolean",
    "The issuer says something else than true or false about the token being active.",
    {"text_false": "false", "number_zero": 0, "list": [False]},
)
_TROUBLES = (
    "outage_503",
    "error_500",
    "unauthorized_401",
    "not_found",
    "html_page",
    "invalid_json",
    "empty_body",
    "null",
    "top_level_list",
)
_answer(
    "introspection_unanswered",
    "The issuer gives no usable answer about the token.",
    {trouble: trouble for trouble in _TROUBLES},
    disturbs=True,
)
_answer(
    "introspection_special_characters",
    "The token holds the characters +, /, ~ and =, which RFC 6750 §2.1 allows.",
    {"": SPECIAL_CHARACTERS},
    ACCEPTED,
)
_HANGING = "The issuer takes three seconds to answer about the token, in which nothing is known of it."
for _name, _sentence, _way in (
    ("introspection_hanging", _HANGING, "slow_3s"),
    ("introspection_redirected", "The issuer answers about the token with a redirect.", "introspection_moved"),
    ("introspection_other_media_type", "The issuer's answer is right but called text/html.", "wrong_content_type"),
):
    _answer(_name, _sentence, {"": _way}, DISPUTED, disturbs=True)
DEFECTS.table(
    claim("exp"),
    "introspection_expired",
    "The issuer calls a token active whose exp has passed; some servers leave that to the issuer.",
    {"": expired_since},
    DISPUTED,
)
DEFECTS.table(
    claim("aud"),
    "introspection_audience_missing",
    "The issuer does not say whom the token is for; some servers are the only ones of their issuer.",
    {"": ABSENT},
    DISPUTED,
)
DEFECTS.table(
    claim("token_type"),
    "introspection_other_type",
    "The issuer says that the token is of another type than Bearer.",
    {"refresh_token": "refresh_token", "dpop": "DPoP"},
    DISPUTED,
)
DEFECTS.table(
    claim("{scope}", own("{scope}")),
    "introspection_scope_list",
    "The issuer lists the scopes in an array, which RFC 7662 does not provide for.",
    {"": str.split},
    DISPUTED,
    needs={Capability.SCOPES_GRANTED},
)
