"""The closed table of what can be wrong with a token, and minting a token with one of it."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType

from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.tokens.defects.claims import CLAIM_DEFECTS
from mcp_auth_contract.tokens.defects.defect import Bench, Defect, Expectation, Kind, Need, path_of, unmet
from mcp_auth_contract.tokens.defects.forms import FORM_DEFECTS
from mcp_auth_contract.tokens.defects.headers import HEADER_DEFECTS
from mcp_auth_contract.tokens.defects.identifiers import IDENTIFIER_DEFECTS
from mcp_auth_contract.tokens.defects.signatures import SIGNATURE_DEFECTS
from mcp_auth_contract.tokens.keys import KeyFinder, published_key
from mcp_auth_contract.tokens.mint import MintedWrongly, decode_parts, mint
from mcp_auth_contract.tokens.spec import TokenSpec, difference

__all__ = ["DEFECTS", "Defect", "Expectation", "Kind", "Minted", "Need", "defect_named", "mint_case"]


def _table(defects: Iterable[Defect]) -> Mapping[str, Defect]:
    table: dict[str, Defect] = {}
    for defect in defects:
        if defect.name in table or not defect.forms:
            raise ValueError(f"the defect {defect.name} is defined twice or has no form")
        table[defect.name] = defect
    return MappingProxyType(table)


DEFECTS: Mapping[str, Defect] = _table(
    (*CLAIM_DEFECTS, *IDENTIFIER_DEFECTS, *SIGNATURE_DEFECTS, *HEADER_DEFECTS, *FORM_DEFECTS)
)
"""Every defect by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Minted:
    """A token with its name for reports; the repr leaves the token out.

    `header` and `claims` are as decoded, None where that yields no JSON object.
    """

    token: str = field(repr=False)
    label: str
    defect: str | None
    variant: str | None
    change: str
    header: Mapping[str, object] | None
    claims: Mapping[str, object] | None
    sha8: str


def defect_named(name: str) -> Defect:
    """Return a defect; raises UsageError with the nearest known name."""
    if name not in DEFECTS:
        raise UsageError(f"unknown defect {name!r}: {_nearest(name, DEFECTS)}")
    return DEFECTS[name]


def mint_case(
    good: TokenSpec, defect: str | None = None, variant: str | None = None, *, keys: KeyFinder = published_key
) -> Minted:
    """Mint the valid token, or its faulty twin; without a variant (None or ""), the first that suits.

    `keys` finds the keys of the stranger and of the second issuer. The twin keeps the `jti` of `good`. Raises
    UsageError for an unknown name or one that makes no sense for the profile, MintedWrongly when the twin
    differs in anything but what the defect declares.
    """
    if defect is None:
        return _minted(good, None, None, "")
    found = defect_named(defect)
    if lacking := unmet(found.needs, good):
        raise UsageError(f"the defect {defect} cannot be minted here: it needs {', '.join(lacking)}")
    variant = variant or None
    if variant is not None and variant not in found.variants:
        raise UsageError(f"unknown variant {variant!r} of {defect}: {_nearest(variant, found.variants)}")
    bench = Bench(good, keys)
    for form in found.forms:
        if variant in (None, form.name) and (twin := form.apply(bench)) is not None:
            changes = [path_of(path, good.profile) for path in form.changes or found.changes]
            if difference(good, twin) != frozenset(changes):
                differing = sorted(difference(good, twin))
                raise MintedWrongly(f"{defect} declares {sorted(changes)} and changes {differing}")
            return _minted(twin, defect, form.name or None, ", ".join(changes))
    chosen = defect if variant is None else f"{defect} ({variant})"
    raise UsageError(f"the defect {chosen} makes no difference for the audience and issuer of this contract")


def _minted(spec: TokenSpec, defect: str | None, variant: str | None, change: str) -> Minted:
    token = mint(spec)
    header, claims = decode_parts(token)
    sha8 = hashlib.sha256(token.encode()).hexdigest()[:8]
    return Minted(
        token=token,
        label=f"token-{defect or 'good'}#{sha8}",
        defect=defect,
        variant=variant,
        change=change,
        header=header,
        claims=claims,
        sha8=sha8,
    )


def _nearest(name: str, known: Iterable[str]) -> str:
    names = list(known)
    if close := get_close_matches(name, names, n=1):
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(names)}" if names else "it has no variants"
