"""The closed table of what can be wrong with a token, and minting a token with one of it.

A defect is a small function of the valid spec, named as the defect and registered in its module's `DEFECTS`; one that
only puts other values into one place is a row of `DEFECTS.table`. Nothing else declares it: what it changes is seen by
comparing the two specs.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.suggest import suggest
from mcp_auth_contract.tokens.defects import (
    algorithms,
    encryption,
    identifiers,
    introspection,
    json_texts,
    kinds,
    scopes,
    selection,
    serialization,
    signatures,
    subjects,
    times,
)
from mcp_auth_contract.tokens.defects.defect import Defect, unmet
from mcp_auth_contract.tokens.keys import KeyFinder, published_key
from mcp_auth_contract.tokens.mint import decode_parts, mint, opaque_token
from mcp_auth_contract.tokens.spec import TokenSpec, difference


def _table(*subjects: Iterable[Defect]) -> Mapping[str, Defect]:
    table: dict[str, Defect] = {}
    for defect in (one for subject in subjects for one in subject):
        if defect.name in table or not (defect.sentence and defect.forms):
            raise ValueError(f"the defect {defect.name} is defined twice, or has no sentence or no form")
        table[defect.name] = defect
    return MappingProxyType(table)


_SUBJECTS = (
    *(times, identifiers, signatures, serialization, algorithms, encryption, introspection),
    *(json_texts, kinds, scopes, selection, subjects),
)
DEFECTS: Mapping[str, Defect] = _table(*(subject.DEFECTS for subject in _SUBJECTS))
"""Every defect by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Minted:
    """A token with its name for reports; the repr leaves the token out.

    `change` names the decoded paths in which it differs from the good one. `header` and `claims` are as decoded, None
    where that yields no JSON object. `listening` is the name under which the issuer hears of a fetch, for a token that
    names a URL. `told` is what the issuer has to tell of an opaque token, in the way that `answered` names; None for
    one that it does not know.
    """

    token: str = field(repr=False)
    label: str
    defect: str | None
    variant: str | None
    change: str
    header: Mapping[str, object] | None
    claims: Mapping[str, object] | None
    sha8: str
    listening: str | None = None
    told: Mapping[str, object] | None = field(default=None, repr=False)
    answered: str = "usual"


def defect_named(name: str) -> Defect:
    """Return a defect; raises UsageError with the nearest known name."""
    if name not in DEFECTS:
        raise UsageError(f"unknown defect {name!r}: {suggest(name, DEFECTS)}")
    return DEFECTS[name]


def mint_case(
    good: TokenSpec,
    defect: str | None = None,
    variant: str | None = None,
    *,
    keys: KeyFinder = published_key,
    listening: Callable[[str], str] = "http://listening.mcp-auth-contract.test/heard/{}".format,
) -> Minted:
    """Mint the valid token, or a faulty one; without a variant (None or ""), the first that suits.

    `keys` finds the keys of the stranger and of the second issuer, `listening` turns a name into a URL of the kit's
    that a server must not fetch. The faulty one keeps the `jti` of `good`. Raises
    UsageError for an unknown name or one that makes no sense for the profile.
    """
    if defect is None:
        return _minted(good, good)
    found = defect_named(defect)
    if lacking := unmet(found.needs, good):
        raise UsageError(f"the defect {defect} cannot be minted here: it needs {', '.join(lacking)}")
    if variant and variant not in found.variants:
        none = None if found.variants else "it has no variants"
        raise UsageError(f"unknown variant {variant!r} of {defect}: {suggest(variant, found.variants, none)}")
    for form in [variant] if variant else found.forms:
        name = hashlib.sha256(f"{defect} {form} {good.claims.get('jti')}".encode()).hexdigest()[:16]
        faulty = found.faulty(replace(good, others=keys, listening=listening(name)), form)
        if faulty is not None:
            return _minted(good, faulty, found, form or None, name)
    chosen = f"{defect} ({variant})" if variant else defect
    raise UsageError(f"the defect {chosen} makes no difference for the audience and issuer of this contract")


def _minted(
    good: TokenSpec, spec: TokenSpec, defect: Defect | None = None, variant: str | None = None, name: str | None = None
) -> Minted:
    known = spec.profile.opaque and "{" in spec.form
    token = opaque_token(spec) if known else mint(spec)
    told = {"active": True, "token_type": "Bearer", **spec.claims} if known else None
    header, claims = (None, told) if known else decode_parts(token)
    sha8 = hashlib.sha256(token.encode()).hexdigest()[:8]
    return Minted(
        token=token,
        label=f"token-{defect.name if defect else 'good'}#{sha8}",
        defect=defect.name if defect else None,
        variant=variant,
        change=", ".join(sorted(difference(good, spec))),
        header=header,
        claims=claims,
        sha8=sha8,
        listening=name if defect and defect.fetched else None,
        told=told,
        answered=spec.introspection,
    )
