"""The kinds of values a contract holds, each refusing what it cannot mean.

Strings may still hold `${…}` when a contract is first read. Such a string is let through and checked again once
its variables have values: validation then runs with the context `{"folder": …}`, at which relative paths start.
"""

import ipaddress
import math
import re
from collections.abc import Callable, Hashable, Mapping
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    Strict,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from mcp_auth_contract.contract.pointers import is_pointer

ABSOLUTE_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20\x7f]+")
"""A URI with its scheme, or a template of such URIs."""

SCOPE_TOKEN = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")
"""RFC 6749 section 3.3."""

Algorithm = Literal["RS256", "PS256", "ES256", "EdDSA"]
"""A JWS signature algorithm (RFC 7518, RFC 8037)."""

Method = Literal[
    "initialize", "ping", "server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list"
]
"""An MCP method that may be open without a token; calls and reads are opened by `scopes = []` instead."""

_RESERVED_HEADERS = frozenset(
    {
        *("accept", "authorization", "connection", "content-length", "content-type", "host", "last-event-id"),
        *("mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "origin", "transfer-encoding"),
    }
)


class Table(BaseModel):
    """Base of every table: frozen, strict, closed to unknown keys.

    `repr` shows the type alone, because any value of a resolved contract may have come from the environment.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
        validate_default=False,
    )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__


def problem(what: str, repair: str, *, at: str | None = None) -> PydanticCustomError:
    """Return the error a validator raises: what is wrong with the value, and how to repair it.

    A validator of a whole table names the faulty key with `at`. Neither text may quote the value, which is shown
    (or kept back) by the one place that knows whether it is secret.
    """
    return PydanticCustomError("contract_problem", "contract problem", {"what": what, "repair": repair, "at": at or ""})


def is_resolved(info: ValidationInfo) -> bool:
    """Return whether the variables in the contract being validated have been replaced."""
    return bool(info.context)


def _checked(check: Callable[[str], None]) -> AfterValidator:
    """Run `check` on a string, unless it still holds a variable."""

    def validate(text: str, info: ValidationInfo) -> str:
        if is_resolved(info) or "${" not in text:
            check(text)
        return text

    return AfterValidator(validate)


def _matches(pattern: str, what: str, repair: str) -> AfterValidator:
    compiled = re.compile(pattern)

    def check(text: str) -> None:
        if not compiled.fullmatch(text):
            raise problem(what, repair)

    return _checked(check)


def _http_url(text: str) -> None:
    try:
        parts, blank = urlsplit(text), re.search(r"[\x00-\x20\x7f]", text)
        int(parts.port or 0)  # reading the port checks it
    except ValueError:
        raise problem("host or port is not valid", "write a port from 0 to 65535, an IPv6 host in brackets") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or blank:
        raise problem("not an absolute http or https URL", 'write it like "http://127.0.0.1:8000/mcp"')
    if parts.username is not None or parts.password is not None:
        raise problem("a URL with a user name or password", "remove them; credentials do not belong in a URL")
    if "#" in text:
        raise problem("a URL with a fragment", 'remove the part from "#" on')


def _absolute_uri(text: str, example: str) -> None:
    if not ABSOLUTE_URI.fullmatch(text):
        raise problem("not an absolute URI", f'write it with its scheme, like "{example}"')


def _uri(text: str) -> None:
    _absolute_uri(text, "https://mcp.example.com/mcp")
    if "#" in text:
        raise problem("a URI with a fragment", 'remove the part from "#" on (RFC 8707 section 2)')


def _json_pointer(text: str) -> None:
    if not is_pointer(text):
        raise problem("not a JSON Pointer (RFC 6901)", 'write it like "/structuredContent/nextCursor"')


def _bind(text: str) -> None:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        if text != "localhost":
            raise problem("not an IP address", 'write "127.0.0.1", or "0.0.0.0" with public_url') from None


def _distinct(items: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    if len(set(items)) != len(items):
        raise problem("names an entry twice", "keep one of them")
    return items


def _json(value: JsonValue) -> JsonValue:
    match value:
        case float() if not math.isfinite(value):
            raise problem("holds a number that JSON does not have", "remove inf and nan")
        case dict():
            for member in value.values():
                _json(member)
        case list():
            for member in value:
                _json(member)
        case _:
            pass
    return value


def _anchored(path: str, info: ValidationInfo) -> str:
    return str(info.context["folder"] / path) if info.context else path


def _environment(table: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in table.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise problem("holds a name that no environment has", "use letters, digits and _")
        if "\x00" in value:
            raise problem("holds a NUL character", "remove it")
    return table


def _headers(table: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in table.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise problem("holds a name that is no header (RFC 9110 section 5.1)", "use letters, digits and -")
        if name.lower() in _RESERVED_HEADERS:
            raise problem(f"sets {name}, which the kit sets itself", "remove it")
        if re.search(r"[\x00-\x1f\x7f]", value):
            raise problem("holds a control character in a header's value", "remove it")
    return table


def _revocation(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:
        return handler(value)
    except ValidationError:
        pass
    raise problem('neither "none" nor seconds of 0 or more', 'write "none" or a number without quotes')


_Entry = TypeVar("_Entry")

Entries = Annotated[tuple[_Entry, ...], Strict(False)]
"""A list."""

Distinct = Annotated[Entries[_Entry], AfterValidator(_distinct)]
"""A list that names nothing twice."""

SomeDistinct = Annotated[Entries[_Entry], Field(min_length=1), AfterValidator(_distinct)]
"""The same, and it has entries."""

Text = Annotated[str, _matches(r"(?s).+", "empty", "write something or remove the key")]
"""Any text but the empty one."""

HttpUrl = Annotated[str, _checked(_http_url)]
"""An absolute http or https URL without credentials and fragment."""

Uri = Annotated[str, _checked(_uri)]
"""An absolute URI without fragment (RFC 8707 section 2)."""

ResourceUri = Annotated[str, _checked(lambda text: _absolute_uri(text, "invoice://INV-1"))]
"""The URI of an MCP resource, or a template of such URIs (RFC 6570)."""

Scope = Annotated[
    str,
    _matches(
        SCOPE_TOKEN.pattern,
        "not a scope token (RFC 6749 section 3.3)",
        "write one scope per entry, without spaces and quotes",
    ),
]
"""One scope-token (RFC 6749 section 3.3)."""

Identifier = Annotated[
    str,
    _matches(
        r"[^\s\[\]:](?:[^\[\]:\r\n\t]*[^\s\[\]:])?", "not usable as a name", 'use no ":", "[", "]" and no outer spaces'
    ),
]
"""A name that can stand in the id of a case, `check[name:name]`."""

ClaimName = Annotated[str, _matches(r"\S+", "not a claim name", "write a name without spaces")]
"""The name of a claim at the top of a token."""

AppName = Annotated[
    str,
    _matches(
        r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*(?:\(\))?", "not a module and a name in it", 'write it like "my_server:app"'
    ),
]
"""An ASGI application as `module:attribute`, or as `module:function()` that returns it."""

EndpointPath = Annotated[str, _matches(r"/[^\s?#]*", "not the path of a URL", 'write it like "/mcp"')]
"""The path of a URL, without query and fragment."""

Canary = Annotated[
    str,
    _matches(
        r"[A-Za-z0-9](?:[A-Za-z0-9 ._:@-]{6,}[A-Za-z0-9])",
        "not a usable canary",
        "use 8 or more letters, digits, spaces and . _ : @ - so that no encoding changes it",
    ),
]
"""A text that survives JSON, HTML and header encoding unchanged."""

JsonPointer = Annotated[str, _checked(_json_pointer)]
"""A JSON Pointer below the root (RFC 6901)."""

_FILE_NAME = _matches(r"[^\x00]+", "not a file name", "write a path, relative to the contract")

FileName = Annotated[str, _FILE_NAME, AfterValidator(_anchored)]
"""A path; relative ones start at the contract's folder, and are absolute once the contract is resolved."""


KeyFolder = Annotated[
    str, _FILE_NAME, AfterValidator(lambda path, info: path if path == "fresh" else _anchored(path, info))
]
"""The word `fresh`, or the path of a folder."""

Bind = Annotated[str, _checked(_bind)]
"""An address to listen on."""

Port = Annotated[int, Field(ge=0, le=65535)]
"""A TCP port; 0 stands for a free one."""

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""A length of time, 0 or more."""

Revocation = Annotated[Literal["none"] | Seconds, WrapValidator(_revocation)]
"""Seconds, or the word `none`."""

Environment = Annotated[Mapping[str, str], Strict(False), AfterValidator(_environment)]
"""Environment variables of a process."""

Headers = Annotated[Mapping[str, str], Strict(False), AfterValidator(_headers)]
"""Header fields that the kit does not set itself."""

Arguments = Annotated[Mapping[str, Annotated[JsonValue, AfterValidator(_json)]], Strict(False)]
"""The arguments of a call, or claims with their values, as JSON."""
