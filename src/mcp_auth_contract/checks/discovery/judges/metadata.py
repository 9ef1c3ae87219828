"""Is the protected-resource metadata where clients look for it, and is it about this resource? (RFC 9728 §3)"""

from mcp_auth_contract.answers import WITHHELD, Answer, describe
from mcp_auth_contract.checks.discovery.members import MISSING, called_by_clients, strings_or_none
from mcp_auth_contract.checks.discovery.observation import Document, Location, ResourceMetadataObserved
from mcp_auth_contract.checks.facts import Facts
from mcp_auth_contract.checks.judging import Finding, judge, judge_on, proves_nothing
from mcp_auth_contract.model import Fail, Inconclusive, NotApplicable, Pass, Verdict
from mcp_auth_contract.oauth.metadata import Difference, difference, identifier_faults, resource_of_well_known

_OTHER_MEDIA = "Accept: text/html"
"""The label of a fetch that asks for what the document is not: 406 is an honest answer (RFC 9110 §15.5.7)."""

_NO_POINTER = NotApplicable("no challenge names resource_metadata")

SAME_RESOURCE = (
    Difference.NONE,
    Difference.TRAILING_SLASH,
    Difference.CASE,
    Difference.DEFAULT_PORT,
    Difference.PARENT_PATH,
    Difference.QUERY,
)
"""How an identifier may differ and still name the same resource, if not to strict clients."""


def _best(observed: ResourceMetadataObserved, facts: Facts) -> Document | Verdict:
    return observed.best or MISSING


@judge
def prm_served(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """At least one discovery route yields the document: pointer, path or root (MCP authorization, discovery)."""
    if observed.best is not None:
        return Pass()
    for document in observed.sought:
        if _says_nothing(document.answer):
            return Inconclusive(f"{document.url}: {describe(document.answer)}")
    appended = observed.at(Location.APPENDED)
    places = "; ".join(f"{one.where.value}: {one.said}" for one in observed.sought)
    extra = f"; it stands at {appended.url}, where no client looks" if appended and appended.found else ""
    return Fail("a metadata document at the pointer, the path or the root", f"{places}{extra}")


def _says_nothing(answer: Answer) -> bool:
    """A server that is silent, limits the rate or breaks down does not say that there is no document."""
    return proves_nothing(answer) or (answer.status or 0) >= 500


@judge_on(_best)
def prm_status_200(best: Document, facts: Facts) -> Verdict:
    """The document comes with status 200 (RFC 9728 §3.2)."""
    return Pass() if best.answer.status == 200 else Fail("200", f"{best.answer.status} at {best.url}")


@judge_on(_best)
def prm_content_type(best: Document, facts: Facts) -> Verdict:
    """The document's media type is application/json (RFC 9728 §3.2)."""
    media = best.answer.media_type
    if media.endswith("+json"):
        return Pass(f"{media} instead of application/json; some clients refuse it")
    return Pass() if media == "application/json" else Fail("application/json", f"{media or 'no Content-Type'}")


@judge
def prm_json_object(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The body is one JSON object, each member once (RFC 9728 §3.2; RFC 8259 §4)."""
    best = observed.best
    # Another resource of the host may own the root: it counts only where a client would use it.
    for document in observed.sought:
        if best is not None and document is not best and document.where is Location.ROOT:
            continue
        claims_json = document.answer.media_type.endswith("json") or document.value is not None
        if document.answer.status == 200 and document.faults and claims_json:
            return Fail("one JSON object", f"{', '.join(document.faults)} at {document.url}")
    return Pass() if best else MISSING


@judge
def prm_unauthenticated(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The document is readable without credentials (RFC 9728 §3.1)."""
    pointed, path = observed.at(Location.POINTER), observed.at(Location.PATH)
    for document in (pointed, path):
        # A catch-all gate in front of unknown paths is legal where another route works, a gated pointer never is.
        gated = document is not None and document.answer.status in (401, 403)
        if document is not None and gated and (document is pointed or observed.best is None):
            return Fail("the document without a token", f"{describe(document.answer)} at {document.url}")
    return Pass() if observed.best else MISSING


def _found(observed: ResourceMetadataObserved, facts: Facts) -> ResourceMetadataObserved | Verdict:
    return observed if observed.best else MISSING


@judge_on(_found, "the document")
def prm_any_accept(observed: ResourceMetadataObserved, facts: Facts) -> Finding:
    """A plain GET works whatever Accept and MCP-Protocol-Version say (RFC 9728 §3.1)."""
    usual = observed.best and observed.best.answer.status
    for label, answer in observed.accepts:
        if proves_nothing(answer):
            return Inconclusive(f"{label}: {describe(answer)}")
        if answer.status != usual and (answer.status != 406 or label != _OTHER_MEDIA):
            return f"{describe(answer)} with {label}"
    return None


@judge
def prm_path_location(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The document is at the well-known location made from the resource identifier (RFC 9728 §3.1)."""
    if observed.value is None:
        return MISSING
    path = observed.at(Location.PATH)
    if path is not None and path.found:
        return Pass()
    # The published identifier may be a broader one than the endpoint, such as the bare origin.
    resource = observed.value.get("resource")
    for document in observed.sought:
        named = resource_of_well_known(document.url) if document.found else None
        if named is not None and resource in (named, f"{named}/"):
            return Pass()
    if path is not None and _says_nothing(path.answer):
        return Inconclusive(f"{path.url}: {path.said}")
    seen = f"{path.url}: {path.said}" if path else "none"
    return Fail("the document with the path inserted after the well-known segment", seen)


@judge
def prm_resource_matches_location(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """A document found at a well-known URL is about the resource that URL was built from (RFC 9728 §3.3)."""
    path, pointed = observed.at(Location.PATH), observed.at(Location.POINTER)
    if path is None or not path.found or path.value is None:
        return Pass() if observed.best else MISSING
    # The document that clients use, or the same one by its pointer: prm-resource-matches-endpoint judges it.
    if observed.best is path or (pointed is not None and pointed.url == path.url):
        return Pass()
    called, resource = called_by_clients(facts), path.value.get("resource")
    # prm-resource-present judges a document without it
    if isinstance(resource, str) and difference(called, resource) not in SAME_RESOURCE:
        return Fail(f'resource "{called}" at {path.url}', f'"{resource}"')
    return Pass()


@judge
def prm_locations_agree(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """Documents of the same resource agree wherever they are found (RFC 9728 §3)."""
    best = observed.best
    if best is None:
        return MISSING
    alike = (one for one in observed.sought if one.found and one.member("resource") == best.member("resource"))
    if other := next((one for one in alike if _issuers(one) != _issuers(best)), None):
        return Fail(f"the same authorization_servers as {best.url}", f"others at {other.url}")
    return Pass()


def _issuers(document: Document) -> frozenset[str]:
    return frozenset(strings_or_none(document.member("authorization_servers")) or ())


@judge
def prm_unknown_path_404(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """A path that is no resource has no document of this resource (RFC 9728 §3.1, §3.3)."""
    stray, best = observed.at(Location.STRAY), observed.best
    if best is None:
        return MISSING
    if stray is None or proves_nothing(stray.answer):
        return Inconclusive(f"{stray.url}: {describe(stray.answer)}" if stray else "not looked for")
    named = best.member("resource")
    if stray.found and named is not None and stray.member("resource") == named:
        seen = f"{stray.answer.status} with the document of this one at {stray.url}"
        return Fail("404 for a path that is no resource", seen)
    return Pass()


def _answers(observed: ResourceMetadataObserved, unanswered: Answer) -> bool:
    """Whether the server itself answers, and the kit has not kept itself from fetching elsewhere."""
    kept = unanswered.detail.startswith(WITHHELD)
    return observed.challenge is not None and observed.challenge.status is not None and not kept


@judge
def pointer_resolves(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """`resource_metadata` is an absolute URL at which the document is served (RFC 9728 §5.1, §3.2)."""
    if observed.pointer is None:
        return _NO_POINTER
    if faults := identifier_faults(observed.pointer):
        return Fail("an absolute https URL", f'"{observed.pointer}": {", ".join(faults)}')
    document = observed.at(Location.POINTER)
    if document is not None and document.answer.status is None and _answers(observed, document.answer):
        return Fail("the metadata document", f"{describe(document.answer)} at {observed.pointer}")
    if document is None or proves_nothing(document.answer):
        return Inconclusive(f"{observed.pointer}: {describe(document.answer) if document else 'not fetched'}")
    if not document.found:
        return Fail("the metadata document", f"{document.said} at {observed.pointer}")
    elsewhere = (Difference.ORIGIN, Difference.SCHEME)
    if all(difference(known, observed.pointer) in elsewhere for known in (facts.endpoint, facts.resource)):
        return Pass(f'resource_metadata is on another host than the endpoint: "{observed.pointer}"')
    return Pass()


@judge
def pointer_not_reflected(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The pointer comes from configuration, not from Host or what a proxy would say of it (RFC 9728 §7.3)."""
    if observed.pointer is None:
        return _NO_POINTER
    for forged in observed.forged:
        pointer = forged.challenge.challenges.get("resource_metadata")
        if forged.challenge.status == 401 and pointer not in (None, observed.pointer):
            return Fail(f'resource_metadata="{observed.pointer}" always', f'"{pointer}" with a foreign {forged.header}')
    demanded = [forged for forged in observed.forged if not forged.anywhere]
    for forged in demanded:
        if proves_nothing(forged.challenge):
            said = describe(forged.challenge)
            return Inconclusive(f"the call with a foreign {forged.header} was not answered: {said}")
    others = [forged for forged in demanded if forged.challenge.status != 401]
    if demanded and others == demanded:
        said = describe(others[0].challenge)
        return NotApplicable(f"a foreign {others[0].header} is not answered with 401: {said}")
    return Pass() if demanded else Inconclusive("no call with a foreign host was made")


@judge
def prm_not_reflected(observed: ResourceMetadataObserved, facts: Facts) -> Verdict:
    """The document names the configured resource, whatever host a request names (RFC 9728 §3.3, §7.3)."""
    best = observed.best
    if best is None:
        return MISSING
    for forged in observed.forged:
        document = forged.document
        for member in ("resource", "authorization_servers"):
            if document.found and document.member(member) != best.member(member):
                seen = f"{document.member(member)!r} with a foreign {forged.header}"
                return Fail(f"{member} {best.member(member)!r} always", seen)
    for forged in observed.forged:
        if not forged.anywhere and proves_nothing(forged.document.answer):
            return Inconclusive(f"{forged.document.said} with a foreign {forged.header}")
    return Pass() if observed.forged else Inconclusive("the document was not asked for under a foreign host")
