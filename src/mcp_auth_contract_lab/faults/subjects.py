"""Faults of identity: claims are mapped onto somebody else."""

import unicodedata
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.faults.claim_steps import verifying
from mcp_auth_contract_lab.faults.somebody import DEFAULT_USER
from mcp_auth_contract_lab.records import first_invoices
from mcp_auth_contract_lab.refusal import HttpRefused
from mcp_auth_contract_lab.verification import Claims, Trust, already_valid, subject_named, tenant_named

__all__ = ["FAULTS"]

Guess = Callable[[Any, Claims, str], str | None]
"""Maps a claim's value, all claims and a default name onto somebody; None leaves it to the sound step."""

_USERS = frozenset(name for one in first_invoices() for name in (one.owner, *one.readers))
_TENANTS = frozenset(one.tenant for one in first_invoices())


def _subject(guess: Guess) -> Change:
    def subject(claims: Claims, trust: Trust) -> str:
        guessed = guess(claims.get(trust.settings.claims.subject), claims, DEFAULT_USER.subject)
        return subject_named(claims, trust) if guessed is None else guessed

    return verifying(subject=subject)


def _tenant(guess: Guess) -> Change:
    def tenant(claims: Claims, trust: Trust) -> str:
        guessed = guess(claims.get(trust.settings.claims.tenant), claims, DEFAULT_USER.tenant)
        return tenant_named(claims, trust) if guessed is None else guessed

    return verifying(tenant=tenant)


def _text(make: Callable[[str], str]) -> Guess:
    """Read a string in another way than as it is."""
    return lambda value, _claims, _default: make(value) if isinstance(value, str) and value.strip() else None


def _default_if(when: Callable[[Any], bool]) -> Guess:
    return lambda value, _claims, default: default if when(value) else None


def _blank(value: Any) -> bool:
    return isinstance(value, str) and value != "" and not value.strip()


def _empty(value: Any) -> bool:
    """Whether a value is false, or white space; null and "" are faults of their own."""
    return _blank(value) or (value not in (None, "") and not value)


def _inside(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from _inside(one)
        case dict():
            yield from _inside(value.get("id"))


def _unpacked(known: frozenset[str]) -> Guess:
    """Take the first known name inside a list or an object, and a scalar of another type for the default."""

    def guess(value: Any, _claims: Claims, default: str) -> str | None:
        if isinstance(value, list | dict):
            return next((one for one in _inside(value) if one in known), None)
        return default if isinstance(value, int | float) and value else None

    return guess


def _operator(value: Any) -> bool:
    return isinstance(value, dict) and any(name.startswith("$") for name in value)


def _condition(value: Any) -> bool:
    return isinstance(value, str) and ("'" in value or value in ("%", "*"))


def _unknown_subject(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value not in _USERS


def _unknown_tenant(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value not in _TENANTS


def _of_other_claim(known: frozenset[str], *names: str) -> Guess:
    """Believe a claim that is no identifier before the one that is."""

    def guess(_value: Any, claims: Claims, _default: str) -> str | None:
        named = (one for name in names for one in _inside(claims.get(name)))
        return next((one for one in named if one in known), None)

    return guess


def _actor(_value: Any, claims: Claims, _default: str) -> str | None:
    for name in ("act", "may_act"):
        actor = claims.get(name)
        if isinstance(actor, dict) and actor.get("sub") in _USERS:
            return str(actor["sub"])
    return None


def _like_pattern(value: Any, _claims: Claims, default: str) -> str | None:
    """Match the default tenant against the value as SQL's LIKE does."""
    if not isinstance(value, str) or not value.strip():
        return None
    head, percent, _ = value.partition("%")
    if percent:
        return default if default.startswith(head) else None
    same = len(value) == len(default)
    return default if same and all(one in ("_", other) for one, other in zip(value, default, strict=True)) else None


def _last_part(value: Any, _claims: Claims, _default: str) -> str | None:
    """Take what stands behind the last separator for the tenant."""
    if not isinstance(value, str):
        return None
    found = value.replace("/", ",").replace(" ", ",").rpartition(",")[2]
    return found if found in _TENANTS else None


def _first_known(value: Any, _claims: Claims, _default: str) -> str | None:
    return next((one for one in value if one in _TENANTS), None) if isinstance(value, list) else None


def _broken() -> NoReturn:
    raise HttpRefused(500, "internal error")


def _breaking(when: Callable[[Claims], bool]) -> Change:
    """Break down over claims that nobody has thought of."""

    def not_before(claims: Claims, trust: Trust) -> None:
        if when(claims):
            _broken()
        already_valid(claims, trust)

    return verifying(not_before=not_before)


def _breaking_list(claims: Claims) -> bool:
    return isinstance(claims.get("tenant_id"), list) and claims["tenant_id"] != []


def _unusual_client(claims: Claims) -> bool:
    return "client_id" not in claims or "azp" in claims


_SUBJECT = (
    Fault("subject-blank-accepted", "A subject of white space stands for a default user.",
          _subject(_default_if(_blank))),
    Fault("subject-unpacked", "A subject that is no string is searched for one that fits.",
          _subject(_unpacked(_USERS))),
    Fault("subject-operator-applied", "A subject is handed to a query as it is, operators and all.",
          _subject(_default_if(_operator))),
    Fault("subject-injected", "A subject is pasted into the text of a query.",
          _subject(_default_if(_condition))),
    Fault("subject-cut-at-nul", "A subject ends at its first NUL.",
          _subject(_text(lambda text: text.partition("\0")[0]))),
    Fault("subject-case-ignored", "Upper and lower case of a subject are the same.",
          _subject(_text(str.lower))),
    Fault("subject-trimmed", "White space around a subject is removed.",
          _subject(_text(str.strip))),
    Fault("subject-normalized", "A subject is normalized with NFKC.",
          _subject(_text(lambda text: unicodedata.normalize("NFKC", text)))),
    Fault("subject-unknown-is-default", "A subject that nobody has stands for a default user.",
          _subject(_default_if(_unknown_subject))),
    Fault("subject-from-email", "The e-mail address or the user name decides who calls.",
          _subject(_of_other_claim(_USERS, "email", "preferred_username", "username"))),
    Fault("subject-from-actor", "The actor in a token stands for its subject.",
          _subject(_actor)),
    Fault("subject-from-client", "The client id decides who calls where it names a user.",
          _subject(_of_other_claim(_USERS, "client_id"))),
    Fault("client-only-is-default", "A client that acts for itself acts as a default user.",
          _subject(lambda value, claims, default: default if value == claims.get("client_id", "") else None)),
)  # fmt: skip

_TENANT = (
    Fault("tenant-blank-accepted", "A tenant of white space, or an empty value, stands for a default tenant.",
          _tenant(_default_if(_empty))),
    Fault("tenant-unpacked", "A tenant that is no string is searched for one that fits.",
          _tenant(lambda value, claims, default: None if isinstance(value, list)
                  else _unpacked(_TENANTS)(value, claims, default))),
    Fault("tenant-operator-applied", "A tenant is handed to a query as it is, operators and all.",
          _tenant(_default_if(_operator))),
    Fault("tenant-list-breaks", "A list of tenants breaks the server.",
          _breaking(_breaking_list)),
    Fault("tenant-case-ignored", "Upper and lower case of a tenant are the same.",
          _tenant(_text(str.lower))),
    Fault("tenant-trimmed", "White space around a tenant is removed.",
          _tenant(_text(str.strip))),
    Fault("tenant-normalized", "A tenant is normalized with NFKC.",
          _tenant(_text(lambda text: unicodedata.normalize("NFKC", text)))),
    Fault("tenant-unknown-is-default", "A tenant that does not exist stands for a default tenant.",
          _tenant(_default_if(_unknown_tenant))),
    Fault("tenant-as-pattern", "A tenant is compared with LIKE.",
          _tenant(_like_pattern)),
    Fault("tenant-last-part", "A tenant is what stands behind the last separator.",
          _tenant(_last_part)),
    Fault("tenant-from-alias", "A claim of a similar name decides about the tenant.",
          _tenant(_of_other_claim(_TENANTS, "org_id", "tid", "tenant", "organization"))),
)  # fmt: skip

_ODD = (
    Fault("unusual-client-breaks", "A token without a client id, or with azp, breaks the server.",
          _breaking(_unusual_client)),
    Fault("token-id-missing-breaks", "A token without jti breaks the server.",
          _breaking(lambda claims: "jti" not in claims)),
    Fault("actor-breaks", "A token with an actor breaks the server.",
          _breaking(lambda claims: "act" in claims)),
    Fault("privileges-break", "A token that lists roles breaks the server.",
          _breaking(lambda claims: "roles" in claims)),
)  # fmt: skip

FAULTS = (*_SUBJECT, *_TENANT, *_ODD)
