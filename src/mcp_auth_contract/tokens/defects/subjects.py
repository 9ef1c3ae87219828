"""Defects of subject, client and tenant: claims that a careless server maps onto somebody else.

RFC 7519 §4.1.2: a subject is case-sensitive, and "MUST either be scoped to be locally unique in the context of the
issuer or be globally unique"; RFC 9068 §5: a client that is its own subject must not be taken for a user.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from mcp_auth_contract.tokens.defects.defect import ABSENT, DISPUTED, Break, Capability, Defects, adding, claim, own
from mcp_auth_contract.tokens.defects.lookalikes import LOOKALIKES
from mcp_auth_contract.tokens.spec import TokenSpec

SUBJECTS = Defects(Capability.SUBJECT_REQUIRED)
CLIENTS = Defects()

SUBJECT_NOBODY = "mcp-auth-contract-nobody"
"""A subject that no server knows."""

OPERATORS: dict[str, object] = {"not_equal": {"$ne": None}, "greater": {"$gt": ""}, "exists": {"$exists": True}}
"""Operators of a query language that many values meet."""

_subject = partial(SUBJECTS.table, claim("{subject}", own("{subject}")))
_LONG = 2000  # with the rest of the token well below the 8 kB that proxies pass on


def carried(elsewhere: str, name: str, nobody: str, wrap: Callable[[str], object] = str) -> Break:
    """Return the break whose claim names nobody while another claim carries the right value."""

    def apply(good: TokenSpec) -> TokenSpec | None:
        written = good.profile.claim_name(name)
        right = good.claims.get(written)
        if not isinstance(right, str) or elsewhere == written:
            return None
        return good.with_claims(**{elsewhere: wrap(right), written: nobody})

    return apply


# RFC 9068 §2.2: iss, exp, aud, sub, client_id, iat and jti are required of an access token.
_subject("subject_missing", "The token does not say whom it speaks for.", {"": ABSENT})
_subject("subject_empty", "The token's subject is an empty string.", {"": ""})
_subject("subject_null", "The token's subject is null.", {"": None})
_subject(
    "subject_blank", "The token's subject is white space.", {"space": " ", "tab": "\t", "no_break_space": "\u00a0"}
)
_subject(
    "subject_other_type",
    "The token's subject is not a string.",
    {
        "number": 1,
        "zero": 0,
        "boolean": True,
        "empty_list": [],
        "empty_object": {},
        "list": lambda right: [right],
        "list_with_other": lambda right: [SUBJECT_NOBODY, right],
        "object": lambda right: {"id": right},
    },
)
_subject(
    "subject_operator",
    "The token's subject is an operator of a query language (CWE-943).",
    OPERATORS | {"equal": lambda right: {"$eq": right}},
)
_subject(
    "subject_hostile",
    "The token's subject is text that means something to an interpreter behind the server.",
    {
        "sql_condition": "' OR '1'='1",
        "percent": "%",
        "star": "*",
        "ldap_filter": "*)(uid=*",
        "template": "{{7*7}}${7*7}",
        "long": "x" * _LONG,
        "sql_comment": lambda right: f"{right}'-- ",
        "path": lambda right: f"../{right}",
        "nul_in_the_middle": lambda right: f"{right}\0{SUBJECT_NOBODY}",
        "line_break": lambda right: f"{SUBJECT_NOBODY}\r\nX-User: {right}",
    },
    DISPUTED,
)
_subject(
    "subject_lookalike",
    "The token's subject resembles another one without being it; subjects are case-sensitive.",
    LOOKALIKES,
    DISPUTED,
)
_subject(
    "subject_unknown",
    "The token's subject is well formed and nobody the server has heard of.",
    {"": SUBJECT_NOBODY},
    DISPUTED,
)


@SUBJECTS.each({name: name for name in ("email", "preferred_username", "username", "user_id", "upn")}, DISPUTED)
def subject_in_other_claim(good: TokenSpec, elsewhere: str) -> TokenSpec | None:
    """The token speaks for nobody known, and names a user in a claim that is no identifier.

    OpenID Connect Core §5.7: only iss and sub together identify an end-user reliably.
    """
    return carried(elsewhere, "{subject}", SUBJECT_NOBODY)(good)


@SUBJECTS.each({"act": "act", "may_act": "may_act"}, DISPUTED)
def subject_as_actor(good: TokenSpec, elsewhere: str) -> TokenSpec | None:
    """The token speaks for nobody known, and names a user as the one who acts.

    RFC 8693 §4.1: act identifies "the acting party to whom authority has been delegated", not the subject.
    """
    return carried(elsewhere, "{subject}", SUBJECT_NOBODY, lambda right: {"sub": right})(good)


@SUBJECTS.each({"other_subject": SUBJECT_NOBODY, "no_subject": ABSENT}, DISPUTED)
def client_named_as_user(good: TokenSpec, subject: object) -> TokenSpec | None:
    """The token is a machine's whose client id equals the subject of a user."""
    profile = good.profile
    if profile.client_claim == profile.subject_claim:
        return None
    return claim("{subject}")(subject)(good.with_claim(profile.client_claim, good.claims.get(profile.subject_claim)))


@SUBJECTS.single(DISPUTED)
def client_only(good: TokenSpec) -> TokenSpec | None:
    """The token speaks for its client and for no user: the subject is the client id.

    RFC 9068 §2.2: where no resource owner takes part, sub "SHOULD correspond to an identifier the authorization server
    uses to indicate the client application".
    """
    client = good.claims.get(good.profile.client_claim)
    return good.with_claim(good.profile.subject_claim, client) if isinstance(client, str) else None


CLIENTS.add(
    "client_unusual",
    "The token names no client, an unknown one, or two.",
    {
        "absent": claim("{client}")(ABSENT),
        "unknown": claim("{client}")("mcp-auth-contract-unknown-client"),
        "authorized_party": claim("azp")("mcp-auth-contract-other-client"),
    },
    DISPUTED,
)
CLIENTS.table(
    claim("jti"),
    "token_id_missing",
    "The token has no jti, which RFC 7519 leaves optional and RFC 9068 does not.",
    {"": ABSENT},
    DISPUTED,
)


def _actor(depth: int) -> dict[str, Any]:
    actor: dict[str, Any] = {"sub": "mcp-auth-contract-agent"}
    return actor if depth == 1 else actor | {"act": _actor(depth - 1)}


CLIENTS.table(
    adding,
    "actor_named",
    "The token says who acts, or may act, for its subject, which is legal (RFC 8693 §4).",
    {"act": {"act": _actor(1)}, "nested": {"act": _actor(20)}, "may_act": {"may_act": _actor(1)}},
    DISPUTED,
)
CLIENTS.table(
    adding,
    "privileges_named",
    "The token also lists roles and groups that would make its subject an administrator.",
    {"roles": {"roles": ["admin"]}, "groups": {"groups": ["administrators"]}, "is_admin": {"is_admin": True}},
    DISPUTED,
)

_ALIASES = {
    **{name: name for name in ("tenant", "tenant_id", "tid", "org_id", "org", "organization_id", "account_id")},
    "camel_case": "tenantId",
    "workspace_id": "workspace_id",
    "cognito": "custom:tenant_id",
    "zitadel": "urn:zitadel:iam:org:id",
}
"""Claims that some issuer names a tenant in."""

_NO_TENANT = "mcp-auth-contract-no-tenant"
"""A tenant that no server knows."""

# Tenants stand in no specification of OAuth: a contract says which claim names them, and that it is required.
TENANTS = Defects(Capability.TENANT_REQUIRED)
_tenant = partial(TENANTS.table, claim("{tenant}", own("{tenant}")))

_tenant("tenant_missing", "The token names no tenant.", {"": ABSENT})
_tenant("tenant_empty", "The token's tenant is an empty string.", {"": ""})
_tenant("tenant_null", "The token's tenant is null.", {"": None})
_tenant(
    "tenant_blank",
    "The token's tenant is white space or an empty value.",
    {"space": " ", "tab": "\t", "empty_list": [], "empty_object": {}, "zero": 0, "boolean": False},
)
_tenant(
    "tenant_other_type",
    "The token's tenant is neither a string nor a list.",
    {"number": 1, "boolean": True, "object": lambda right: {"id": right}},
)
_tenant(
    "tenant_operator",
    "The token's tenant is an operator of a query language (CWE-943).",
    OPERATORS | {"not_equal": {"$ne": ""}, "equal": lambda right: {"$eq": right}},
)
_tenant(
    "tenant_list",
    "The token's tenant is a list.",
    {
        "own_only": lambda right: [right],
        "own_first": lambda right: [right, _NO_TENANT],
        "own_last": lambda right: [_NO_TENANT, right],
    },
    DISPUTED,
)
_tenant("tenant_lookalike", "The token's tenant resembles another one without being it.", LOOKALIKES, DISPUTED)
_tenant(
    "tenant_longer",
    "The token's tenant begins with the name of another, and goes on.",
    {
        "dash": lambda right: f"{right}-eu",
        "path": lambda right: f"{right}/eu",
        "dot": lambda right: f"{right}.eu",
        "colon": lambda right: f"{right}:eu",
        "letter": lambda right: f"{right}x",
    },
    DISPUTED,
)
_sentence = "The token's tenant is well formed and none the server has heard of."
_tenant("tenant_unknown", _sentence, {"": _NO_TENANT}, DISPUTED)
_tenant(
    "tenant_pattern",
    "The token's tenant is a pattern, a path or a list in one string.",
    {
        "percent": "%",
        "star": "*",
        "sql_condition": "' OR '1'='1",
        "regex": ".*",
        "percent_appended": lambda right: f"{right}%",
        "underscore": lambda right: f"{right[:-1]}_",
        "star_appended": lambda right: f"{right[:-1]}*",
        "path": lambda right: f"{_NO_TENANT}/../{right}",
        "comma_joined": lambda right: f"{_NO_TENANT},{right}",
        "space_joined": lambda right: f"{_NO_TENANT} {right}",
    },
    DISPUTED,
)
TENANTS.add(
    "tenant_in_other_claim",
    "The token is of a tenant nobody knows, and names another one in a claim of a similar name.",
    {
        **{form: carried(name, "{tenant}", _NO_TENANT) for form, name in _ALIASES.items()},
        "organization": carried("organization", "{tenant}", _NO_TENANT, lambda right: {"id": right}),
    },
    DISPUTED,
)

DEFECTS = [*SUBJECTS, *CLIENTS, *TENANTS]
