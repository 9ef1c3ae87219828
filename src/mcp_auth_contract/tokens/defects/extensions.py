"""Defects of header extensions: crit, b64, zip, and claims replicated as header parameters.

RFC 7515 §4.1.11: "If any of the listed extension Header Parameters are not understood and supported by the recipient,
then the JWS is invalid."
"""

import zlib
from dataclasses import replace
from functools import partial

from mcp_auth_contract.tokens.defects import urls
from mcp_auth_contract.tokens.defects.defect import DISPUTED, Capability, Defects, header, saying
from mcp_auth_contract.tokens.defects.subjects import SUBJECT_NOBODY
from mcp_auth_contract.tokens.keys import b64url
from mcp_auth_contract.tokens.mint import mint
from mcp_auth_contract.tokens.spec import COMPACT, Spellings, TokenSpec, unsigned

DEFECTS = Defects()
_crit = partial(DEFECTS.table, header("crit"))


DEFECTS.table(
    saying,
    "critical_extension_named",
    "The token marks as critical what the server cannot process: no extension, or a claim.",
    {
        "absent": {"crit": ["urn:example:absent"]},
        "confirmation": {"crit": ["cnf"], "cnf": {"jkt": "x"}},
        "signing_time": {"crit": ["sigT"], "sigT": "2020-01-01"},
    },
)
_crit(
    "critical_of_wrong_type",
    "The token's list of critical extensions is no list.",
    {"text": "exp", "null": None, "number": 1, "object": {}},
)
_crit(
    "critical_list_pointless",
    "The token's list of critical extensions is empty, or names what is no extension.",
    {"empty": [], "algorithm": ["alg"], "expiry": ["exp"]},
    DISPUTED,
)


def _in_the_clear(raw: bytes) -> str:
    # A dot would end the segment, and a header line takes no more than printable ASCII.
    text = raw.decode().encode("ascii", "backslashreplace").decode()
    return text.replace(".", "\\u002e").replace(" ", "\\u0020")


@DEFECTS.each({"in_the_middle": COMPACT, "detached": "{header}..{signature}"})
def payload_unencoded(good: TokenSpec, form: str) -> TokenSpec:
    """The payload is not base64url, and the header says so (RFC 7797 §7 forbids that for a JWT)."""
    faulty = good.with_header(b64=False, crit=["b64"])
    return replace(faulty, spelled=Spellings(payload=_in_the_clear), form=form)


DEFECTS.table(
    header("b64"),
    "payload_called_unencoded",
    "The header says that the payload is not base64url, without marking that as critical; it is.",
    {"": False},
    DISPUTED,
)


def _deflated(raw: bytes) -> str:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return b64url(packer.compress(raw) + packer.flush())


@DEFECTS.single()
def payload_compressed(good: TokenSpec) -> TokenSpec:
    """The payload is compressed, which a JWS has no parameter for."""
    return replace(good.with_header(zip="DEF"), spelled=Spellings(payload=_deflated))


DEFECTS.table(
    header("zip"),
    "payload_called_compressed",
    "The header says that the payload is compressed; it is not.",
    {"": "DEF"},
    DISPUTED,
)


def _nested(good: TokenSpec, inner: TokenSpec) -> TokenSpec:
    token = mint(inner).encode()
    return replace(good.with_header(cty="JWT"), spelled=Spellings(payload=lambda _: b64url(token)))


@DEFECTS.single()
def nested_unsigned(good: TokenSpec) -> TokenSpec:
    """The issuer signed a token whose payload is another token, and that one is unsigned."""
    return _nested(good, replace(good.with_header(alg="none"), signature=unsigned))


@DEFECTS.single(DISPUTED)
def nested_signed(good: TokenSpec) -> TokenSpec:
    """The issuer signed a token whose payload is another honest token (RFC 7519 §5.2)."""
    return _nested(good, good)


@DEFECTS.each(
    {
        "iss_in_header": ("iss", urls.FOREIGN),
        "aud_in_header": ("aud", f"{urls.FOREIGN}/mcp"),
        "exp_in_header": ("exp", 1_000_000_000),
    }
)
def claim_repaired_in_header(good: TokenSpec, wrong: tuple[str, object]) -> TokenSpec:
    """A claim is wrong, and the header repeats it with the value that would be right.

    RFC 7519 §5.3: an application that receives both "SHOULD verify that their values are identical".
    """
    name, value = wrong
    return good.with_claim(name, value).with_header(**{name: good.claims[name]})


@DEFECTS.single(DISPUTED, needs={Capability.SUBJECT_REQUIRED})
def subject_of_header(good: TokenSpec) -> TokenSpec:
    """The claims speak for nobody whom the server knows, the header for a user of the server."""
    name = good.profile.subject_claim
    return good.with_claim(name, SUBJECT_NOBODY).with_header(**{name: good.claims[name]})


DEFECTS.table(
    saying,
    "claim_contradicted_in_header",
    "The header repeats a claim with another value (RFC 7519 §5.3).",
    {"issuer": {"iss": urls.FOREIGN}, "audience": {"aud": f"{urls.FOREIGN}/mcp"}, "subject": {"sub": SUBJECT_NOBODY}},
    DISPUTED,
)
