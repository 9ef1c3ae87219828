"""Defects of issuer and audience: honest tokens of, or for, somebody else."""

from mcp_auth_contract.tokens.defects import urls
from mcp_auth_contract.tokens.defects.defect import (
    INAPPLICABLE,
    Defect,
    Expectation,
    Kind,
    Value,
    Variant,
    claim,
    one,
)
from mcp_auth_contract.tokens.spec import TokenSpec

__all__ = ["IDENTIFIER_DEFECTS"]


def _like_issuer(make: urls.Lookalike) -> Value:
    def value(good: TokenSpec) -> object:
        made = make(good.profile.issuer)
        return INAPPLICABLE if made is None else made

    return value


def _like_audience(make: urls.Lookalike) -> Value:
    def value(good: TokenSpec) -> object:
        made = make(good.profile.audience)
        return INAPPLICABLE if made is None else made

    return value


def _issuer_forms(forms: dict[str, urls.Lookalike]) -> tuple[Variant, ...]:
    return tuple(Variant(name, claim("iss", _like_issuer(make))) for name, make in forms.items())


def _audience_forms(forms: dict[str, urls.Lookalike]) -> tuple[Variant, ...]:
    return tuple(Variant(name, claim("aud", _like_audience(make))) for name, make in forms.items())


def _audience_under_issuer(good: TokenSpec) -> object:
    return INAPPLICABLE if good.profile.audience == good.profile.issuer else good.profile.issuer


def _array_like(good: TokenSpec) -> object:
    return {"0": good.profile.audience, "length": 1}


_ISSUER = (
    Defect(
        name="issuer_other",
        sentence="The token says that a stranger issued it.",
        kind=Kind.CLAIM,
        changes=("claims.iss",),
        forms=one(claim("iss", lambda _: urls.FOREIGN)),
    ),
    Defect(
        name="issuer_lookalike",
        sentence="The token's issuer resembles the trusted one without being identical to it.",
        kind=Kind.CLAIM,
        changes=("claims.iss",),
        forms=(
            *_issuer_forms(
                {
                    "suffixed": lambda iss: f"{iss}.evil.test",
                    "path_appended": lambda iss: f"{iss.rstrip('/')}/lookalike",
                    "character_appended": lambda iss: f"{iss}0",
                    "as_userinfo": lambda iss: f"{iss}@evil.test",
                    "dot_segments": lambda iss: f"{iss.rstrip('/')}/../evil",
                    "prefix_only": urls.proper_prefix,
                    "single_letter": lambda iss: iss[:1],
                    "space_appended": lambda iss: f"{iss} ",
                    "host_suffixed": urls.host_suffixed,
                    "other_port": urls.other_port,
                    "other_scheme": urls.other_scheme,
                    "other_host_spelling": urls.other_host_spelling,
                    "dots_replaced": urls.dots_replaced,
                }
            ),
            Variant("list", claim("iss", lambda good: [good.profile.issuer])),
            Variant("list_with_other", claim("iss", lambda good: [urls.FOREIGN, good.profile.issuer])),
        ),
    ),
    Defect(
        name="issuer_trailing_slash",
        sentence="The token's issuer is the trusted one but for a trailing slash; some servers allow that.",
        kind=Kind.CLAIM,
        changes=("claims.iss",),
        forms=one(claim("iss", _like_issuer(urls.with_slash_toggled))),
        expectation=Expectation.DISPUTED,
    ),
)

_AUDIENCE = (
    Defect(
        name="audience_other",
        sentence="The token is for another resource.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=one(claim("aud", lambda _: f"{urls.FOREIGN}/mcp")),
    ),
    Defect(
        name="audience_list_without_own",
        sentence="The token is for two other resources.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=one(claim("aud", lambda _: [f"{urls.FOREIGN}/mcp", f"{urls.FOREIGN}/api"])),
    ),
    Defect(
        name="audience_lookalike",
        sentence="The token's audience resembles this resource without being it.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=_audience_forms(
            {
                "suffixed": lambda aud: f"{aud}2",
                "prefixed": lambda aud: f"x{aud}",
                "prefix_only": urls.proper_prefix,
                "sibling_path": urls.sibling_path,
                "longer_path": lambda aud: f"{aud.rstrip('/')}/admin",
                "path_in_other_case": urls.path_in_other_case,
                "parent_origin": urls.parent_origin,
                "host_suffixed": urls.host_suffixed,
                "dots_replaced": urls.dots_replaced,
                "other_port": urls.other_port,
                "other_scheme": urls.other_scheme,
                "in_query_of_other_host": urls.in_query_of_other_host,
                "joined_by_space": lambda aud: f"{urls.FOREIGN}/mcp {aud}",
                "joined_by_comma": lambda aud: f"{urls.FOREIGN}/mcp,{aud}",
            }
        ),
    ),
    Defect(
        name="audience_wildcard",
        sentence="The token's audience is a pattern; audiences are compared, not matched.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=_audience_forms(
            {
                "star": lambda _: "*",
                "any_host": lambda _: "https://*",
                "any_path": lambda aud: f"{origin}/*" if (origin := urls.parent_origin(aud)) else f"{aud}/*",
            }
        ),
    ),
    Defect(
        name="audience_of_issuer",
        sentence="The token is for its own issuer, as one for the userinfo endpoint is.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=one(claim("aud", _audience_under_issuer)),
    ),
    Defect(
        name="audience_object",
        sentence="The token's audience is an object that holds this resource.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=(
            Variant("as_member", claim("aud", lambda good: {good.profile.audience: 1})),
            Variant("array_like", claim("aud", _array_like)),
        ),
    ),
    Defect(
        name="audience_trailing_slash",
        sentence="The token's audience is this resource but for a trailing slash; some servers allow that.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=one(claim("aud", _like_audience(urls.with_slash_toggled))),
        expectation=Expectation.DISPUTED,
    ),
)

IDENTIFIER_DEFECTS = (*_ISSUER, *_AUDIENCE)
