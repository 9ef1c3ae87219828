"""Reading the form of a request to an OAuth endpoint (RFC 6749 §3.2, RFC 7662 §2.1)."""

import base64
import binascii
from urllib.parse import parse_qsl

from starlette.requests import Request

from mcp_auth_contract.issuer.introspection import ClientAuthentication

_BODY_LIMIT = 64 * 1024
_NAMES = frozenset(
    {"token", "token_type_hint", "client_id", "client_secret", "client_assertion", "client_assertion_type"}
)


class Form:
    """The parameters in the order in which they came; never shown."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self._pairs = pairs

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order; one that no introspection request has is "other"."""
        return tuple(name if name in _NAMES else "other" for name, _ in self._pairs)

    def get(self, name: str) -> str | None:
        """Return the first value, or None."""
        return next((value for key, value in self._pairs if key == name), None)

    def single(self, name: str) -> str | None:
        """Return the value of a parameter that comes once, or None (RFC 6749 §3.2 forbids repeating one)."""
        values = [value for key, value in self._pairs if key == name]
        return values[0] if len(values) == 1 else None

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None


async def read_form(request: Request) -> Form:
    """Return the form; an empty one for a body that is too long."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _BODY_LIMIT:
            return Form([])
    return Form(parse_qsl(body.decode("utf-8", errors="replace"), keep_blank_values=True))


def client_authentication(authorization: str | None, form: Form) -> ClientAuthentication:
    """Return how the client identified itself; any credentials do (RFC 6749 §2.3.1)."""
    scheme, _, value = (authorization or "").partition(" ")
    if scheme.lower() == "basic" and _names_a_client(value):
        return ClientAuthentication.BASIC
    if form.get("client_id") and "client_secret" in form:
        return ClientAuthentication.POST
    if scheme or "client_assertion" in form:
        return ClientAuthentication.OTHER
    return ClientAuthentication.NONE


def _names_a_client(value: str) -> bool:
    try:
        decoded = base64.b64decode(value.strip(), validate=True)
    except (binascii.Error, ValueError):
        return False
    return decoded.find(b":") > 0
