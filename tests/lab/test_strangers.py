"""A contract that names two users is enough to find a cache that tells users apart by too little."""

from collections.abc import Callable

import pytest
from tests.lab.lab_runs import CHECKS, run_lab

from mcp_auth_contract.execution import Options
from mcp_auth_contract.issuer import EmbeddedIssuer
from mcp_auth_contract.model import Fail, Pass
from mcp_auth_contract.plan import Selection
from mcp_auth_contract_lab.fault import Fault, changing
from mcp_auth_contract_lab.principal import Principal

CHECK = "isolation-strangers-denied"


def two_users() -> list[tuple[str, str]]:
    """Leave bob's namesake and friends out, and give the two who stay a client each."""
    others = (
        '[principals.bob]\nsubject = "bob"\ntenant = "t1"\nscopes = ["invoices:read"]\n',
        '[principals.admin]\nsubject = "admin"\ntenant = "t1"\nscopes = ["invoices:read"]\n',
        '[principals.namesake]\nsubject = "alice"\ntenant = "t2"\nscopes = ["invoices:read"]\n',
        """[[records]]
name = "INV-2 of bob"
owner = "bob"
readers = ["bob", "admin"]
canary = "bob-t1-INV-2-91bd"
reads = [
    { tool = "get_invoice", arguments = { invoice_id = "INV-2" } },
    { resource = "invoice://INV-2" },
    { prompt = "summarise_invoice", arguments = { invoice_id = "INV-2" } },
]
lists = [{ tool = "list_invoices" }, { tool = "search_invoices", arguments = { query = "INV" } }]
""",
    )
    clients = [
        (f'subject = "{name}"\n', f'subject = "{name}"\nclient = "app-of-{name}"\n') for name in ("alice", "carol")
    ]
    return [*((one, "") for one in others), *clients]


@pytest.mark.parametrize(
    "key",
    [
        None,
        lambda one: one.subject,
        lambda one: one.client,
        lambda one: (one.subject, one.client),
        lambda one: (one.tenant, one.client),
    ],
    ids=["sound", "subject", "client", "subject and client", "tenant and client"],
)
def test_a_cache_with_too_short_a_key_falls(key: Callable[[Principal], object] | None, issuer: EmbeddedIssuer) -> None:
    def cached(principal: Principal, invoice_id: str, way: object) -> object:
        return None if key is None else (key(principal), invoice_id, way)

    fault = Fault("cached", "What was read is kept.", changing("isolation", cached=cached))
    options = Options(checks=CHECKS, environ={}, selection=Selection((CHECK,)))
    report = run_lab(issuer, fault=fault, edits=two_users(), options=options)
    outcomes = [result.outcome for result in report.results if result.check.id == CHECK]
    assert outcomes
    if key is None:
        assert {type(one) for one in outcomes} == {Pass}
    elif key(Principal("a", "b", "c")) == ("b", "c"):
        # Nobody of the owner's tenant is barred by this contract: a remark, and no failure.
        assert any(isinstance(one, Pass) and one.advice for one in outcomes)
    else:
        assert any(isinstance(one, Fail) for one in outcomes)
