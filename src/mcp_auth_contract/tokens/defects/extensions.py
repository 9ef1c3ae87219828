"""Defects of header extensions: crit, b64, zip, and claims replicated as header parameters."""

import zlib
from collections.abc import Callable
from dataclasses import replace

from mcp_auth_contract.tokens.defects import urls
from mcp_auth_contract.tokens.defects.defect import Bench, Break, Defect, Expectation, Kind, Need, Variant, one
from mcp_auth_contract.tokens.keys import b64url
from mcp_auth_contract.tokens.mint import mint
from mcp_auth_contract.tokens.spec import Absent, Spelling, Spellings, TokenSpec

__all__ = ["EXTENSION_DEFECTS"]

_NOBODY = "mcp-auth-contract-nobody"


def _header(**members: object) -> Break:
    return lambda bench: bench.good.with_header(**members)


def _in_the_clear(raw: bytes) -> str:
    # A dot would end the segment, and a header line takes no more than printable ASCII.
    text = raw.decode().encode("ascii", "backslashreplace").decode()
    return text.replace(".", "\\u002e").replace(" ", "\\u0020")


def _unencoded(form: str) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        twin = bench.good.with_header(b64=False, crit=["b64"])
        return replace(twin, spelled=Spellings(payload=Spelling("unencoded", _in_the_clear)), form=form)

    return apply


def _deflated(raw: bytes) -> str:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return b64url(packer.compress(raw) + packer.flush())


def _compressed(bench: Bench) -> TokenSpec:
    twin = bench.good.with_header(zip="DEF")
    return replace(twin, spelled=Spellings(payload=Spelling("deflated", _deflated)))


def _nested(name: str, inner: Callable[[TokenSpec], TokenSpec]) -> Break:
    def apply(bench: Bench) -> TokenSpec:
        token = mint(inner(bench.good))
        twin = bench.good.with_header(cty="JWT")
        return replace(twin, spelled=Spellings(payload=Spelling(name, lambda _: b64url(token.encode()))))

    return apply


def _repaired(name: str, wrong: object) -> Variant:
    def apply(bench: Bench) -> TokenSpec:
        right = bench.good.claims[name]
        return bench.good.with_claim(name, wrong).with_header(**{name: right})

    return Variant(f"{name}_in_header", apply, (f"claims.{name}", f"header.{name}"))


def _whose_header_wins(bench: Bench) -> TokenSpec:
    good = bench.good
    subject = good.profile.subject_claim
    return good.with_claim(subject, _NOBODY).with_header(**{subject: good.claims[subject]})


EXTENSION_DEFECTS = (
    Defect(
        name="critical_extension_named",
        sentence="The token marks as critical what the server cannot process: no extension, or a claim.",
        kind=Kind.HEADER,
        changes=("header.crit",),
        forms=(
            Variant("absent", _header(crit=["urn:example:absent"])),
            Variant("confirmation", _header(crit=["cnf"], cnf={"jkt": "x"}), ("header.cnf", "header.crit")),
            Variant("signing_time", _header(crit=["sigT"], sigT="2020-01-01"), ("header.crit", "header.sigT")),
        ),
    ),
    Defect(
        name="critical_of_wrong_type",
        sentence="The token's list of critical extensions is no list.",
        kind=Kind.HEADER,
        changes=("header.crit",),
        forms=(
            Variant("text", _header(crit="exp")),
            Variant("null", _header(crit=None)),
            Variant("number", _header(crit=1)),
            Variant("object", _header(crit={})),
        ),
    ),
    Defect(
        name="critical_list_pointless",
        sentence="The token's list of critical extensions is empty, or names what is no extension.",
        kind=Kind.HEADER,
        changes=("header.crit",),
        forms=(
            Variant("empty", _header(crit=[])),
            Variant("algorithm", _header(crit=["alg"])),
            Variant("expiry", _header(crit=["exp"])),
        ),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="payload_unencoded",
        sentence="The payload is not base64url, and the header says so (RFC 7797 §7 forbids that for a JWT).",
        kind=Kind.HEADER,
        changes=("header.b64", "header.crit", "serialization"),
        forms=(
            Variant("in_the_middle", _unencoded("{header}.{payload}.{signature}")),
            Variant("detached", _unencoded("{header}..{signature}")),
        ),
    ),
    Defect(
        name="payload_called_unencoded",
        sentence="The header says that the payload is not base64url, without marking that as critical; it is.",
        kind=Kind.HEADER,
        changes=("header.b64",),
        forms=one(_header(b64=False)),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="payload_compressed",
        sentence="The payload is compressed, which a JWS has no parameter for.",
        kind=Kind.HEADER,
        changes=("header.zip", "serialization"),
        forms=one(_compressed),
    ),
    Defect(
        name="payload_called_compressed",
        sentence="The header says that the payload is compressed; it is not.",
        kind=Kind.HEADER,
        changes=("header.zip",),
        forms=one(_header(zip="DEF")),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="nested_unsigned",
        sentence="The issuer signed a token whose payload is another token, and that one is unsigned.",
        kind=Kind.HEADER,
        changes=("header.cty", "serialization"),
        forms=one(_nested("unsigned", lambda good: replace(good.with_header(alg="none"), signature=Absent()))),
    ),
    Defect(
        name="nested_signed",
        sentence="The issuer signed a token whose payload is another honest token (RFC 7519 §5.2).",
        kind=Kind.HEADER,
        changes=("header.cty", "serialization"),
        forms=one(_nested("signed", lambda good: good)),
        expectation=Expectation.DISPUTED,
    ),
    Defect(
        name="claim_repaired_in_header",
        sentence="A claim is wrong, and the header repeats it with the value that would be right.",
        kind=Kind.CLAIM,
        changes=("claims.iss", "header.iss"),
        forms=(
            _repaired("iss", urls.FOREIGN),
            _repaired("aud", f"{urls.FOREIGN}/mcp"),
            _repaired("exp", 1_000_000_000),
        ),
    ),
    Defect(
        name="subject_of_header",
        sentence="The claims speak for nobody whom the server knows, the header for a user of the server.",
        kind=Kind.CLAIM,
        changes=("claims.{subject}", "header.{subject}"),
        forms=one(_whose_header_wins),
        expectation=Expectation.DISPUTED,
        needs=frozenset({Need.SUBJECT_REQUIRED}),
    ),
    Defect(
        name="claim_contradicted_in_header",
        sentence="The header repeats a claim with another value (RFC 7519 §5.3).",
        kind=Kind.HEADER,
        changes=("header.iss",),
        forms=(
            Variant("issuer", _header(iss=urls.FOREIGN)),
            Variant("audience", _header(aud=f"{urls.FOREIGN}/mcp"), ("header.aud",)),
            Variant("subject", _header(sub=_NOBODY), ("header.sub",)),
        ),
        expectation=Expectation.DISPUTED,
    ),
)
