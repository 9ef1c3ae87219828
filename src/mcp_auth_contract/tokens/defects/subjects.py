"""Defects of subject and client: claims that a careless server maps onto somebody else."""

from mcp_auth_contract.tokens.defects.defect import (
    ABSENT,
    INAPPLICABLE,
    Bench,
    Break,
    Defect,
    Expectation,
    Kind,
    Need,
    Variant,
    claim,
    one,
)
from mcp_auth_contract.tokens.defects.lookalikes import LOOKALIKES
from mcp_auth_contract.tokens.defects.values import both, carried, constant, like, own, the_same, values
from mcp_auth_contract.tokens.spec import TokenSpec

__all__ = ["SUBJECT_DEFECTS", "SUBJECT_NOBODY"]

SUBJECT_NOBODY = "mcp-auth-contract-nobody"
"""A subject that no server knows."""

_SUBJECT = frozenset({Need.SUBJECT_REQUIRED})
_LONG = 2000  # with the rest of the token well below the 8 kB that proxies pass on


def _nested_actor(subject: str, depth: int) -> object:
    actor: dict[str, object] = {"sub": subject}
    for _ in range(depth - 1):
        actor = {"sub": subject, "act": actor}
    return actor


_SUBJECTS = (
    Defect(
        name="subject_blank",
        sentence="The token's subject is white space.",
        kind=Kind.CLAIM,
        changes=("claims.{subject}",),
        forms=values("{subject}", {"space": " ", "tab": "\t", "no_break_space": "\u00a0"}),
        needs=_SUBJECT,
    ),
    Defect(
        name="subject_other_type",
        sentence="The token's subject is not a string.",
        kind=Kind.CLAIM,
        changes=("claims.{subject}",),
        forms=(
            *values("{subject}", {"number": 1, "zero": 0, "boolean": True, "empty_list": [], "empty_object": {}}),
            Variant("list", own("{subject}", lambda right: [right])),
            Variant("list_with_other", own("{subject}", lambda right: [SUBJECT_NOBODY, right])),
            Variant("object", own("{subject}", lambda right: {"id": right})),
        ),
        needs=_SUBJECT,
    ),
    Defect(
        name="subject_operator",
        sentence="The token's subject is an operator of a query language (CWE-943).",
        kind=Kind.CLAIM,
        changes=("claims.{subject}",),
        forms=(
            *values("{subject}", {"not_equal": {"$ne": None}, "greater": {"$gt": ""}, "exists": {"$exists": True}}),
            Variant("equal", own("{subject}", lambda right: {"$eq": right})),
        ),
        needs=_SUBJECT,
    ),
    Defect(
        name="subject_hostile",
        sentence="The token's subject is text that means something to an interpreter behind the server.",
        kind=Kind.CLAIM,
        changes=("claims.{subject}",),
        forms=(
            *values(
                "{subject}",
                {
                    "sql_condition": "' OR '1'='1",
                    "percent": "%",
                    "star": "*",
                    "ldap_filter": "*)(uid=*",
                    "template": "{{7*7}}${7*7}",
                    "long": "x" * _LONG,
                },
            ),
            Variant("sql_comment", own("{subject}", lambda right: f"{right}'-- ")),
            Variant("path", own("{subject}", lambda right: f"../{right}")),
            Variant("nul_in_the_middle", own("{subject}", lambda right: f"{right}\0{SUBJECT_NOBODY}")),
            Variant("line_break", own("{subject}", lambda right: f"{SUBJECT_NOBODY}\r\nX-User: {right}")),
        ),
        expectation=Expectation.DISPUTED,
        needs=_SUBJECT,
    ),
    Defect(
        name="subject_lookalike",
        sentence="The token's subject resembles another one without being it; subjects are case-sensitive.",
        kind=Kind.CLAIM,
        changes=("claims.{subject}",),
        forms=like("{subject}", LOOKALIKES),
        expectation=Expectation.DISPUTED,
        needs=_SUBJECT,
    ),
    Defect(
        name="subject_unknown",
        sentence="The token's subject is well formed and nobody the server has heard of.",
        kind=Kind.CLAIM,
        changes=("claims.{subject}",),
        forms=one(claim("{subject}", lambda _: SUBJECT_NOBODY)),
        expectation=Expectation.DISPUTED,
        needs=_SUBJECT,
    ),
    Defect(
        name="subject_in_other_claim",
        sentence="The token speaks for nobody known, and names a user in a claim that is no identifier.",
        kind=Kind.CLAIM,
        changes=("claims.{subject}",),
        forms=(
            *(
                carried(elsewhere, "{subject}", SUBJECT_NOBODY, the_same)
                for elsewhere in ("email", "preferred_username", "username", "user_id", "upn")
            ),
        ),
        expectation=Expectation.DISPUTED,
        needs=_SUBJECT,
    ),
    Defect(
        name="subject_as_actor",
        sentence="The token speaks for nobody known, and names a user as the one who acts.",
        kind=Kind.CLAIM,
        changes=("claims.{subject}",),
        forms=(
            carried("act", "{subject}", SUBJECT_NOBODY, lambda right: {"sub": right}),
            carried("may_act", "{subject}", SUBJECT_NOBODY, lambda right: {"sub": right}),
        ),
        expectation=Expectation.DISPUTED,
        needs=_SUBJECT,
    ),
)


def _client_named_as_user(subject: object) -> Break:
    def apply(bench: Bench) -> TokenSpec | None:
        profile = bench.good.profile
        right = bench.good.claims.get(profile.subject_claim)
        if profile.client_claim == profile.subject_claim:
            return None
        return both(claim("{client}", lambda _: right), claim("{subject}", lambda _: subject))(bench)

    return apply


def _client_as_subject(good: TokenSpec) -> object:
    client = good.claims.get(good.profile.client_claim)
    return client if isinstance(client, str) else INAPPLICABLE


_CLIENT = (
    Defect(
        name="client_named_as_user",
        sentence="The token is a machine's whose client id equals the subject of a user.",
        kind=Kind.CLAIM,
        changes=("claims.{client}", "claims.{subject}"),
        forms=(
            Variant("other_subject", _client_named_as_user(SUBJECT_NOBODY)),
            Variant("no_subject", _client_named_as_user(ABSENT)),
        ),
        expectation=Expectation.DISPUTED,
        needs=_SUBJECT,
    ),
    Defect(
        name="client_only",
        sentence="The token speaks for its client and for no user: the subject is the client id.",
        kind=Kind.CLAIM,
        changes=("claims.{subject}",),
        forms=one(claim("{subject}", _client_as_subject)),
        expectation=Expectation.DISPUTED,
        needs=_SUBJECT,
    ),
    Defect(
        name="client_unusual",
        sentence="The token names no client, an unknown one, or two.",
        kind=Kind.CLAIM,
        changes=("claims.{client}",),
        forms=(
            Variant("absent", claim("{client}", lambda _: ABSENT)),
            Variant("unknown", claim("{client}", lambda _: "mcp-auth-contract-unknown-client")),
            Variant("authorized_party", claim("azp", lambda _: "mcp-auth-contract-other-client"), ("claims.azp",)),
        ),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="token_id_missing",
        sentence="The token has no jti, which RFC 7519 leaves optional and RFC 9068 does not.",
        kind=Kind.CLAIM,
        changes=("claims.jti",),
        forms=one(claim("jti", lambda _: ABSENT)),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="actor_named",
        sentence="The token says who acts, or may act, for its subject, which is legal (RFC 8693 §4).",
        kind=Kind.CLAIM,
        changes=("claims.act",),
        forms=(
            Variant("act", claim("act", lambda _: {"sub": "mcp-auth-contract-agent"})),
            Variant("nested", claim("act", lambda _: _nested_actor("mcp-auth-contract-agent", 20))),
            Variant("may_act", claim("may_act", lambda _: {"sub": "mcp-auth-contract-agent"}), ("claims.may_act",)),
        ),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="privileges_named",
        sentence="The token also lists roles and groups that would make its subject an administrator.",
        kind=Kind.CLAIM,
        changes=("claims.roles",),
        forms=tuple(
            Variant(name, claim(name, constant(value)), (f"claims.{name}",))
            for name, value in (
                ("roles", ["admin"]),
                ("groups", ["administrators"]),
                ("is_admin", True),
            )
        ),
        expectation=Expectation.DISPUTED,
    ),
)

SUBJECT_DEFECTS = (*_SUBJECTS, *_CLIENT)
