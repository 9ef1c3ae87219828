"""Defects of issuer and audience: honest tokens of, or for, somebody else."""

from collections.abc import Callable
from functools import partial

from mcp_auth_contract.tokens.defects import urls
from mcp_auth_contract.tokens.defects.defect import ABSENT, ACCEPTED, DISPUTED, Break, Defects, claim
from mcp_auth_contract.tokens.spec import TokenSpec

DEFECTS = Defects()
_iss = partial(DEFECTS.table, claim("iss", lambda good: good.profile.issuer))
_aud = partial(DEFECTS.table, claim("aud", lambda good: good.profile.audience))

_OTHER = f"{urls.FOREIGN}/mcp"
_MISSING = {"absent": ABSENT, "null": None, "empty": ""}


# RFC 9068 §4: the issuer identifier "MUST exactly match the value of the 'iss' claim"; RFC 7519 §4.1.1: a string.
_iss("issuer_missing", "The token does not say who issued it.", _MISSING)
_iss("issuer_other", "The token says that a stranger issued it.", {"": urls.FOREIGN})
_iss(
    "issuer_lookalike",
    "The token's issuer resembles the trusted one without being identical to it.",
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
        "dots_replaced": lambda text: text.replace(".", "x"),
        "sibling_path": urls.sibling_path,
        "homoglyph_host": urls.homoglyph_host,
        "punycode_host": urls.punycode_host,
        "trailing_dot_host": urls.trailing_dot_host,
        "default_port": urls.default_port,
        "space_before": lambda iss: f" {iss}",
        "newline_appended": lambda iss: f"{iss}\n",
        "nul_and_more": lambda iss: f"{iss}\0x",
        "byte_order_mark_before": lambda iss: f"\N{ZERO WIDTH NO-BREAK SPACE}{iss}",
        "list": lambda iss: [iss],
        "list_with_other": lambda iss: [urls.FOREIGN, iss],
    },
)
_iss(
    "issuer_trailing_slash",
    "The token's issuer is the trusted one but for a trailing slash; some servers allow that.",
    {"": urls.with_slash_toggled},
    DISPUTED,
)
_iss(
    "issuer_type",
    "The token's issuer is no string (RFC 7519 §4.1.1).",
    {"number": 1, "boolean": True, "empty_list": [], "object": lambda iss: {iss: 1}},
)
_iss(
    "issuer_case",
    "The token's issuer is the trusted one in capitals; some servers allow that.",
    {"scheme": urls.scheme_upper, "host": urls.host_upper},
    DISPUTED,
)


# RFC 9068 §4: "The JWT access token MUST be rejected if 'aud' does not contain a resource indicator of the current
# resource server as a valid audience."
_aud("audience_missing", "The token does not say whom it is for.", _MISSING)


def _without_audience(**claims: Callable[[TokenSpec], object]) -> Break:
    def apply(good: TokenSpec) -> TokenSpec | None:
        values = {name: of(good) for name, of in claims.items()}
        return None if None in values.values() else good.without_claim("aud").with_claims(**values)

    return apply


def _client(good: TokenSpec) -> object:
    return good.claims.get(good.profile.client_claim)


def _resource(good: TokenSpec) -> object:
    return good.profile.audience


DEFECTS.add(
    "audience_in_other_claim",
    "The token does not say whom it is for; it names its client, or this resource, in other claims.",
    {
        "client_as_azp": _without_audience(azp=_client),
        "client_as_client_id": _without_audience(client_id=_client),
        "client_as_appid": _without_audience(appid=_client),
        "resource_as_azp": _without_audience(azp=_resource),
        "resource_as_resource": _without_audience(resource=_resource),
    },
)
_aud("audience_empty_list", "The token's audience is an empty list.", {"": []})
_aud("audience_other", "The token is for another resource.", {"": _OTHER})
_aud(
    "audience_forged_host",
    "The token is for this resource's path on a host that the request names and no configuration knows.",
    {"https": urls.host_forged("https"), "http": urls.host_forged("http")},
)
_aud("audience_list_without_own", "The token is for two other resources.", {"": [_OTHER, f"{urls.FOREIGN}/api"]})
# RFC 7519 §4.1.3: "In the general case, the 'aud' value is an array of case-sensitive strings".
_aud(
    "audience_list_with_own",
    "The token's audience is a list that holds this resource, which is legal (RFC 7519 §4.1.3).",
    {
        "own_only": lambda aud: [aud],
        "own_last": lambda aud: ["urn:other:resource", aud],
        "own_first": lambda aud: [aud, "urn:other:resource"],
    },
    ACCEPTED,
)
_aud(
    "audience_lookalike",
    "The token's audience resembles this resource without being it.",
    {
        "suffixed": lambda aud: f"{aud}2",
        "prefixed": lambda aud: f"x{aud}",
        "prefix_only": urls.proper_prefix,
        "sibling_path": urls.sibling_path,
        "longer_path": lambda aud: f"{aud.rstrip('/')}/admin",
        "path_in_other_case": urls.path_in_other_case,
        "parent_origin": urls.parent_origin,
        "host_suffixed": urls.host_suffixed,
        "dots_replaced": lambda text: text.replace(".", "x"),
        "other_port": urls.other_port,
        "other_scheme": urls.other_scheme,
        "in_query_of_other_host": lambda aud: f"{urls.FOREIGN}/?resource={aud}",
        "joined_by_space": lambda aud: f"{_OTHER} {aud}",
        "joined_by_comma": lambda aud: f"{_OTHER},{aud}",
        "scheme_alone": urls.scheme_alone,
        "with_query": urls.with_query,
        "with_fragment": urls.with_fragment,
        "with_user": urls.with_user,
        "trailing_dot_host": urls.trailing_dot_host,
        "homoglyph_host": urls.homoglyph_host,
        "nul_and_more": lambda aud: f"{aud}\0x",
    },
)
_aud(
    "audience_wildcard",
    "The token's audience is a pattern; audiences are compared, not matched.",
    {
        "star": lambda _: "*",
        "any_host": lambda _: "https://*",
        "any_subdomain": urls.subdomains,
        "any_path": lambda aud: f"{urls.parent_origin(aud) or aud}/*",
    },
)
DEFECTS.table(
    claim("aud"),
    "audience_of_issuer",
    "The token is for its own issuer, as one for the userinfo endpoint is.",
    {"": lambda good: None if good.profile.issuer == good.profile.audience else good.profile.issuer},
)
_aud(
    "audience_object",
    "The token's audience is an object that holds this resource.",
    {"as_member": lambda aud: {aud: 1}, "array_like": lambda aud: {"0": aud, "length": 1}},
)
_aud(
    "audience_trailing_slash",
    "The token's audience is this resource but for a trailing slash; some servers allow that.",
    {"": urls.with_slash_toggled},
    DISPUTED,
)
_aud(
    "audience_type",
    "The token's audience is neither a string nor a list of strings (RFC 7519 §4.1.3).",
    {"number": 1, "boolean": True, "list_of_numbers": [1], "list_of_null": [None], "list_in_list": lambda aud: [[aud]]},
)
_aud(
    "audience_list_mixed",
    "The token's audience is a list that holds this resource among members that are no strings.",
    {"": lambda aud: [1, None, aud]},
    DISPUTED,
)


@DEFECTS.single()
def audience_of_client(good: TokenSpec) -> TokenSpec | None:
    """The token is for the client that asked for it, as an ID token is.

    OpenID Connect Core §2: the aud of an ID token "MUST contain the OAuth 2.0 client_id of the Relying Party".
    """
    client = good.claims.get(good.profile.client_claim)
    return None if client in (None, good.profile.audience) else good.with_claim("aud", client)


@DEFECTS.single()
def audience_in_resource_claim(good: TokenSpec) -> TokenSpec:
    """The token is for another resource; only a claim named resource names this one."""
    return good.with_claims(aud=_OTHER, resource=good.profile.audience)


DEFECTS.table(
    claim("resource"),
    "resource_claim_other",
    "The token is for this resource; a claim named resource names another one.",
    {"": _OTHER},
    DISPUTED,
)
_aud(
    "audience_equivalent",
    "The token's audience is this resource in a spelling that RFC 3986 §6.2 calls equivalent.",
    {
        "scheme_upper": urls.scheme_upper,
        "host_upper": urls.host_upper,
        "default_port": urls.default_port,
        "default_port_padded": urls.default_port_padded,
    },
    DISPUTED,
)
_aud(
    "audience_normal_form",
    "The token's audience becomes this resource when a URL parser has repaired it.",
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
    },
    DISPUTED,
)
