"""How a token is presented: header spellings, places where no token belongs, and two of them at once."""

import base64
import json
from dataclasses import dataclass, field
from urllib.parse import quote

from mcp_auth_contract.probes.vocabulary import CARRIERS

__all__ = ["FOREIGN_ORIGIN", "Presentation", "present"]

FOREIGN_ORIGIN = "https://origin.invalid"
"""An Origin that no server can know: the `invalid` domain is reserved (RFC 2606)."""

_BOGUS_VERSION = "1999-12-31"

_IDENTITY_HEADERS = {
    "header_x_forwarded_user": "X-Forwarded-User",
    "header_x_user_id": "X-User-Id",
    "header_x_remote_user": "X-Remote-User",
    "header_x_goog_user_email": "X-Goog-Authenticated-User-Email",
}
_TOKEN_HEADERS = {
    "header_x_access_token": ("X-Access-Token", ""),
    "header_x_auth_token": ("X-Auth-Token", ""),
    "header_x_api_key": ("X-Api-Key", ""),
    "header_access_token": ("Access-Token", ""),
    "header_token": ("Token", ""),
    "header_x_authorization": ("X-Authorization", "Bearer "),
    "header_underscore": ("Authorization_", "Bearer "),
    "header_x_forwarded_access_token": ("X-Forwarded-Access-Token", ""),
    "header_x_forwarded_authorization": ("X-Forwarded-Authorization", "Bearer "),
    "header_x_original_authorization": ("X-Original-Authorization", "Bearer "),
    "header_x_amzn_oidc_accesstoken": ("X-Amzn-Oidc-Accesstoken", ""),
    "header_cf_access_jwt": ("Cf-Access-Jwt-Assertion", ""),
    "header_proxy_authorization": ("Proxy-Authorization", "Bearer "),
    "header_mcp_param": ("Mcp-Param-Authorization", "Bearer "),
}
_QUERIES = {
    "query_access_token": ("access_token", ""),
    "query_token": ("token", ""),
    "query_bearer": ("bearer", ""),
    "query_authorization": ("authorization", "Bearer "),
    "query_auth": ("auth", ""),
    "query_jwt": ("jwt", ""),
    "query_api_key": ("api_key", ""),
}
_COOKIES = {
    "cookie_access_token": ("access_token", ""),
    "cookie_token": ("token", ""),
    "cookie_authorization": ("Authorization", "Bearer%20"),
    "cookie_session": ("__Host-session", ""),
}
_STANDARD = {
    "bearer": "Bearer {token}",
    "scheme_lower": "bearer {token}",
    "scheme_upper": "BEARER {token}",
    "scheme_mixed": "bEaReR {token}",
}
_LINES = {
    **_STANDARD,
    "scheme_missing": "{token}",
    "scheme_token": "Token {token}",
    "scheme_jwt": "JWT {token}",
    "scheme_dpop": "DPoP {token}",
    "doubled_scheme": "Bearer Bearer {token}",
    "trailing_word": "Bearer {token} extra",
    "two_spaces": "Bearer  {token}",
    "tab": "Bearer\t{token}",
    "trailing_comma": "Bearer {token},",
    "quoted_token": 'Bearer "{token}"',
    "auth_param": 'Bearer token="{token}"',
    "scheme_colon": "Bearer: {token}",
    "scheme_equals": "Bearer={token}",
    "no_break_space": "Bearer\xa0{token}",
    "octet_behind_token": "Bearer {token}\xff",
    "letters_beyond_ascii": "Bearer t\xc3\xb6k\xc3\xa9n",
    "comma_joined_bad_first": "Bearer {forged}, Bearer {token}",
    "comma_joined_good_first": "Bearer {token}, Bearer {forged}",
}
"""The value of the one Authorization line; each character is one octet."""

_BODY_PLACES = {
    "body_member": ("access_token",),
    "body_authorization": ("authorization",),
    "body_meta": ("params", "_meta", "authorization"),
    "body_meta_access_token": ("params", "_meta", "access_token"),
    "body_meta_token": ("params", "_meta", "token"),
    "body_meta_prefixed": ("params", "_meta", "io.modelcontextprotocol/authorization"),
    "body_argument": ("params", "arguments", "access_token"),
}


@dataclass(frozen=True, slots=True)
class Presentation:
    """One way to present a token, as edits of an otherwise complete request.

    `headers` are added, a value in bytes octet for octet; `replaced` headers take the place of the request's own;
    `query` is appended to the URL; `member` is a path into the JSON-RPC message and `value` what is put there.
    `offered` names the place in a report, empty for the Authorization header.
    """

    headers: tuple[tuple[str, str | bytes], ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    query: str = ""
    member: tuple[str, ...] = ()
    value: str = field(default="", repr=False)
    offered: str = ""

    def body(self, message: dict[str, object]) -> dict[str, object]:
        """Return the message with the member set."""
        return _set(message, self.member, self.value) if self.member else message


def _set(message: dict[str, object], path: tuple[str, ...], value: str) -> dict[str, object]:
    head, *rest = path
    if not rest:
        return {**message, head: value}
    inner = message.get(head)
    return {**message, head: _set(inner if isinstance(inner, dict) else {}, tuple(rest), value)}


def present(
    carrier: str, token: str | None, *, forged: str, good: str = "", subject: str
) -> list[tuple[str, Presentation]]:
    """Return the presentations of a carrier with the label of each; most carriers have one.

    `token` is None where none is to be shown; `forged` is a token of the right form by a stranger, `good` the
    principal's unbroken one; `subject` names a principal for the headers in which proxies pass an identity.
    """
    if carrier == "two_headers" and token is not None:
        right, wrong = ("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {forged}")
        return [
            ("good line first", Presentation((right, wrong), offered=CARRIERS[carrier])),
            ("forged line first", Presentation((wrong, right), offered=CARRIERS[carrier])),
        ]
    if carrier == "good_in_argument" and token is not None:
        header = ("Authorization", f"Bearer {token}")
        place = _BODY_PLACES["body_argument"]
        return [("", Presentation((header,), member=place, value=good, offered=CARRIERS[carrier]))]
    return [("", _one(carrier, token, forged, subject))]


def _one(carrier: str, token: str | None, forged: str, subject: str) -> Presentation:
    offered = CARRIERS[carrier]
    if carrier == "header_empty":
        return Presentation((("Authorization", ""),), offered=offered)
    if carrier == "bearer_alone":
        return Presentation((("Authorization", "Bearer"),), offered=offered)
    if carrier in _IDENTITY_HEADERS:
        return Presentation(((_IDENTITY_HEADERS[carrier], subject),), offered=offered)
    if carrier == "header_x_ms_client_principal":
        claims = json.dumps({"auth_typ": "aad", "claims": [{"typ": "sub", "val": subject}]})
        value = base64.b64encode(claims.encode()).decode()
        return Presentation((("X-MS-CLIENT-PRINCIPAL", value),), offered=offered)
    basic = {
        "basic_user_password": (subject, "password"),
        "basic_user_alone": (subject, ""),
        "basic_empty": ("", ""),
        "basic_token_password": ("x", token or ""),
        "basic_token_user": (token or "", ""),
    }
    if carrier in basic:
        return Presentation((("Authorization", _basic(*basic[carrier])),), offered=offered)
    if token is None:
        return Presentation()
    return _with_token(carrier, token, forged, offered)


def _with_token(carrier: str, token: str, forged: str, offered: str) -> Presentation:
    if carrier in _LINES:
        line = _LINES[carrier].format(token=token, forged=forged)
        value = line if line.isascii() else line.encode("latin-1")
        return Presentation((("Authorization", value),), offered="" if carrier in _STANDARD else offered)
    if carrier in _TOKEN_HEADERS:
        name, prefix = _TOKEN_HEADERS[carrier]
        return Presentation(((name, f"{prefix}{token}"),), offered=offered)
    if carrier in _QUERIES:
        name, prefix = _QUERIES[carrier]
        return Presentation(query=_query(name, prefix + token), offered=offered)
    if carrier in _COOKIES:
        name, prefix = _COOKIES[carrier]
        return Presentation((("Cookie", f"{name}={prefix}{token}"),), offered=offered)
    if carrier in _BODY_PLACES:
        place = _BODY_PLACES[carrier]
        value = f"Bearer {token}" if place[-1].endswith("authorization") else token
        return Presentation(member=place, value=value, offered=offered)
    bearer = ("Authorization", f"Bearer {token}")
    match carrier:
        case "two_equal_headers":
            return Presentation((bearer, bearer), offered=offered)
        case "basic_then_bearer":
            return Presentation((("Authorization", _basic("x", "password")), bearer), offered=offered)
        case "query_beside_bad_header":
            bad = ("Authorization", f"Bearer {forged}")
            return Presentation((bad,), query=_query("access_token", token), offered=offered)
        case "query_forged_beside_header":
            return Presentation((bearer,), query=_query("access_token", forged), offered=offered)
        case "foreign_origin":
            return Presentation((bearer, ("Origin", FOREIGN_ORIGIN)), offered=offered)
        case "bogus_version":
            version = (("MCP-Protocol-Version", _BOGUS_VERSION),)
            return Presentation((bearer,), replaced=version, offered=offered)
        case _:
            raise ValueError(f"no presentation for the carrier {carrier}")


def _query(name: str, value: str) -> str:
    return f"{name}={quote(value, safe='')}"


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
