"""How a token is presented: spellings of the header, places where no token belongs, and two of them at once."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias
from urllib.parse import quote

from mcp_auth_contract.tokens.defects.urls import FORGED_HOST

FOREIGN_ORIGIN = "https://origin.invalid"
"""An Origin that no server can know: the `invalid` domain is reserved (RFC 2606)."""

_UNKNOWN_VERSION = "1999-12-31"


@dataclass(frozen=True, slots=True)
class Presentation:
    """One way to present a token, as edits of an otherwise complete request.

    `headers` are added, a value in bytes octet for octet; `replaced` headers take the place of the request's own;
    `query` is appended to the URL; `member` is a path into the JSON-RPC message and `value` what is put there, an
    object beside what is there. `offered` names the place in a report, empty for the Authorization header.
    """

    headers: tuple[tuple[str, str | bytes], ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    query: str = ""
    member: tuple[str, ...] = ()
    value: object = field(default="", repr=False)
    offered: str = ""

    def body(self, message: dict[str, object]) -> dict[str, object]:
        """Return the message with the member set."""
        return _set(message, self.member, self.value) if self.member else message

    def url(self, endpoint: str) -> str:
        """Return the endpoint's URL with the query appended."""
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{self.query}" if self.query else endpoint


def _set(message: dict[str, object], path: tuple[str, ...], value: object) -> dict[str, object]:
    head, *rest = path
    there = message.get(head)
    inner = there if isinstance(there, dict) else {}
    if rest:
        return {**message, head: _set(inner, tuple(rest), value)}
    return {**message, head: {**inner, **value} if isinstance(value, dict) else value}


@dataclass(frozen=True, slots=True)
class Presented:
    """What there is to present: a token, None for no token; and what may stand in its place.

    `forged` is a token of the right form by a stranger, `good` the principal's unbroken one; `subject` names a
    principal for the headers in which proxies pass an identity.
    """

    token: str | None = field(repr=False)
    forged: str = field(default="", repr=False)
    good: str = field(default="", repr=False)
    subject: str = ""


_Build: TypeAlias = Callable[[Presented], Sequence[tuple[str, Presentation]]]
_Words: TypeAlias = Callable[[Presented], str]


def bearer(token: str) -> Presentation:
    """Present a token as RFC 6750 §2.1 says."""
    return Presentation((("Authorization", f"Bearer {token}"),))


def _way(words: str, make: Callable[[Presented], Presentation], *, tokenless: bool = False) -> tuple[str, _Build]:
    """A way with one form; without a token it sends nothing at all, unless it needs none."""

    def build(given: Presented) -> Sequence[tuple[str, Presentation]]:
        if given.token is None and not tokenless:
            return [("", Presentation())]
        return [("", replace(make(given), offered=words))]

    return words, build


def _fields(words: str, *fields: tuple[str, str | _Words], tokenless: bool = False) -> tuple[str, _Build]:
    """Header fields, each by a template or made otherwise; each character of a template is one octet."""

    def make(given: Presented) -> Presentation:
        lines = [(name, _written(line, given) if isinstance(line, str) else line(given)) for name, line in fields]
        return Presentation(tuple(lines))

    return _way(words, make, tokenless=tokenless)


def _written(template: str, given: Presented) -> str | bytes:
    line = template.format(token=given.token, forged=given.forged, subject=given.subject)
    return line if line.isascii() else line.encode("latin-1")


def _line(template: str, words: str | None = None) -> tuple[str, _Build]:
    """One Authorization line."""
    return _fields(words or f"Authorization: {template.replace('{token}', '<token>')}", ("Authorization", template))


def _standard(scheme: str) -> tuple[str, _Build]:
    """The Authorization line of RFC 6750 §2.1, in one of its spellings: no place of its own to report."""
    words, build = _line(f"{scheme} {{token}}")
    return words, lambda given: [("", replace(one, offered="")) for _, one in build(given)]


def _header(name: str, prefix: str = "") -> tuple[str, _Build]:
    return _fields(f"{name}: {prefix}<token>", (name, f"{prefix}{{token}}"))


def _cookie(name: str, prefix: str = "") -> tuple[str, _Build]:
    return _fields(f"Cookie: {name}={prefix}<token>", ("Cookie", f"{name}={prefix}{{token}}"))


def _named(name: str, value: str | _Words = "{subject}", what: str = "subject") -> tuple[str, _Build]:
    """A header in which a proxy passes the identity of a principal."""
    return _fields(f"{name} with a principal's {what}", (name, value), tokenless=True)


def _basic(words: str, template: str) -> tuple[str, _Build]:
    """An Authorization line with Basic, by a template of its credentials."""

    def line(given: Presented) -> str:
        return _basic_value(template.format(token=given.token or "", subject=given.subject))

    return _fields(f"Authorization: Basic with {words}", ("Authorization", line), tokenless=True)


def _basic_value(credentials: str) -> str:
    return "Basic " + base64.b64encode(credentials.encode()).decode()


def _query(name: str, prefix: str = "") -> tuple[str, _Build]:
    return _way(f"?{name}={prefix}<token>", lambda given: Presentation(query=_pair(name, f"{prefix}{given.token}")))


def _member(*path: str) -> tuple[str, _Build]:
    """A member of the JSON-RPC message."""
    place = "the JSON-RPC message" if len(path) == 1 else ".".join(path[:-1])
    words = f"an argument {path[-1]}" if "arguments" in path else f"a member {path[-1]} in {place}"
    prefix = "Bearer " if path[-1].endswith("authorization") else ""
    return _way(words, lambda given: Presentation(member=path, value=f"{prefix}{given.token}"))


def _pair(name: str, value: str) -> str:
    return f"{name}={quote(value, safe='')}"


def _two_headers(given: Presented) -> Sequence[tuple[str, Presentation]]:
    if given.token is None:
        return [("", Presentation())]
    right, wrong = *bearer(given.token).headers, *bearer(given.forged).headers
    first, second = Presentation((right, wrong), offered=_TWO), Presentation((wrong, right), offered=_TWO)
    return [("good line first", first), ("forged line first", second)]


def _claims_header(given: Presented) -> str:
    claims = json.dumps({"auth_typ": "aad", "claims": [{"typ": "sub", "val": given.subject}]})
    return base64.b64encode(claims.encode()).decode()


_BEARER = ("Authorization", "Bearer {token}")
_TWO = "two Authorization lines, one with the good token and one with a forged one"
_ARGUMENT = "the principal's good token as argument access_token, beside another token in the header"


def _foreign_host(name: str, value: str, *more: tuple[str, str]) -> tuple[str, _Build]:
    words = f"Authorization: Bearer <token>, and {name} with a host nobody knows"
    return _fields(words, _BEARER, (name, value), *more)


_WAYS: Mapping[str, tuple[str, _Build]] = {
    "bearer": _standard("Bearer"),
    "scheme_lower": _standard("bearer"),
    "scheme_upper": _standard("BEARER"),
    "scheme_mixed": _standard("bEaReR"),
    "scheme_missing": _line("{token}"),
    "scheme_token": _line("Token {token}"),
    "scheme_jwt": _line("JWT {token}"),
    "scheme_dpop": _line("DPoP {token}", "Authorization: DPoP <token>, without a proof"),
    "header_empty": _fields("Authorization with an empty value", ("Authorization", ""), tokenless=True),
    "bearer_alone": _fields("Authorization: Bearer, and nothing after it", ("Authorization", "Bearer"), tokenless=True),
    "basic_user_password": _basic("a user name and a password", "{subject}:password"),
    "basic_token_password": _basic("the token as password", "x:{token}"),
    "basic_token_user": _basic("the token as user name", "{token}:"),
    "basic_user_alone": _basic("a user name and an empty password", "{subject}:"),
    "basic_empty": _basic("empty user name and password", ":"),
    "trailing_word": _line("Bearer {token} extra", "Authorization: Bearer <token> and one more word"),
    "doubled_scheme": _line("Bearer Bearer {token}"),
    "two_spaces": _line("Bearer  {token}", "Authorization: Bearer, two spaces, <token>"),
    "tab": _line("Bearer\t{token}", "Authorization: Bearer, a tab, <token>"),
    "trailing_comma": _line("Bearer {token},"),
    "quoted_token": _line('Bearer "{token}"'),
    "auth_param": _line('Bearer token="{token}"'),
    "scheme_colon": _line("Bearer: {token}"),
    "scheme_equals": _line("Bearer={token}"),
    "no_break_space": _line("Bearer\xa0{token}", "Authorization: Bearer, a no-break space in Latin-1, <token>"),
    "octet_behind_token": _line("Bearer {token}\xff", "Authorization: Bearer <token> with the octet FF behind it"),
    "letters_beyond_ascii": _line("Bearer t\xc3\xb6k\xc3\xa9n", "Authorization: Bearer tökén in UTF-8"),
    "comma_joined_bad_first": _line(
        "Bearer {forged}, Bearer {token}", "one Authorization line with a forged and the good token, joined by a comma"
    ),
    "comma_joined_good_first": _line(
        "Bearer {token}, Bearer {forged}", "one Authorization line with the good and a forged token, joined by a comma"
    ),
    "two_headers": (_TWO, _two_headers),
    "two_equal_headers": _fields("two Authorization lines with the same token", _BEARER, _BEARER),
    "basic_then_bearer": _fields(
        "an Authorization line with Basic, and one with Bearer <token>",
        ("Authorization", _basic_value("x:password")),
        _BEARER,
    ),
    "query_access_token": _query("access_token"),
    "query_token": _query("token"),
    "query_bearer": _query("bearer"),
    "query_authorization": _query("authorization", "Bearer "),
    "query_auth": _query("auth"),
    "query_jwt": _query("jwt"),
    "query_api_key": _query("api_key"),
    "query_forged_beside_header": _way(
        "?access_token=<forged token> beside the good token in the header",
        lambda it: replace(bearer(it.token or ""), query=_pair("access_token", it.forged)),
    ),
    "query_beside_bad_header": _way(
        "?access_token=<token> beside a forged token in the header",
        lambda it: replace(bearer(it.forged), query=_pair("access_token", it.token or "")),
    ),
    "body_member": _member("access_token"),
    "body_authorization": _member("authorization"),
    "body_meta": _member("params", "_meta", "authorization"),
    "body_meta_access_token": _member("params", "_meta", "access_token"),
    "body_meta_token": _member("params", "_meta", "token"),
    "body_meta_prefixed": _member("params", "_meta", "io.modelcontextprotocol/authorization"),
    "body_argument": _member("params", "arguments", "access_token"),
    "good_in_argument": _way(
        _ARGUMENT,
        lambda it: replace(bearer(it.token or ""), member=("params", "arguments", "access_token"), value=it.good),
    ),
    "cookie_access_token": _cookie("access_token"),
    "cookie_token": _cookie("token"),
    "cookie_authorization": _cookie("Authorization", "Bearer%20"),
    "cookie_session": _cookie("__Host-session"),
    "header_x_access_token": _header("X-Access-Token"),
    "header_x_auth_token": _header("X-Auth-Token"),
    "header_x_api_key": _header("X-Api-Key"),
    "header_access_token": _header("Access-Token"),
    "header_token": _header("Token"),
    "header_x_authorization": _header("X-Authorization", "Bearer "),
    "header_underscore": _header("Authorization_", "Bearer "),
    "header_x_forwarded_access_token": _header("X-Forwarded-Access-Token"),
    "header_x_forwarded_authorization": _header("X-Forwarded-Authorization", "Bearer "),
    "header_x_original_authorization": _header("X-Original-Authorization", "Bearer "),
    "header_x_amzn_oidc_accesstoken": _header("X-Amzn-Oidc-Accesstoken"),
    "header_cf_access_jwt": _header("Cf-Access-Jwt-Assertion"),
    "header_proxy_authorization": _header("Proxy-Authorization", "Bearer "),
    "header_mcp_param": _header("Mcp-Param-Authorization", "Bearer "),
    "header_x_forwarded_user": _named("X-Forwarded-User"),
    "header_x_user_id": _named("X-User-Id"),
    "header_x_remote_user": _named("X-Remote-User"),
    "header_x_goog_user_email": _named("X-Goog-Authenticated-User-Email"),
    "header_x_forwarded_user_underscored": _named("X_Forwarded_User"),
    "header_x_user_id_underscored": _named("X_User_Id"),
    "header_x_remote_user_underscored": _named("X_Remote_User"),
    "header_remote_user": _named("Remote-User"),
    "header_remote_user_underscored": _named("Remote_User"),
    "header_x_auth_request_user": _named("X-Auth-Request-User"),
    "header_x_authenticated_user": _named("X-Authenticated-User"),
    "header_x_ms_client_principal": _named("X-MS-CLIENT-PRINCIPAL", _claims_header, "claims"),
    "bearer_forwarded_host": _foreign_host("X-Forwarded-Host", FORGED_HOST, ("X-Forwarded-Proto", "https")),
    "bearer_forwarded": _foreign_host("Forwarded", f"host={FORGED_HOST};proto=https"),
    "bearer_host": _foreign_host("Host", FORGED_HOST),
    "foreign_origin": _fields(
        "Authorization: Bearer <token>, and an Origin nobody knows", _BEARER, ("Origin", FOREIGN_ORIGIN)
    ),
    "bogus_version": _way(
        "Authorization: Bearer <token>, and an MCP-Protocol-Version that does not exist",
        lambda it: replace(bearer(it.token or ""), replaced=(("MCP-Protocol-Version", _UNKNOWN_VERSION),)),
    ),
}

PRESENTATIONS: Mapping[str, str] = MappingProxyType({name: words for name, (words, _) in _WAYS.items()})
"""Every way in which a token may be presented, and what it looks like."""


def present(presentation: str, given: Presented) -> Sequence[tuple[str, Presentation]]:
    """Return the forms of a presentation with the label of each; most have one."""
    _, build = _WAYS[presentation]
    return build(given)
