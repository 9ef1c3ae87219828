"""Asking what hosts with sign-in for single tools go by: pointers in results, and `securitySchemes` of tools."""

from collections.abc import Mapping
from dataclasses import replace

from mcp_auth_contract.answers import JsonObject
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.discovery.observation import Document, Location
from mcp_auth_contract.checks.questions import Question
from mcp_auth_contract.checks.tokens.probe import ask_call
from mcp_auth_contract.checks.tool_challenges.observation import (
    ToolDeclared,
    ToolPointersObserved,
    ToolSchemesObserved,
    result_challenges,
)
from mcp_auth_contract.contract import Operation, operations
from mcp_auth_contract.model import Effect, OperationKind
from mcp_auth_contract.oauth.document import read_json_object
from mcp_auth_contract.wire import list_all

_MOST_POINTERS = 5


async def ask_tool_pointers(question: Question, context: Context) -> ToolPointersObserved:
    """Call the control tool without a token, and fetch what the challenges of its results point to."""
    control, minter = question.operation or context.control, context.minter
    if control is None or minter is None or control.kind is not OperationKind.TOOL:
        return ToolPointersObserved((), ())
    principal = next(iter(minter.contract.principals))
    asked = Question("call", revision=context.revisions[0], operation=control, principal=principal)
    answers = tuple(attempt.answer for attempt in (await ask_call(asked, context)).attempts)
    named = (one.get("resource_metadata") for answer in answers for one in result_challenges(answer).challenges)
    pointers = list(dict.fromkeys(url for url in named if url))
    return ToolPointersObserved(answers, tuple([await _document(context, url) for url in pointers[:_MOST_POINTERS]]))


async def _document(context: Context, url: str) -> Document:
    answer = await context.fetch(url)
    if answer.status is None or not answer.text:
        return Document(Location.POINTER, url, answer)
    read = read_json_object(answer.text)
    return Document(Location.POINTER, url, answer, read.value, tuple(read.faults))


async def ask_tool_schemes(question: Question, context: Context) -> ToolSchemesObserved:
    """List the tools with the unbroken token; call those without a token that are said to need none.

    A tool that writes is never called.
    """
    revision, principal, minter = question.revision, question.principal, context.minter
    if revision is None or principal is None or minter is None:
        raise ValueError("tools are listed in a revision, by a principal")
    live = await context.live(revision, principal)
    listing = await list_all(
        context.conversation,
        live.revision if live else revision,
        "tools/list",
        "tools",
        context.bearer(principal),
        session=live.session if live else None,
    )
    entries: Mapping[object, JsonObject] = {entry.get("name"): entry for entry in reversed(listing.entries)}
    tools = []
    for operation in operations(minter.contract):
        if operation.kind is not OperationKind.TOOL:
            continue
        entry = entries.get(operation.name)
        tool = ToolDeclared(operation.name, frozenset(operation.scopes), operation.public, entry)
        tools.append(await _called(tool, operation, question, context))
    return ToolSchemesObserved(listing.answers, tuple(tools))


async def _called(tool: ToolDeclared, operation: Operation, question: Question, context: Context) -> ToolDeclared:
    said_open = tool.public or any(scheme.get("type") == "noauth" for scheme in tool.schemes)
    if not said_open or operation.effect is Effect.WRITE:
        return tool
    asked = Question("call", revision=question.revision, operation=operation, principal=question.principal)
    return replace(tool, called=(await ask_call(asked, context)).attempts)
