"""The ways past a scope check that are tried with a token that is too weak."""

from collections.abc import Mapping
from types import MappingProxyType

from mcp_auth_contract.model import OperationKind, Revision

BYPASSES: Mapping[str, str] = MappingProxyType(
    {
        "batch_of_one": "the call as the only element of a JSON-RPC array",
        "batch_tail": "the call behind an allowed one in a JSON-RPC array",
        "completion": "completion/complete for an argument of the prompt or template",
        "subscription": "a subscription to the resource",
        "method_other_case": "the method's name in upper case",
        "name_other_case": "the name in the other case",
        "scope_argument": "arguments that name the scopes",
        "meta_name": "a permitted name in params._meta",
        "duplicate_name_first": "a permitted name before the forbidden one, in one object",
        "duplicate_name_last": "a permitted name behind the forbidden one, in one object",
        "header_name": "a permitted name in Mcp-Name",
        "header_method": "tools/list in Mcp-Method",
    }
)


DECOYS = frozenset({"meta_name", "duplicate_name_first", "duplicate_name_last", "header_name", "header_method"})
"""The ways in which a message names something permitted besides, which a server may well run instead."""


_HEADERS = frozenset({"header_name", "header_method"})


_BATCHES = frozenset({"batch_of_one", "batch_tail"})


_KINDS: Mapping[str, frozenset[OperationKind]] = {
    "completion": frozenset({OperationKind.PROMPT, OperationKind.RESOURCE}),
    "subscription": frozenset({OperationKind.RESOURCE}),
}


def bypass_asks(word: str, kind: OperationKind, revision: Revision) -> bool:
    """Tell whether a way exists for this kind of operation in this revision."""
    if word in _HEADERS and not revision.stateless:
        return False
    if word in _BATCHES and revision != Revision.R2025_03_26:
        return False
    return word not in _KINDS or kind in _KINDS[word]
