"""Asking what hosts with sign-in for single tools go by: pointers in results, and `securitySchemes` of tools."""

from dataclasses import replace

from mcp_auth_contract.checks.client import LISTS, PrincipalSession
from mcp_auth_contract.checks.context import Context
from mcp_auth_contract.checks.discovery.observation import Location
from mcp_auth_contract.checks.discovery.probe import fetch_document
from mcp_auth_contract.checks.probing import probe
from mcp_auth_contract.checks.questions import OperationQuestion, Question
from mcp_auth_contract.checks.tokens.probe import ask_without_token
from mcp_auth_contract.checks.tool_challenges.observation import (
    ToolDeclared,
    ToolPointersObserved,
    ToolSchemesObserved,
    result_challenges,
)
from mcp_auth_contract.contract import operations
from mcp_auth_contract.model import Effect, OperationKind

_MOST_POINTERS = 5


@probe("Where do the challenges in the results of a tool lead?")
async def ask_tool_pointers(_question: Question, context: Context) -> ToolPointersObserved:
    """Call the control tool without a token, and fetch what the challenges of its results point to."""
    control = context.control
    if control is None or context.issued is None or control.kind is not OperationKind.TOOL:
        return ToolPointersObserved((), ())
    principal = next(iter(context.contract.principals))
    answers = tuple((await ask_without_token(context, context.revisions[0], control, principal)).answers)
    named = (one.get("resource_metadata") for answer in answers for one in result_challenges(answer).challenges)
    pointers = list(dict.fromkeys(url for url in named if url))[:_MOST_POINTERS]
    return ToolPointersObserved(
        answers, tuple([await fetch_document(context, Location.POINTER, url) for url in pointers])
    )


@probe("What does tools/list say of signing in, and is it true?")
async def ask_tool_schemes(question: OperationQuestion, context: Context) -> ToolSchemesObserved:
    """List the tools with the unbroken token; call those without a token that are said to need none.

    A tool that writes is never called.
    """
    listing = await PrincipalSession(context, question.revision, question.principal).list(LISTS["tools"])
    entries = {entry.get("name"): entry for entry in reversed(listing.entries)}
    tools = []
    for operation in operations(context.contract):
        if operation.kind is not OperationKind.TOOL:
            continue
        tool = ToolDeclared(operation.name, frozenset(operation.scopes), operation.public, entries.get(operation.name))
        said_open = tool.public or any(scheme.get("type") == "noauth" for scheme in tool.schemes)
        if said_open and operation.effect is not Effect.WRITE:
            asked = await ask_without_token(context, question.revision, operation, question.principal)
            tool = replace(tool, called=asked.attempts)
        tools.append(tool)
    return ToolSchemesObserved(listing.answers, tuple(tools))
