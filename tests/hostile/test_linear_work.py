"""Whatever a server writes is read in linear time: every pattern of the package, and everything that reads texts."""

from collections.abc import Callable, Mapping
from functools import partial

import pytest
from tests.hostile.pumps import KNOWN_PUMPS, Site, demand_linear, patterns, texts_for

from mcp_auth_contract.answers import Answer
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.leaks.judges.secrets import no_trace_in_errors
from mcp_auth_contract.checks.leaks.observation import Exchanged, ExchangesObserved
from mcp_auth_contract.model import Revision
from mcp_auth_contract.oauth.challenge import parse_challenges
from mcp_auth_contract.oauth.document import read_json_object
from mcp_auth_contract.oauth.metadata import identifier_faults, issuer_faults, protected_resource_urls
from mcp_auth_contract.wire.messages import Body, events_in, messages_in, split_events
from mcp_auth_contract.wire.redaction import Redactor

SITES = patterns()
SIGNATURE = "c2lnbmF0dXJlLW9mLWEtdG9rZW4Zk2vN9pXr4LwT8sYb1c"
TOKEN = f"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSIsImp0aSI6IjEyMzQ1Njc4In0.{SIGNATURE}"


def test_patterns_are_found_in_modules_tuples_classes_and_calls() -> None:
    where = {site.where for site in SITES}
    assert {"mcp_auth_contract.wire.redaction._RUN", "mcp_auth_contract.checks.leaks.signs._TRACES"} <= where
    assert any(".line " in one for one in where)
    assert len(SITES) > 60


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.where.removeprefix("mcp_auth_contract."))
def test_every_pattern_is_linear(site: Site) -> None:
    for text_of in texts_for(site.pattern):
        demand_linear(site.work, text_of, site.where)


def known() -> Redactor:
    redactor = Redactor()
    redactor.register(TOKEN, "token-good")
    redactor.register("opaque/token+5f0cX2==kq9", "token-opaque")
    redactor.hide('odd "secret" é')
    return redactor


def judged(text: str) -> None:
    answer = Answer("x1", "POST", "http://a/", 500, text=text)
    no_trace_in_errors(ExchangesObserved((Exchanged(answer, "POST"),)), FACTS)


def fed(text: str) -> None:
    body = Body(limit=1 << 20, encoding="", stream=True, expects_id=1)
    octets = text.encode("utf-8", "replace")
    for start in range(0, len(octets), 512):
        body.feed(octets[start : start + 512])
    body.finish()


FACTS = Facts("http://a/mcp", "http://a/mcp", (Revision.R2025_11_25,))
READERS: Mapping[str, Callable[[str], object]] = {
    "redact": lambda text: known().redact(text),
    "redact a cookie": lambda text: known().redact_header("set-cookie", text),
    "redact another header": lambda text: known().redact_header("x-other", text),
    "labels in": lambda text: known().labels_in(text),
    "labels named": lambda text: known().labels_named([text]),
    "holds a secret": lambda text: known().holds_secret(text),
    "the judge of traces": judged,
    "an event stream": fed,
    "events": lambda text: list(events_in(text)),
    "the end of events": split_events,
    "messages": messages_in,
    "a challenge": lambda text: parse_challenges((text,)),
    "a document": read_json_object,
    "a URL": protected_resource_urls,
    "an identifier": identifier_faults,
    "an issuer": issuer_faults,
}
PUMPS = (
    *KNOWN_PUMPS,
    TOKEN,
    f"{TOKEN} ",
    SIGNATURE,
    SIGNATURE[:12],
    SIGNATURE[::-1],
    "".join(f"%{ord(one):02x}" for one in SIGNATURE),
)


def pumped(head: str, pump: str, end: str, size: int) -> str:
    return head + pump * (size // len(pump)) + end


@pytest.mark.parametrize("reader", READERS)
def test_everything_that_reads_a_servers_text_is_linear(reader: str) -> None:
    for pump in PUMPS:
        for head in ("", "authorization: ", '{"a":"', "eyJ", "Bearer a="):
            for end in ("", f".{SIGNATURE}", '"}'):
                demand_linear(READERS[reader], partial(pumped, head, pump, end), f"{reader}, {pump!r} after {head!r}")
