"""Values for arguments that the server's own lists give away."""

import re
from collections.abc import Mapping
from urllib.parse import unquote

from mcp_auth_contract.contract.templates import expand, template_variables
from mcp_auth_contract.drafting.seen import Seen

__all__ = ["known_values"]

_MOST = 100
_LONGEST = 200


def known_values(seen: Seen) -> Mapping[str, str]:
    """Return by name the values of template variables that the listed resources show.

    `invoice://INV-1` beside the template `invoice://{invoice_id}` says that INV-1 is an invoice_id.
    """
    found: dict[str, str] = {}
    templates, uris = _texts(seen, "templates", "uriTemplate"), _texts(seen, "resources", "uri")
    for template in templates:
        before, variable, after = _parts(template)
        for uri in uris if variable else ():
            value = unquote(uri[len(before) : len(uri) - len(after)])
            if 0 < len(value) <= _LONGEST and expand(template, {variable: value}) == uri:
                found.setdefault(variable, value)
                break
    return found


def _texts(seen: Seen, kind: str, member: str) -> list[str]:
    listed = seen.lists.get(kind)
    values = [] if listed is None else [entry.get(member) for entry in listed.entries[:_MOST]]
    return [value for value in values if isinstance(value, str) and len(value) <= _LONGEST]


def _parts(template: str) -> tuple[str, str, str]:
    """Split a template at its only variable; the name is empty where there is another number of them."""
    names = template_variables(template)
    parts = re.split(r"\{[^{}]*\}", template)
    return (parts[0], names[0], parts[1]) if len(names) == 1 and len(parts) == 2 else ("", "", "")
