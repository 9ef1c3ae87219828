"""What the contract of the sample server has to say about a legal profile, for a contract tells the truth."""

from collections.abc import Mapping

from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.settings import GATEWAY_HEADER, GATEWAY_KEY

Edit = tuple[str, str]
"""A piece of the contract's text, and what stands in its place."""

OPAQUE: tuple[Edit, ...] = (("[issuer]", '[issuer]\ntokens = "opaque"'), ("[policy]", "[policy]\nrevocation = 60"))
"""For a server that introspects its tokens."""

UPSTREAM: Edit = ('name = "export_invoices"', 'name = "export_invoices"\nupstream = true')
"""For a server that tells another one of its exports."""

_DISCOVERY = ("initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list")
_PUBLIC = [*_DISCOVERY, "server/discover"]
_SINCE_2025_11_25 = ("[target]", '[target]\nrevisions = ["2026-07-28", "2025-11-25"]')


def _in_results(challenge: str) -> tuple[Edit, ...]:
    """For a server whose tool results tell of refusals, and one of whose tools needs no token."""
    open_tool = ('name = "whoami"\nscopes = ["invoices:read"]', 'name = "whoami"\nscopes = []')
    return (("public = []", f'challenge = "{challenge}"\npublic = {_PUBLIC}'), open_tool)


def audited(file: str) -> Edit:
    """For a server that writes an audit log."""
    return ("[policy]", f'[audit]\nfile = "{file}"\n\n[policy]')


VIEWS: tuple[Edit, ...] = (
    (
        '[[resources]]\nuri = "invoice://INV-1"',
        """\
[[tools]]
name = "show_invoice"
scopes = ["invoices:read"]
arguments = { invoice_id = "INV-1" }
visibility = ["model", "app"]

[[tools]]
name = "refresh_invoice"
scopes = ["invoices:read"]
arguments = { invoice_id = "INV-1" }
visibility = ["app"]

[apps]
csp = { resource = ["https://assets.example.com"] }
permissions = []

[[views]]
tool = "show_invoice"
private = ["/_meta/opened"]

[[resources]]
uri = "invoice://INV-1\"""",
    ),
)
"""For a server whose tools show a View."""

EDITS: Mapping[Profile, tuple[Edit, ...]] = {
    # Revision 2025-06-18 knows the path-inserted location only, so these are legal in newer revisions alone.
    Profile.ROOT_METADATA: (_SINCE_2025_11_25,),
    Profile.HEADER_ONLY_METADATA: (_SINCE_2025_11_25,),
    Profile.SCP_LIST: (("[claims]", '[claims]\nscope = "scp"\nscope_format = "list"'),),
    Profile.PUBLIC_DISCOVERY: (("public = []", f"public = {_PUBLIC}"),),
    Profile.TOOL_CHALLENGE: _in_results("tool"),
    Profile.INVALID_TOKEN_401: _in_results("tool"),
    Profile.PUBLIC_STREAM: (("public = []", f"public = {_PUBLIC}"),),
    Profile.EITHER_CHALLENGE: _in_results("either"),
    Profile.OPAQUE: OPAQUE,
    Profile.STRICT_KEYS: (("amount = 1 }", 'amount = 1, idempotency_key = "order-1" }'),),
    Profile.GATEWAY_KEY: (("[target]", f'[target]\nheaders = {{ "{GATEWAY_HEADER}" = "{GATEWAY_KEY}" }}'),),
    Profile.VIEWS: VIEWS,
    Profile.ANY_TYP: (("[claims]", '[claims]\ntyp = "JWT"'),),
}


def edited(text: str, *edits: Edit) -> str:
    """Return the contract's text with these edits; raises ValueError for one whose place is not in it."""
    for old, new in edits:
        if old not in text:
            message = f"{old!r} is not in the sample contract"
            raise ValueError(message)
        text = text.replace(old, new)
    return text
