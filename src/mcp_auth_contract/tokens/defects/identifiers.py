"""Defects of issuer and audience: honest tokens of, or for, somebody else."""

from mcp_auth_contract.tokens.defects import urls
from mcp_auth_contract.tokens.defects.defect import (
    INAPPLICABLE,
    Bench,
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


def _audience_of_client(good: TokenSpec) -> object:
    client = good.claims.get(good.profile.client_claim)
    return INAPPLICABLE if client is None or client == good.profile.audience else client


def _in_resource_claim(bench: Bench) -> TokenSpec | None:
    return bench.good.with_claim("aud", f"{urls.FOREIGN}/mcp").with_claim("resource", bench.good.profile.audience)


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
                    "sibling_path": urls.sibling_path,
                    "homoglyph_host": urls.homoglyph_host,
                    "punycode_host": urls.punycode_host,
                    "trailing_dot_host": urls.trailing_dot_host,
                    "default_port": urls.default_port,
                    "space_before": lambda iss: f" {iss}",
                    "newline_appended": lambda iss: f"{iss}\n",
                    "nul_and_more": lambda iss: f"{iss}\0x",
                    "byte_order_mark_before": lambda iss: f"\N{ZERO WIDTH NO-BREAK SPACE}{iss}",
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
    Defect(
        name="issuer_type",
        sentence="The token's issuer is no string (RFC 7519 §4.1.1).",
        kind=Kind.CLAIM,
        changes=("claims.iss",),
        forms=(
            Variant("number", claim("iss", lambda _: 1)),
            Variant("boolean", claim("iss", lambda _: True)),
            Variant("empty_list", claim("iss", lambda _: [])),
            Variant("object", claim("iss", lambda good: {good.profile.issuer: 1})),
        ),
    ),
    Defect(
        name="issuer_case",
        sentence="The token's issuer is the trusted one in capitals; some servers allow that.",
        kind=Kind.CLAIM,
        changes=("claims.iss",),
        forms=_issuer_forms({"scheme": urls.scheme_upper, "host": urls.host_upper}),
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
                "scheme_alone": urls.scheme_alone,
                "with_query": urls.with_query,
                "with_fragment": urls.with_fragment,
                "with_user": urls.with_user,
                "trailing_dot_host": urls.trailing_dot_host,
                "homoglyph_host": urls.homoglyph_host,
                "nul_and_more": lambda aud: f"{aud}\0x",
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
                "any_subdomain": urls.subdomains,
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
    Defect(
        name="audience_type",
        sentence="The token's audience is neither a string nor a list of strings (RFC 7519 §4.1.3).",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=(
            Variant("number", claim("aud", lambda _: 1)),
            Variant("boolean", claim("aud", lambda _: True)),
            Variant("list_of_numbers", claim("aud", lambda _: [1])),
            Variant("list_of_null", claim("aud", lambda _: [None])),
            Variant("list_in_list", claim("aud", lambda good: [[good.profile.audience]])),
        ),
    ),
    Defect(
        name="audience_list_mixed",
        sentence="The token's audience is a list that holds this resource among members that are no strings.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=one(claim("aud", lambda good: [1, None, good.profile.audience])),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="audience_of_client",
        sentence="The token is for the client that asked for it, as an ID token is.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=one(claim("aud", _audience_of_client)),
    ),
    Defect(
        name="audience_in_resource_claim",
        sentence="The token is for another resource; only a claim named resource names this one.",
        kind=Kind.CLAIM,
        changes=("claims.aud", "claims.resource"),
        forms=one(_in_resource_claim),
    ),
    Defect(
        name="resource_claim_other",
        sentence="The token is for this resource; a claim named resource names another one.",
        kind=Kind.CLAIM,
        changes=("claims.resource",),
        forms=one(claim("resource", lambda _: f"{urls.FOREIGN}/mcp")),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="audience_equivalent",
        sentence="The token's audience is this resource in a spelling that RFC 3986 §6.2 calls equivalent.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=_audience_forms(
            {
                "scheme_upper": urls.scheme_upper,
                "host_upper": urls.host_upper,
                "default_port": urls.default_port,
                "default_port_padded": urls.default_port_padded,
            }
        ),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="audience_normal_form",
        sentence="The token's audience becomes this resource when a URL parser has repaired it.",
        kind=Kind.CLAIM,
        changes=("claims.aud",),
        forms=_audience_forms(
            {
                "dot_segments": urls.dot_segments,
                "path_percent_encoded": urls.path_percent_encoded,
                "backslashes": urls.backslashes,
                "scheme_without_slashes": urls.scheme_without_slashes,
                "tab_inside": urls.inside("\t"),
                "newline_inside": urls.inside("\n"),
                "full_width_host": urls.full_width_host,
                "ideographic_dots": urls.ideographic_dots,
                "space_appended": lambda aud: f"{aud} ",
                "newline_appended": lambda aud: f"{aud}\n",
            }
        ),
        expectation=Expectation.DISPUTED,
    ),
)

IDENTIFIER_DEFECTS = (*_ISSUER, *_AUDIENCE)
