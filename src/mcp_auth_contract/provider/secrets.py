"""What an authorization server hands out and no report may show, known before it is recorded."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import parse_qsl, urlsplit

from mcp_auth_contract.provider.pages import forms_in
from mcp_auth_contract.wire import Redactor

MEMBERS = frozenset({
    "access_token", "refresh_token", "id_token", "code", "client_secret", "registration_access_token", "device_code",
    "user_code", "client_assertion",
})  # fmt: skip
"""Members of JSON documents and parameters of URLs whose values are secrets."""

_SHORTEST_HIDDEN = 16
_LONGEST_READ = 256 * 1024


def learner(redactor: Redactor) -> Callable[[Sequence[tuple[str, str]], str], None]:
    """Return what registers the secrets of each answer that it is shown."""

    def learn(headers: Sequence[tuple[str, str]], text: str) -> None:
        for name, value in _secrets(headers, text[:_LONGEST_READ]):
            redactor.register(value, name)

    return learn


def _secrets(headers: Sequence[tuple[str, str]], text: str) -> Iterator[tuple[str, str]]:
    for name, value in headers:
        if name == "location":
            yield from secrets_of_url(value)
        elif name == "set-cookie":
            yield "cookie", value.split(";", 1)[0].partition("=")[2]
    if text.lstrip()[:1] == "{":
        try:
            document = json.loads(text)
        except ValueError:
            return
        if isinstance(document, Mapping):
            yield from ((name, one) for name, one in document.items() if name in MEMBERS and isinstance(one, str))
    elif "<form" in text.lower():
        for form in forms_in(text):
            for name, value in form.fields.items():
                if name in MEMBERS or len(value) >= _SHORTEST_HIDDEN:
                    yield "form", value
            yield from secrets_of_url(form.action)


def secrets_of_url(url: str) -> Iterator[tuple[str, str]]:
    """Yield the secrets among the parameters of a URL: its query and its fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    for name, value in (*parse_qsl(parts.query), *parse_qsl(parts.fragment)):
        if name in MEMBERS:
            yield name, value
