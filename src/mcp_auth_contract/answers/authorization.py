"""What an authorization server answered: where an authorization request ended, and what the token endpoint said."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from mcp_auth_contract.answers.answer import Answer


class How(StrEnum):
    """How an authorization request ended."""

    REDIRECT = "redirect"
    """The browser was sent to a client."""
    PAGE = "page"
    """A page or an error that leads nowhere else."""
    LOGIN = "login"
    """A page wants something that the contract does not say."""
    NOTHING = "nothing"
    """No answer, or redirects without an end."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Where an authorization request ended.

    With a redirect, `location` is its URL without query and fragment, `parameters` are those of the response (those
    that came twice are in `repeated`), and `fragment` says that they came in one. `pages` are the HTML pages on the
    way, `after_login` the redirects that answered a request with the password in its body. `why` is the reason where
    it led nowhere.
    """

    how: How
    answer: Answer
    location: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)
    repeated: frozenset[str] = frozenset()
    fragment: bool = False
    pages: tuple[Answer, ...] = ()
    after_login: tuple[Answer, ...] = ()
    why: str = ""

    @property
    def code(self) -> str:
        """The authorization code, empty where there is none."""
        return self.parameters.get("code", "")

    @property
    def error(self) -> str:
        """The error of the response, empty where there is none."""
        return self.parameters.get("error", "")

    @property
    def said(self) -> str:
        """Where it ended, in a few words."""
        match self.how:
            case How.REDIRECT:
                tokens = self.parameters.keys() & {"access_token", "id_token"}
                what = "a code" if self.code else f'error "{self.error}"' if self.error else "neither code nor error"
                return f"a redirect with {'a token' if tokens else what} to {self.location}"
            case How.PAGE:
                return f"a page with status {self.answer.status}"
            case _:
                return self.why


@dataclass(frozen=True, slots=True)
class Issued:
    """What an endpoint for tokens answered. `document` is its JSON object, with secrets; None where it is none.

    `header` and `claims` are those of the access token if it is a JWT.
    """

    answer: Answer
    document: Mapping[str, Any] | None = field(default=None, repr=False)
    header: Mapping[str, Any] | None = field(default=None, repr=False)
    claims: Mapping[str, Any] | None = field(default=None, repr=False)

    def text(self, name: str) -> str:
        """Return a member that is a string, empty where it is none."""
        value = (self.document or {}).get(name)
        return value if isinstance(value, str) else ""

    @property
    def token(self) -> str:
        """The access token, empty where there is none."""
        return self.text("access_token")

    @property
    def refresh_token(self) -> str:
        """The refresh token, empty where there is none."""
        return self.text("refresh_token")

    @property
    def error(self) -> str:
        """The error, empty where there is none."""
        return self.text("error")

    @property
    def scopes(self) -> frozenset[str] | None:
        """The scopes that the answer names, None where it names none."""
        return frozenset(self.text("scope").split()) if "scope" in (self.document or {}) else None

    @property
    def audiences(self) -> frozenset[str]:
        """The audiences of the access token, if it is a JWT."""
        aud = (self.claims or {}).get("aud")
        named = aud if isinstance(aud, list) else [aud]
        return frozenset(one for one in named if isinstance(one, str))
