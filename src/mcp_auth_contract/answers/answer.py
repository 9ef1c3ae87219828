"""One HTTP answer as judges see it: capped, redacted, with its JSON-RPC messages already found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from mcp_auth_contract.oauth.challenge import Challenges, parse_challenges

JsonObject = Mapping[str, Any]


class TransportFailure(StrEnum):
    """Why there is no usable HTTP answer."""

    CONNECT = "no connection"
    TLS = "TLS failed"
    TIMEOUT = "no answer in time"
    RESET = "connection closed before the answer"
    PROTOCOL = "the answer breaks HTTP"


WITHHELD = "refused: "
"""How the detail begins where the kit kept itself from sending a request."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request.

    `status` is None exactly when `failure` is set. Header names are in lower case and in the order received; a
    repeated field keeps one entry per line. `text` is the decoded body, cut at the cap (`truncated`). `messages` are
    the JSON-RPC messages of the body or the event stream in order; `reply` is the response that carries the request's
    id, or the only response if its id is null.
    """

    exchange: str
    method: str
    url: str
    status: int | None = None
    failure: TransportFailure | None = None
    detail: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    text: str = ""
    truncated: bool = False
    messages: tuple[JsonObject, ...] = ()
    reply: JsonObject | None = None
    stream: bool = field(default=False)

    def header(self, name: str) -> str | None:
        """Return the first value of a header field, or None. `name` in lower case."""
        return next((value for key, value in self.headers if key == name), None)

    def header_lines(self, name: str) -> tuple[str, ...]:
        """Return every line of a header field, in order. `name` in lower case."""
        return tuple(value for key, value in self.headers if key == name)

    @property
    def result(self) -> JsonObject:
        """The result of the reply, empty where there is none."""
        result = (self.reply or {}).get("result")
        return result if isinstance(result, dict) else {}

    @property
    def limits_rate(self) -> bool:
        """Whether it asks to come back later: 429, or 503 with Retry-After (RFC 9110 §15.6.4)."""
        return self.status == 429 or (self.status == 503 and self.header("retry-after") is not None)

    @property
    def media_type(self) -> str:
        """The type/subtype of Content-Type in lower case, without parameters; empty when absent."""
        return (self.header("content-type") or "").split(";", 1)[0].strip().lower()

    @property
    def challenges(self) -> Challenges:
        """The challenges of all WWW-Authenticate lines (RFC 9110 §11.6.1)."""
        return parse_challenges(self.header_lines("www-authenticate"))
