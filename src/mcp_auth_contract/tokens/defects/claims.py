"""Defects of a claim: the signature is honest, one statement in the payload is wrong."""

from functools import partial

from mcp_auth_contract.tokens.defects.defect import ABSENT, ACCEPTED, Capability, Defects, claim
from mcp_auth_contract.tokens.defects.times import expired_since
from mcp_auth_contract.tokens.spec import TokenSpec

__all__ = ["DEFECTS"]

DEFECTS = Defects()
_exp = partial(DEFECTS.table, claim("exp"))
_aud = partial(DEFECTS.table, claim("aud"))

_SUBJECT = {Capability.SUBJECT_REQUIRED}
_subject = partial(DEFECTS.table, claim("{subject}"), needs=_SUBJECT)
_TENANT = {Capability.TENANT_REQUIRED}
_tenant = partial(DEFECTS.table, claim("{tenant}"), needs=_TENANT)
_NOT_YET_FOR = 60 * 60
_MISSING = {"absent": ABSENT, "null": None, "empty": ""}

# RFC 7519 §4.1.4: the expiration time is the one "on or after which the JWT MUST NOT be accepted for processing";
# §4.1.5: nbf is the time "before which the JWT MUST NOT be accepted". RFC 9068 §2.2 makes exp a required claim.
_exp("expired", "The token expired 15 minutes ago, beyond any leeway.", {"": expired_since})
_exp("expired_long_ago", "The token expired a day ago.", {"": lambda good: int(good.now) - 86400})
DEFECTS.table(
    claim("nbf"),
    "not_yet_valid",
    "The token becomes valid in an hour, beyond any leeway.",
    {"": lambda good: int(good.now + good.profile.leeway) + _NOT_YET_FOR},
)
_exp("without_expiry", "The token never expires: it has no usable exp.", {"absent": ABSENT, "null": None})


@DEFECTS.single(needs={Capability.SCOPES_GRANTED})
def expired_and_unscoped(good: TokenSpec) -> TokenSpec:
    """The token expired 15 minutes ago and has no scope either: the expiry must be told first.

    RFC 6750 §3.1 has insufficient_scope for a request that "requires higher privileges than provided by the access
    token", and invalid_token for one that expired.
    """
    return good.with_claim("exp", expired_since(good)).without_claim(good.profile.scope_claim)


# RFC 9068 §2.2: iss, exp, aud, sub, client_id, iat and jti are required of an access token.
_subject("subject_missing", "The token does not say whom it speaks for.", {"": ABSENT})
_subject("subject_empty", "The token's subject is an empty string.", {"": ""})
_subject("subject_null", "The token's subject is null.", {"": None})
_tenant("tenant_missing", "The token names no tenant.", {"": ABSENT})
_tenant("tenant_empty", "The token's tenant is an empty string.", {"": ""})
_tenant("tenant_null", "The token's tenant is null.", {"": None})
DEFECTS.table(claim("iss"), "issuer_missing", "The token does not say who issued it.", _MISSING)
_aud("audience_missing", "The token does not say whom it is for.", _MISSING)
_aud("audience_empty_list", "The token's audience is an empty list.", {"": []})

# RFC 7519 §4.1.3: "In the general case, the aud value is an array of case-sensitive strings".
_aud(
    "audience_list_with_own",
    "The token's audience is a list that holds this resource, which is legal (RFC 7519 §4.1.3).",
    {
        "own_only": lambda good: [good.profile.audience],
        "own_last": lambda good: ["urn:other:resource", good.profile.audience],
        "own_first": lambda good: [good.profile.audience, "urn:other:resource"],
    },
    ACCEPTED,
)
