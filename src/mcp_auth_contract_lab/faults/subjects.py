"""Faults of identity: claims are mapped onto another principal."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias
from unicodedata import normalize

from mcp_auth_contract_lab.fault import Change, Faults
from mcp_auth_contract_lab.records import first_invoices
from mcp_auth_contract_lab.steps import DEFAULT_USER, breaking, verifying
from mcp_auth_contract_lab.verification import SOUND, Claims, Trust

FAULTS = Faults()

_Guess: TypeAlias = Callable[[Any, Claims, str], str | None]
"""Maps a claim's value, all claims and a default name onto a name; None leaves it to the sound step."""

_USERS = frozenset(name for one in first_invoices() for name in (one.owner, *one.readers))
_TENANTS = frozenset(one.tenant for one in first_invoices())


def _mapping(part: str, guess: _Guess) -> Change:
    sound, default = getattr(SOUND, part), getattr(DEFAULT_USER, part)

    def step(claims: Claims, trust: Trust) -> str:
        guessed = guess(claims.get(getattr(trust.settings.claims, part)), claims, default)
        return str(sound(claims, trust) if guessed is None else guessed)

    return verifying(**{part: step})


_subject, _tenant = partial(_mapping, "subject"), partial(_mapping, "tenant")


def _text(make: Callable[[str], str]) -> _Guess:
    """Read a string in another way than as it is."""
    return lambda value, _claims, _default: make(value) if _is_name(value) else None


def _default_if(when: Callable[[Any], bool]) -> _Guess:
    return lambda value, _claims, default: default if when(value) else None


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


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


def _unpacked(known: frozenset[str]) -> _Guess:
    """Take the first known name inside a list or an object, and a scalar of another type for the default."""

    def guess(value: Any, _claims: Claims, default: str) -> str | None:
        if isinstance(value, list | dict):
            return next((one for one in _inside(value) if one in known), None)
        return default if isinstance(value, int | float) and value else None

    return guess


def _operator(value: Any) -> bool:
    return isinstance(value, dict) and any(name.startswith("$") for name in value)


def _of_other_claim(known: frozenset[str], *names: str) -> _Guess:
    """Believe a claim that is no identifier before the one that is."""

    def guess(_value: Any, claims: Claims, _default: str) -> str | None:
        named = (one for name in names for one in _inside(claims.get(name)))
        return next((one for one in named if one in known), None)

    return guess


def _breaking(when: Callable[[Claims], bool]) -> Change:
    """Break down over claims that nobody has thought of."""
    return breaking("not_before")(lambda claims, _trust: when(claims))


@FAULTS.by(_subject)
def subject_from_actor(_value: Any, claims: Claims, _default: str) -> str | None:
    """The actor in a token stands for its subject."""
    actors = (claims.get(name) for name in ("act", "may_act"))
    named = (actor["sub"] for actor in actors if isinstance(actor, dict) and actor.get("sub") in _USERS)
    return next(named, None)


@FAULTS.by(_tenant)
def tenant_as_pattern(value: Any, _claims: Claims, default: str) -> str | None:
    """A tenant is compared with LIKE."""
    if not _is_name(value):
        return None
    head, percent, _ = value.partition("%")
    if percent:
        return default if default.startswith(head) else None
    same = len(value) == len(default)
    return default if same and all(one in ("_", other) for one, other in zip(value, default, strict=True)) else None


@FAULTS.by(_tenant)
def tenant_last_part(value: Any, _claims: Claims, _default: str) -> str | None:
    """A tenant is what stands behind the last separator."""
    if not isinstance(value, str):
        return None
    found = value.replace("/", ",").replace(" ", ",").rpartition(",")[2]
    return found if found in _TENANTS else None


FAULTS.rows(
    ("subject-blank-accepted", "A subject of white space stands for a default user.", _subject(_default_if(_blank))),
    ("subject-unpacked", "A subject that is no string is searched for one that fits.", _subject(_unpacked(_USERS))),
    ("subject-operator-applied", "A subject is handed to a query as it is, operators and all.",
     _subject(_default_if(_operator))),
    ("subject-injected", "A subject is pasted into the text of a query.",
     _subject(_default_if(lambda value: isinstance(value, str) and ("'" in value or value in ("%", "*"))))),
    ("subject-cut-at-nul", "A subject ends at its first NUL.", _subject(_text(lambda text: text.partition("\0")[0]))),
    ("subject-case-ignored", "Upper and lower case of a subject are the same.", _subject(_text(str.lower))),
    ("subject-trimmed", "White space around a subject is removed.", _subject(_text(str.strip))),
    ("subject-normalized", "A subject is normalized with NFKC.", _subject(_text(partial(normalize, "NFKC")))),
    ("subject-unknown-is-default", "A subject that nobody has stands for a default user.",
     _subject(_default_if(lambda value: _is_name(value) and value not in _USERS))),
    ("subject-from-email", "The e-mail address or the user name decides who calls.",
     _subject(_of_other_claim(_USERS, "email", "preferred_username", "username"))),
    ("subject-from-client", "The client id decides who calls where it names a user.",
     _subject(_of_other_claim(_USERS, "client_id"))),
    ("client-only-is-default", "A client that acts for itself acts as a default user.",
     _subject(lambda value, claims, default: default if value == claims.get("client_id", "") else None)),
    ("tenant-blank-accepted", "A tenant of white space, or an empty value, stands for a default tenant.",
     _tenant(_default_if(_empty))),
    ("tenant-unpacked", "A tenant that is no string is searched for one that fits.",
     _tenant(lambda value, claims, default: (
         None if isinstance(value, list) else _unpacked(_TENANTS)(value, claims, default)))),
    ("tenant-operator-applied", "A tenant is handed to a query as it is, operators and all.",
     _tenant(_default_if(_operator))),
    ("tenant-list-breaks", "A list of tenants breaks the server.",
     _breaking(lambda claims: isinstance(claims.get("tenant_id"), list) and claims["tenant_id"] != [])),
    ("tenant-case-ignored", "Upper and lower case of a tenant are the same.", _tenant(_text(str.lower))),
    ("tenant-beginning-suffices", "The beginning of a tenant's name is taken for the whole.",
     _tenant(lambda value, _claims, _default: next(
         (one for one in sorted(_TENANTS) if _is_name(value) and one.startswith(value)), None))),
    ("tenant-begins-alike", "A tenant is whatever tenant its name begins with.",
     _tenant(lambda value, _claims, _default: next(
         (one for one in sorted(_TENANTS) if _is_name(value) and value.startswith(one)), None))),
    ("tenant-trimmed", "White space around a tenant is removed.", _tenant(_text(str.strip))),
    ("tenant-normalized", "A tenant is normalized with NFKC.", _tenant(_text(partial(normalize, "NFKC")))),
    ("tenant-unknown-is-default", "A tenant that does not exist stands for a default tenant.",
     _tenant(_default_if(lambda value: _is_name(value) and value not in _TENANTS))),
    ("tenant-from-alias", "A claim of a similar name decides about the tenant.",
     _tenant(_of_other_claim(_TENANTS, "org_id", "tid", "tenant", "organization"))),
    ("unusual-client-breaks", "A token without a client id, or with azp, breaks the server.",
     _breaking(lambda claims: "client_id" not in claims or "azp" in claims)),
    ("token-id-missing-breaks", "A token without jti breaks the server.",
     _breaking(lambda claims: "jti" not in claims)),
    ("actor-breaks", "A token with an actor breaks the server.", _breaking(lambda claims: "act" in claims)),
    ("privileges-break", "A token that lists roles breaks the server.", _breaking(lambda claims: "roles" in claims)),
)  # fmt: skip
