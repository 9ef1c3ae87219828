"""Authorization requests with one thing changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

Pairs = Sequence[tuple[str, str]]
_HOST = "mcp-auth-contract.invalid"


@dataclass(frozen=True, slots=True)
class Alteration:
    """One change of a sound authorization request: what it is in words, how it is made, and the errors that fit."""

    words: str
    make: Callable[[dict[str, str]], Pairs]
    expects: frozenset[str] = frozenset()


def _setting(words: str, name: str, value: str, *expects: str) -> Alteration:
    return Alteration(words, lambda sent: list({**sent, name: value}.items()), frozenset(expects))


def _without(words: str, names: Sequence[str], *expects: str) -> Alteration:
    return Alteration(
        words, lambda sent: [(name, sent[name]) for name in sent if name not in names], frozenset(expects)
    )


def _redirect(words: str, change: Callable[[str], str]) -> Alteration:
    return Alteration(words, lambda sent: list({**sent, "redirect_uri": change(sent["redirect_uri"])}.items()))


def _path(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda uri: urlunsplit(urlsplit(uri)._replace(path=change(urlsplit(uri).path)))


def _host(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda uri: urlunsplit(urlsplit(uri)._replace(netloc=change(urlsplit(uri).hostname or "")))


def _other_port(uri: str) -> str:
    parts = urlsplit(uri)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return urlunsplit(parts._replace(netloc=f"{host}:{(parts.port or 80) % 60000 + 1025}"))


def _in_vain(uri: str) -> str:
    return f"{uri or f'https://{_HOST}/mcp'}#more"


_TYPES = ("unsupported_response_type", "unauthorized_client", "invalid_request")
_TARGET = ("invalid_target", "invalid_request")

ALTERATIONS: dict[str, Alteration] = {
    "sound": Alteration("nothing changed", lambda sent: list(sent.items())),
    "unknown_client": _setting("a client id that nobody registered", "client_id", "mcp-auth-contract-unknown"),
    "redirect_elsewhere": _redirect("a redirect URI on another host", lambda _uri: f"https://{_HOST}/callback"),
    "redirect_longer_path": _redirect("a redirect URI with a longer path", _path(lambda path: f"{path}/more")),
    "redirect_query": _redirect("a redirect URI with a query", lambda uri: f"{uri}{'&' if '?' in uri else '?'}more=1"),
    "redirect_case": _redirect("a redirect URI in other letters", _path(str.swapcase)),
    "redirect_dot_segments": _redirect("a redirect URI with dot segments", _path(lambda path: f"{path}/../other")),
    "redirect_slash": _redirect("a redirect URI with a slash at its end", _path(lambda path: f"{path}/")),
    "redirect_subdomain": _redirect("a redirect URI with a longer host", _host(lambda host: f"{host}.{_HOST}")),
    "redirect_user_info": _redirect(
        "a redirect URI with the registered host before an @", _host(lambda host: f"{host}@{_HOST}")
    ),
    "redirect_fragment": _redirect("a redirect URI with a fragment", lambda uri: f"{uri}#more"),
    "redirect_script": _redirect("a javascript: redirect URI", lambda uri: f"javascript:{uri.partition(':')[2]}"),
    "redirect_other_port": _redirect("another port in a loopback redirect URI", _other_port),
    "no_challenge": _without("no code_challenge", ("code_challenge", "code_challenge_method"), "invalid_request"),
    "plain_challenge": _setting("the challenge method plain", "code_challenge_method", "plain", "invalid_request"),
    "unknown_challenge_method": _setting(
        "a challenge method that does not exist", "code_challenge_method", "S512", "invalid_request"
    ),
    "implicit": _setting("the response type token", "response_type", "token", *_TYPES),
    "unknown_response_type": _setting(
        "a response type that does not exist", "response_type", "mcp-auth-contract", *_TYPES
    ),
    "no_response_type": _without(
        "no response_type", ("response_type",), "invalid_request", "unsupported_response_type"
    ),
    "two_states": Alteration(
        "state twice", lambda sent: [*sent.items(), ("state", "second")], frozenset({"invalid_request"})
    ),
    "unknown_parameter": _setting("a parameter that does not exist", "mcp_auth_contract", "1"),
    "empty_parameter": _setting("a parameter without a value", "login_hint", ""),
    "foreign_resource": _setting("a resource that nobody knows", "resource", f"https://{_HOST}/mcp", *_TARGET),
    "relative_resource": _setting("a relative resource", "resource", "mcp", *_TARGET),
    "resource_fragment": Alteration(
        "a resource with a fragment",
        lambda sent: list({**sent, "resource": _in_vain(sent.get("resource", ""))}.items()),
        frozenset(_TARGET),
    ),
}
"""By their names in the catalogue."""
