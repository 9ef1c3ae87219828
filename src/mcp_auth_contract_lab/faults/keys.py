"""Faults of the key life: keys are kept too long or not at all, taken from elsewhere, or used for what they are not."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jwt import PyJWK
from jwt.exceptions import PyJWTError
from starlette.responses import Response

from mcp_auth_contract_lab.behaviour import Behaviour
from mcp_auth_contract_lab.fault import Change, Fault
from mcp_auth_contract_lab.jose import CompactJws
from mcp_auth_contract_lab.jwks import JWK, KEY_TYPES, KeySet, fetch_jwks, objects_only, usable
from mcp_auth_contract_lab.keyring import Fetch
from mcp_auth_contract_lab.refusal import KeysUnavailable
from mcp_auth_contract_lab.settings import LabSettings
from mcp_auth_contract_lab.verification import Header, Trust, algorithm_allowed, published_keys, signature_verified

__all__ = ["FAULTS"]

_GRUDGE_S = 400
_FULL_LENGTH = 342  # characters of a modulus of 2048 bits in base64url


def _keeping(**steps: Any) -> Change:
    return lambda behaviour: replace(behaviour, keyring=replace(behaviour.keyring, **steps))


def _always(_seconds: float, _settings: LabSettings) -> bool:
    return True


def _never(_seconds: float, _settings: LabSettings) -> bool:
    return False


def _kids(members: Sequence[JWK]) -> list[object]:
    return [jwk.get("kid") for jwk in members]


def _added(cached: Sequence[JWK], fetched: Sequence[JWK]) -> Sequence[JWK]:
    known = _kids(fetched)
    return [*fetched, *(jwk for jwk in cached if jwk.get("kid") not in known)]


def _first_seen(cached: Sequence[JWK], fetched: Sequence[JWK]) -> Sequence[JWK]:
    published, known = _kids(fetched), _kids(cached)
    return [
        *(jwk for jwk in cached if jwk.get("kid") in published),
        *(jwk for jwk in fetched if jwk.get("kid") not in known),
    ]


def _nothing_left(_cached: KeySet) -> None:
    return None


def _all_or_nothing(jwks: Mapping[str, Any]) -> Sequence[JWK]:
    members = objects_only(jwks)
    if len(members) != len(jwks["keys"]):
        raise KeysUnavailable
    for jwk in members:
        try:
            PyJWK({name: value for name, value in jwk.items() if name != "alg"})
        except (PyJWTError, ValueError, TypeError, KeyError):
            raise KeysUnavailable from None
    return members


def _each_kid_once(jwks: Mapping[str, Any]) -> Sequence[JWK]:
    members = objects_only(jwks)
    if len(set(map(str, _kids(members)))) != len(members):
        raise RuntimeError("nobody expected two keys of one kid")
    return members


def _only_the_first(jwks: Mapping[str, Any]) -> Sequence[JWK]:
    return objects_only(jwks)[:1]


def _fetch_wherever(settings: LabSettings) -> Mapping[str, Any]:
    return fetch_jwks(settings, follow=True)


def _fetch_plain_json(settings: LabSettings) -> Mapping[str, Any]:
    return fetch_jwks(settings, readable=lambda reply: reply.media_type == "application/json")


def _only_new(cached: Sequence[JWK], fetched: Sequence[JWK]) -> Sequence[JWK]:
    known = _kids(cached)
    return [jwk for jwk in fetched if jwk.get("kid") not in known] or fetched


def _remembering_failures(behaviour: Behaviour) -> Behaviour:
    failed: list[float] = []

    def fetch(settings: LabSettings) -> Mapping[str, Any]:
        if failed and settings.clock() - failed[-1] < _GRUDGE_S:
            raise KeysUnavailable
        try:
            return behaviour.keyring.fetch(settings)
        except KeysUnavailable:
            failed.append(settings.clock())
            raise

    return _keeping(fetch=fetch)(behaviour)


def _surprised(jwk: JWK, algorithm: str) -> PyJWK | None:
    if jwk.get("kty") == "RSA" and jwk.get("alg") == algorithm and len(str(jwk.get("n"))) < _FULL_LENGTH:
        raise RuntimeError("nobody expected so short a key")
    return usable(jwk, algorithm)


async def _on_the_loop(fetch: Fetch, settings: LabSettings) -> Mapping[str, Any]:
    return fetch(settings)


def _server_error() -> Response:
    return Response("Internal Server Error", 500, media_type="text/plain")


def _usable_if_symmetric(jwk: JWK, algorithm: str) -> PyJWK | None:
    if jwk.get("kty") != "oct" or algorithm in KEY_TYPES:
        return usable(jwk, algorithm)
    try:
        return PyJWK(dict(jwk), algorithm)
    except (PyJWTError, ValueError, TypeError, KeyError):
        return None


def _hmac_allowed_too(header: Header, trust: Trust) -> None:
    if header.get("alg") != "HS256":
        algorithm_allowed(header, trust)


def _symmetric(behaviour: Behaviour) -> Behaviour:
    return replace(
        behaviour,
        keyring=replace(behaviour.keyring, usable=_usable_if_symmetric),
        verification=replace(behaviour.verification, algorithm=_hmac_allowed_too),
    )


class _Unavailable(tuple[PyJWK, ...]):
    """No keys, because they could not be had."""

    __slots__ = ()


async def _keys_if_they_can_be_had(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    try:
        return await published_keys(token, trust)
    except KeysUnavailable:
        return _Unavailable()


def _signature_if_keys_could_be_had(token: CompactJws, keys: Sequence[PyJWK]) -> None:
    if not isinstance(keys, _Unavailable):
        signature_verified(token, keys)


def _open_without_keys(behaviour: Behaviour) -> Behaviour:
    return replace(
        behaviour,
        verification=replace(
            behaviour.verification, keys=_keys_if_they_can_be_had, signature=_signature_if_keys_could_be_had
        ),
    )


_CACHE = (
    Fault(
        "keys-never-refetched",
        "The keys are fetched once, and neither age nor an unknown kid causes another fetch.",
        _keeping(in_date=_always, rested=_never),
    ),
    Fault(
        "keys-fetched-for-every-request",
        "The keys are not cached: every request fetches them.",
        _keeping(in_date=_never),
    ),
    Fault(
        "keys-refetched-for-every-unknown-kid",
        "Each token with an unknown kid causes a fetch, however many there are.",
        _keeping(rested=_always),
    ),
    Fault(
        "withdrawn-keys-kept",
        "Fetched keys are added to the cached ones: a withdrawn key is good for ever.",
        _keeping(merged=_added),
    ),
    Fault(
        "old-keys-dropped-for-new",
        "When a new key comes, those that were known are dropped, though they are published still.",
        _keeping(merged=_only_new),
    ),
    Fault(
        "same-kid-never-refreshed",
        "A key that replaces another of the same kid is never taken; the old one stays good.",
        _keeping(merged=_first_seen),
    ),
)

_TROUBLE = (
    Fault(
        "key-cache-wiped-on-error",
        "A failed fetch drops the cached keys.",
        _keeping(after_failure=_nothing_left),
    ),
    Fault(
        "open-on-jwks-error",
        "While the keys cannot be had, signatures are not verified.",
        _open_without_keys,
    ),
    Fault(
        "500-on-jwks-error",
        "While the keys cannot be had, requests end with 500.",
        _keeping(outage=_server_error),
    ),
    Fault(
        "slow-jwks-blocks-all",
        "Everybody waits while the keys are fetched, those whose key is known too.",
        _keeping(run=_on_the_loop),
    ),
    Fault(
        "jwks-outage-remembered",
        "After one failed fetch the keys are not fetched again for some minutes.",
        _remembering_failures,
    ),
    Fault(
        "jwks-media-type-refused",
        "Keys are read only if they are served as application/json.",
        _keeping(fetch=_fetch_plain_json),
    ),
    Fault(
        "jwks-redirects-followed",
        "The keys are taken from wherever the JWKS redirects to.",
        _keeping(fetch=_fetch_wherever),
    ),
)

_MEMBERS = (
    Fault(
        "key-set-refused-for-one-bad-member",
        "One member that cannot be read makes the whole set unusable.",
        _keeping(members=_all_or_nothing),
    ),
    Fault(
        "first-key-only",
        "Only the first member of the set is used.",
        _keeping(members=_only_the_first),
    ),
    Fault(
        "weak-keys-break",
        "An RSA key of fewer than 2048 bits ends in a 500.",
        _keeping(usable=_surprised),
    ),
    Fault(
        "duplicate-kids-break",
        "Two keys of one kid end in a 500.",
        _keeping(members=_each_kid_once),
    ),
    Fault(
        "symmetric-key-accepted",
        "A symmetric key in the set verifies HMACs, which everybody who reads the set can make.",
        _symmetric,
    ),
)

FAULTS = (*_CACHE, *_TROUBLE, *_MEMBERS)
