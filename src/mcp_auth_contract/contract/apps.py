"""What the contract says of MCP Apps: the Views that tools show, and what may reach them."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo

from mcp_auth_contract.contract.fields import (
    Arguments,
    Distinct,
    Entries,
    JsonPointer,
    Table,
    Text,
    is_resolved,
    problem,
)

Reader = Literal["model", "app"]
"""Who is offered a tool: the model, or the View."""

Permission = Literal["camera", "microphone", "geolocation", "clipboardWrite"]
"""A capability of the browser that a View may ask for."""

_SHORTEST_SECRET = 8


def _secret(text: str, info: ValidationInfo) -> str:
    if not is_resolved(info):
        if "${env:" not in text:
            raise problem("a secret in the file", 'take it from the environment, like "${env:UPSTREAM_KEY}"')
    elif len(text) < _SHORTEST_SECRET:
        raise problem("too short to be told from other texts", f"name one of {_SHORTEST_SECRET} or more characters")
    return text


Secret = Annotated[Text, AfterValidator(_secret)]
"""A secret text, taken from the environment."""


class Csp(Table):
    """The origins that Views may use, as the server declares them; a list that is left out is empty."""

    connect: Distinct[Text] = Field(default=(), examples=[["https://api.example.com"]])
    """The origins of `connectDomains`, for network requests."""
    resource: Distinct[Text] = Field(default=(), examples=[["https://cdn.example.com"]])
    """The origins of `resourceDomains`, for scripts, styles, images, fonts and media."""
    frame: Distinct[Text] = Field(default=(), examples=[["https://maps.example.com"]])
    """The origins of `frameDomains`, for nested frames."""
    base_uri: Distinct[Text] = Field(default=(), examples=[["https://cdn.example.com"]])
    """The origins of `baseUriDomains`, for the document's base URI."""


class Apps(Table):
    """What holds for every View of the server."""

    csp: Csp | None = None
    """The exact origins that each View declares. When omitted, any will do."""
    permissions: Distinct[Permission] | None = Field(default=None, examples=[["clipboardWrite"]])
    """The exact permissions that each View declares. When omitted, any will do."""
    secrets: Entries[Secret] = Field(repr=False, default=(), examples=[["${env:UPSTREAM_KEY}"]])
    """Texts that no View may ever get, besides every token; they must come from the environment."""


class View(Table):
    """A View of MCP Apps, named by the tool that shows it."""

    tool: Text = Field(examples=["show_invoice"])
    """The name of a declared tool. Its `_meta.ui.resourceUri` leads to the View."""
    arguments: Arguments | None = Field(repr=False, default=None, examples=[{"invoice_id": "INV-1"}])
    """The arguments of the call whose result the View shows; those of the tool's declaration when omitted."""
    private: Distinct[JsonPointer] = Field(default=(), examples=[["/_meta/notes"]])
    """JSON Pointers (RFC 6901) to values of the tool's result that are for the View and not for the model."""
