"""The contract: one frozen table for each table of the file."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PrivateAttr, Strict, model_validator

from mcp_auth_contract.contract.apps import Apps, Reader, View
from mcp_auth_contract.contract.fields import (
    Arguments,
    Canary,
    Distinct,
    Entries,
    Identifier,
    JsonPointer,
    ResourceUri,
    Scope,
    SomeDistinct,
    Table,
    Text,
    problem,
)
from mcp_auth_contract.contract.server import Audit, Claims, Issuer, Policy, Provider, Release, Target
from mcp_auth_contract.contract.templates import matches
from mcp_auth_contract.model import Effect, OperationKind


class Principal(Table):
    """A user of the server, with the scopes that they may be granted."""

    subject: Text = Field(examples=["alice"])
    """The value of the subject claim."""
    tenant: Text | None = Field(default=None, examples=["t1"])
    """The value of the tenant claim; when omitted, tokens carry no such claim."""
    scopes: Distinct[Scope] = Field(default=(), examples=[["invoices:read"]])
    """The scopes of this principal's tokens, unless a check needs others."""
    claims: Arguments = Field(repr=False, default={}, examples=[{"roles": ["user"]}])
    """Additional claims of this principal's tokens."""
    client: Text | None = Field(default=None, examples=["desktop-app"])
    """The OAuth client that this principal uses; the kit's own client when omitted."""


class Guarded(Table):
    """Base of what a scope can guard."""

    scopes: Distinct[Scope] | None = Field(default=None, examples=[["invoices:read"]])
    """The scopes that a call needs, all of them. When omitted, any valid token will do.
    `[]` declares that no token is needed.
    """

    @property
    def public(self) -> bool:
        """Whether it is open without a token."""
        return self.scopes == ()

    @property
    def required_scopes(self) -> tuple[str, ...]:
        """The scopes a caller needs; empty both for what is open and for what any valid token may do."""
        return self.scopes or ()


class Tool(Guarded):
    """A tool of the server, and one harmless call of it."""

    name: Text = Field(examples=["get_invoice"])
    """The tool's name."""
    arguments: Arguments = Field(repr=False, default={}, examples=[{"invoice_id": "INV-1"}])
    """Arguments with which the call succeeds."""
    effect: Annotated[Effect, Strict(False)] = Effect.READ
    """What a call does: `"read"` changes nothing, `"write"` changes records, `"export"` reads many records at once."""
    control: bool = False
    """Makes this the call that shows whether a token is accepted: a read without side effects that always succeeds."""
    idempotency: Text | None = Field(default=None, examples=["idempotency_key"])
    """The argument that takes an idempotency key, so that a repeated call changes something only once."""
    upstream: bool = False
    """Declares that this tool calls the service at `${upstream.url}`."""
    visibility: SomeDistinct[Reader] | None = Field(default=None, examples=[["app"]])
    """Who is offered the tool (MCP Apps): what `_meta.ui.visibility` says. When omitted, anything will do."""


class Resource(Guarded):
    """A resource of the server, or a template of resources."""

    uri: ResourceUri = Field(examples=["invoice://INV-1", "invoice://{invoice_id}"])
    """The URI of the resource, or a URI template (RFC 6570)."""
    arguments: Mapping[str, Text] = Field(repr=False, default={}, examples=[{"invoice_id": "INV-1"}])
    """For a template: a value for each of its variables."""


class Prompt(Guarded):
    """A prompt of the server."""

    name: Text = Field(examples=["summarise_invoice"])
    """The prompt's name."""
    arguments: Mapping[str, str] = Field(repr=False, default={}, examples=[{"invoice_id": "INV-1"}])
    """Arguments with which the prompt succeeds; in MCP they are always strings."""


class RecordPath(Table):
    """One way to a record: a call of a tool, a resource or a prompt."""

    tool: Text | None = Field(default=None, examples=["get_invoice"])
    """The name of a declared tool."""
    resource: ResourceUri | None = Field(default=None, examples=["invoice://INV-1"])
    """The URI of a declared resource, or one that a declared template expands to."""
    prompt: Text | None = Field(default=None, examples=["summarise_invoice"])
    """The name of a declared prompt."""
    arguments: Arguments | None = Field(repr=False, default=None, examples=[{"invoice_id": "INV-1"}])
    """The arguments of this call; those of the declaration when omitted."""

    @property
    def kind(self) -> OperationKind:
        """What the path goes through."""
        if self.tool is not None:
            return OperationKind.TOOL
        return OperationKind.RESOURCE if self.resource is not None else OperationKind.PROMPT

    @property
    def name(self) -> str:
        """The tool, URI or prompt that the path goes through."""
        return self.tool or self.resource or self.prompt or ""

    @model_validator(mode="after")
    def _one_way(self) -> "RecordPath":
        if sum(way is not None for way in (self.tool, self.resource, self.prompt)) != 1:
            raise problem("needs exactly one of tool, resource and prompt", "write one entry for each")
        if self.resource is not None and self.arguments is not None:
            raise problem("a resource takes no arguments", "put them into the URI")
        return self


class Record(Table):
    """Something that belongs to one principal, recognised by its canary."""

    name: Identifier = Field(examples=["INV-1 of alice"])
    """The name by which reports refer to the record."""
    owner: Text = Field(examples=["alice"])
    """The principal to whom the record belongs, and who must receive the canary from each of the calls."""
    readers: Distinct[Text] = Field(default=(), examples=[["alice", "admin"]])
    """The principals who may see the canary, in addition to the owner."""
    canary: Canary = Field(examples=["alice-t1-INV-1-7f3a"])
    """A text in the record that only its readers may ever receive: at least 8 letters, digits, spaces or `._:@-`."""
    reads: Entries[RecordPath] = ()
    """Calls that read this one record."""
    lists: Entries[RecordPath] = ()
    """Calls that list, search or export records, including this one."""
    writes: Entries[RecordPath] = ()
    """Calls that change this record; made only if `policy.writes` is true."""

    def may_read(self, principal: str) -> bool:
        """Return whether the named principal may see the canary."""
        return principal == self.owner or principal in self.readers


class Cursor(Table):
    """A page token, which must not carry over to another principal."""

    tool: Text = Field(examples=["list_invoices"])
    """The tool that returns its results in pages."""
    argument: Text = Field(examples=["cursor"])
    """The argument that takes the page token."""
    result: JsonPointer = Field(examples=["/structuredContent/nextCursor"])
    """A JSON Pointer (RFC 6901) to the next page token in the tool's result."""


class Handle(Table):
    """A handle that a tool gives out, such as the id or the URI of an export, and the call that takes it back."""

    tool: Text = Field(examples=["export_invoices"])
    """The tool whose result contains the handle."""
    arguments: Arguments | None = Field(repr=False, default=None, examples=[{"format": "csv"}])
    """The arguments of that call; those of the tool's declaration when omitted."""
    result: JsonPointer = Field(examples=["/structuredContent/export_id"])
    """A JSON Pointer (RFC 6901) to the handle in that result."""
    used_by: Text | None = Field(default=None, examples=["read_export"])
    """The tool that takes the handle; the same tool when omitted."""
    argument: Text | None = Field(default=None, examples=["export_id"])
    """The argument that takes the handle; when omitted, the handle is a URI, which `resources/read` takes."""

    @model_validator(mode="after")
    def _one_use(self) -> "Handle":
        if self.used_by is not None and self.argument is None:
            raise problem("used_by needs the argument that takes the handle", "write argument, or remove used_by")
        return self

    @property
    def user(self) -> str:
        """The tool that takes the handle."""
        return self.used_by or self.tool


class Input(Table):
    """What a tool asks for before it runs (`input_required`, MCP 2026-07-28), and the answers to that."""

    tool: Text = Field(examples=["approve_invoice"])
    """The tool that asks for input. It is called with the arguments of its declaration."""
    responses: Arguments = Field(
        repr=False, examples=[{"approval": {"action": "accept", "content": {"approve": True}}}]
    )
    """The answers with which the call succeeds: an object for each name in `inputRequests`."""
    other: Arguments | None = Field(repr=False, default=None, examples=[{"invoice_id": "INV-11"}])
    """Other arguments with which the call succeeds for the same principal, given the same answers."""


class Contract(Table):
    """Everything the kit has to know about a protected MCP server.

    Read by `load_contract`, with variables still in its strings; `resolve` gives a copy in which they are replaced.
    """

    target: Target
    """The MCP server under test."""
    issuer: Issuer = Issuer()
    """The embedded authorization server."""
    claims: Claims = Claims()
    """How the server reads a token."""
    policy: Policy = Policy()
    """What the server promises."""
    principals: Annotated[Mapping[Identifier, Principal], Strict(False)] = Field(min_length=1)
    """Who calls the server, by name."""
    tools: Entries[Tool] = ()
    """The server's tools."""
    resources: Entries[Resource] = ()
    """The server's resources and templates."""
    prompts: Entries[Prompt] = ()
    """The server's prompts."""
    records: Entries[Record] = ()
    """What belongs to whom."""
    cursors: Entries[Cursor] = ()
    """Page tokens."""
    handles: Entries[Handle] = ()
    """Handles that tools give out and take back."""
    inputs: Entries[Input] = ()
    """What tools ask for before they run."""
    apps: Apps | None = None
    """What holds for every View."""
    views: Entries[View] = ()
    """The Views that tools show (MCP Apps)."""
    audit: Audit | None = None
    """Where privileged calls are recorded."""
    release: Release | None = None
    """What a release claims."""
    provider: Provider | None = None
    """A real authorization server, for provider runs."""

    _source: Path | None = PrivateAttr(None)

    @property
    def source(self) -> Path | None:
        """The file this contract was read from, as it was named; None for one made in Python."""
        return self._source

    @property
    def label(self) -> str:
        """What error messages call this contract."""
        return "contract" if self._source is None else str(self._source)

    @property
    def folder(self) -> Path:
        """The absolute folder at which relative paths start and `target.start` runs."""
        return Path.cwd() if self._source is None else self._source.absolute().parent

    def paths(self) -> Iterator[tuple[Record, str, RecordPath]]:
        """Yield every path of every record with the key it stands under: reads, lists or writes."""
        for record in self.records:
            for key, paths in (("reads", record.reads), ("lists", record.lists), ("writes", record.writes)):
                for path in paths:
                    yield record, key, path

    def declared(self, kind: OperationKind) -> Mapping[str, Guarded]:
        """Return what is declared of a kind: tools and prompts by name, resources by URI or template."""
        if kind is OperationKind.RESOURCE:
            return {resource.uri: resource for resource in self.resources}
        return {one.name: one for one in (self.tools if kind is OperationKind.TOOL else self.prompts)}

    def declaration(self, kind: OperationKind, name: str) -> Guarded | None:
        """Return the declaration of a tool or prompt, or that of a resource by any of its URIs."""
        return self.resource_for(name) if kind is OperationKind.RESOURCE else self.declared(kind).get(name)

    def resource_for(self, uri: str) -> Resource | None:
        """Return the declared resource of a URI: the one with this very URI, else the first template that makes it."""
        exact = (resource for resource in self.resources if resource.uri == uri)
        made = (resource for resource in self.resources if matches(resource.uri, uri))
        return next(exact, None) or next(made, None)

    @property
    def writes_decided(self) -> bool:
        """Whether the contract itself says if tools that write may be called."""
        return "writes" in self.policy.model_fields_set

    def located(self, source: Path | None) -> "Contract":
        """Return this contract as one that was read from `source`."""
        copy = self.model_copy()
        copy._source = source
        return copy

    def raw(self) -> dict[str, Any]:
        """Return the tables as they were written, without defaults; variables and secrets included."""
        return self.model_dump(exclude_unset=True)


def contract_schema() -> str:
    """Return the schema as published in docs/contract.schema.json, ending with a line break."""
    schema: dict[str, Any] = Contract.model_json_schema()
    for table in (schema, *schema["$defs"].values()):
        for described in (table, *table.get("properties", {}).values()):
            if "description" in described:  # what follows the first paragraph speaks to callers in Python
                described["description"] = " ".join(described["description"].partition("\n\n")[0].split())
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "mcp-auth-contract.toml"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"
