"""What a real authorization server did."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.answers.authorization import Ending, Issued
from mcp_auth_contract.checks.observing import Observation, answers_in


@dataclass(frozen=True, slots=True)
class AuthorizationObserved(Observation):
    """One authorization request with one thing changed.

    `blocked` is why it was not sent, or why its end means nothing. `redirect_uri` and `state` are those that were sent,
    `registered` is the client's own redirect URI. `expects` are the errors that fit (none: any), `metadata` is what the
    authorization server publishes.
    """

    ending: Ending | None
    blocked: str = ""
    redirect_uri: str = ""
    registered: str = ""
    state: str = field(default="", repr=False)
    expects: frozenset[str] = frozenset()
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def answers(self) -> Iterator[Answer]:
        if self.ending is not None:
            yield from answers_in((self.ending.answer, *self.ending.after_login, *self.ending.pages))


@dataclass(frozen=True, slots=True)
class TokensObserved(Observation):
    """The answer to a sound token request.

    `blocked` is why it was not sent, `absent` why the provider need not answer it. `scopes` are those that were asked
    for, `audience` is what the token is to be for. `before` are the tokens that a refresh replaces.
    """

    issued: Issued | None
    blocked: str = ""
    absent: str = ""
    scopes: frozenset[str] = frozenset()
    audience: str = ""
    before: Issued | None = None


@dataclass(frozen=True, slots=True)
class ClientRequestObserved(Observation):
    """One request to an endpoint for clients, most often one that has to be refused.

    `blocked` is why it was not sent, `absent` why it does not apply. `expects` are the errors that fit (none: any will
    do). `later` is a request after it that shows what it means. `refused`: it got no further than the authorization
    endpoint. `offered`: the metadata offers what was asked for.
    """

    issued: Issued | None
    expects: frozenset[str] = frozenset()
    blocked: str = ""
    absent: str = ""
    later: Issued | None = None
    refused: bool = False
    offered: bool = False


@dataclass(frozen=True, slots=True)
class CapabilityObserved(Observation):
    """Whether the metadata offers a capability, and what the contract wants. `where` is what would offer it."""

    name: str
    wanted: str
    offered: bool
    where: str
