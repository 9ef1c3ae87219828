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
}
_TOKEN_HEADERS = {
    "header_x_access_token": ("X-Access-Token", ""),
    "header_x_auth_token": ("X-Auth-Token", ""),
    "header_x_forwarded_access_token": ("X-Forwarded-Access-Token", ""),
    "header_x_forwarded_authorization": ("X-Forwarded-Authorization", "Bearer "),
    "header_proxy_authorization": ("Proxy-Authorization", "Bearer "),
    "header_mcp_param": ("Mcp-Param-Authorization", "Bearer "),
}
_QUERIES = {
    "query_access_token": ("access_token", ""),
    "query_token": ("token", ""),
    "query_bearer": ("bearer", ""),
    "query_authorization": ("authorization", "Bearer "),
}
_COOKIES = {
    "cookie_access_token": ("access_token", ""),
    "cookie_token": ("token", ""),
    "cookie_authorization": ("Authorization", "Bearer%20"),
}
_SCHEMES = {
    "bearer": "Bearer ",
    "scheme_lower": "bearer ",
    "scheme_upper": "BEARER ",
    "scheme_mixed": "bEaReR ",
    "scheme_missing": "",
    "scheme_token": "Token ",
    "scheme_jwt": "JWT ",
    "scheme_dpop": "DPoP ",
    "doubled_scheme": "Bearer Bearer ",
}
_BODY_PLACES = {
    "body_member": ("access_token",),
    "body_meta": ("params", "_meta", "authorization"),
    "body_argument": ("params", "arguments", "access_token"),
}


@dataclass(frozen=True, slots=True)
class Presentation:
    """One way to present a token, as edits of an otherwise complete request.

    `headers` are added; `replaced` headers take the place of the request's own; `query` is appended to the URL;
    `member` is a path into the JSON-RPC message and `value` what is put there. `offered` names the place in a report,
    empty for the Authorization header.
    """

    headers: tuple[tuple[str, str], ...] = ()
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


def present(carrier: str, token: str | None, *, forged: str, subject: str) -> list[tuple[str, Presentation]]:
    """Return the presentations of a carrier with the label of each; most carriers have one.

    `token` is None where none is to be shown; `forged` is a token of the right form by a stranger; `subject` names a
    principal for the headers in which proxies pass an identity.
    """
    if carrier == "two_headers" and token is not None:
        good, bad = ("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {forged}")
        return [
            ("good line first", Presentation((good, bad), offered=CARRIERS[carrier])),
            ("forged line first", Presentation((bad, good), offered=CARRIERS[carrier])),
        ]
    return [("", _one(carrier, token, forged, subject))]


def _one(carrier: str, token: str | None, forged: str, subject: str) -> Presentation:
    offered = CARRIERS[carrier]
    if carrier == "header_empty":
        return Presentation((("Authorization", ""),), offered=offered)
    if carrier == "bearer_alone":
        return Presentation((("Authorization", "Bearer"),), offered=offered)
    if carrier == "basic_user_password":
        return Presentation((("Authorization", f"Basic {_basic(subject, 'password')}"),), offered=offered)
    if carrier in _IDENTITY_HEADERS:
        return Presentation(((_IDENTITY_HEADERS[carrier], subject),), offered=offered)
    if carrier == "header_x_ms_client_principal":
        claims = json.dumps({"auth_typ": "aad", "claims": [{"typ": "sub", "val": subject}]})
        value = base64.b64encode(claims.encode()).decode()
        return Presentation((("X-MS-CLIENT-PRINCIPAL", value),), offered=offered)
    if token is None:
        return Presentation()
    return _with_token(carrier, token, forged, offered)


def _with_token(carrier: str, token: str, forged: str, offered: str) -> Presentation:
    if carrier in _SCHEMES:
        standard = carrier in ("bearer", "scheme_lower", "scheme_upper", "scheme_mixed")
        authorization = (("Authorization", f"{_SCHEMES[carrier]}{token}"),)
        return Presentation(authorization, offered="" if standard else offered)
    if carrier in _TOKEN_HEADERS:
        name, prefix = _TOKEN_HEADERS[carrier]
        return Presentation(((name, f"{prefix}{token}"),), offered=offered)
    if carrier in _QUERIES:
        name, prefix = _QUERIES[carrier]
        return Presentation(query=f"{name}={quote(prefix + token, safe='')}", offered=offered)
    if carrier in _COOKIES:
        name, prefix = _COOKIES[carrier]
        return Presentation((("Cookie", f"{name}={prefix}{token}"),), offered=offered)
    if carrier in _BODY_PLACES:
        place = _BODY_PLACES[carrier]
        value = f"Bearer {token}" if place[-1] == "authorization" else token
        return Presentation(member=place, value=value, offered=offered)
    bearer = ("Authorization", f"Bearer {token}")
    match carrier:
        case "basic_token_password":
            return Presentation((("Authorization", f"Basic {_basic('x', token)}"),), offered=offered)
        case "trailing_word":
            return Presentation((("Authorization", f"Bearer {token} extra"),), offered=offered)
        case "comma_joined_bad_first":
            return Presentation((("Authorization", f"Bearer {forged}, Bearer {token}"),), offered=offered)
        case "query_beside_bad_header":
            bad = ("Authorization", f"Bearer {forged}")
            return Presentation((bad,), query=f"access_token={quote(token, safe='')}", offered=offered)
        case "foreign_origin":
            return Presentation((bearer, ("Origin", FOREIGN_ORIGIN)), offered=offered)
        case "bogus_version":
            version = (("MCP-Protocol-Version", _BOGUS_VERSION),)
            return Presentation((bearer,), replaced=version, offered=offered)
        case _:
            raise ValueError(f"no presentation for the carrier {carrier}")


def _basic(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()
