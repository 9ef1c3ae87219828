"""Faults of the key life: keys are kept too long or not at all, taken from elsewhere, or used for what they are not."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from jwt import PyJWK
from jwt.exceptions import PyJWTError
from starlette.responses import Response

from mcp_auth_contract_lab.fault import Faults, all_of, changing, with_memory
from mcp_auth_contract_lab.jose import CompactJws
from mcp_auth_contract_lab.keyring import JWK, KEY_TYPES, Fetch, fetch_jwks, objects_only, usable
from mcp_auth_contract_lab.refusal import KeysUnavailable
from mcp_auth_contract_lab.settings import LabSettings
from mcp_auth_contract_lab.steps import allowing, always, unless, verifying
from mcp_auth_contract_lab.verification import Trust, published_keys

FAULTS = Faults()

_GRUDGE_S = 400
_FULL_LENGTH = 342  # characters of a modulus of 2048 bits in base64url

_keeping = partial(changing, "keyring")
_BAD_KEY = (PyJWTError, ValueError, TypeError, KeyError)


def _kids(members: Sequence[JWK]) -> list[object]:
    return [jwk.get("kid") for jwk in members]


def _unknown(members: Sequence[JWK], known: Sequence[JWK]) -> list[JWK]:
    """Return the members whose kid the others do not have."""
    kids = _kids(known)
    return [jwk for jwk in members if jwk.get("kid") not in kids]


FAULTS.rows(
    ("same-kid-never-refreshed", "A key that replaces another of the same kid is never taken; the old one stays good.",
     _keeping(merged=lambda cached, fetched: [
         *(jwk for jwk in cached if jwk.get("kid") in _kids(fetched)), *_unknown(fetched, cached)])),
    ("keys-never-refetched", "The keys are fetched once, and neither age nor an unknown kid causes another fetch.",
     _keeping(in_date=always, rested=lambda _since, _settings: False)),
    ("keys-fetched-for-every-request", "The keys are not cached: every request fetches them.",
     _keeping(in_date=lambda _age, _settings: False)),
    ("keys-refetched-for-every-unknown-kid",
     "Each token with an unknown kid causes a fetch, however many there are.", _keeping(rested=always)),
    ("withdrawn-keys-kept", "Fetched keys are added to the cached ones: a withdrawn key is good for ever.",
     _keeping(merged=lambda cached, fetched: [*fetched, *_unknown(cached, fetched)])),
    ("old-keys-dropped-for-new",
     "When a new key comes, those that were known are dropped, though they are published still.",
     _keeping(merged=lambda cached, fetched: _unknown(fetched, cached) or fetched)),
    ("key-cache-wiped-on-error", "A failed fetch drops the cached keys.",
     _keeping(after_failure=lambda _cached: None)),
    ("500-on-jwks-error", "While the keys cannot be had, requests end with 500.",
     _keeping(outage=lambda: Response("Internal Server Error", 500, media_type="text/plain"))),
    ("jwks-media-type-refused", "Keys are read only if they are served as application/json.",
     _keeping(fetch=partial(fetch_jwks, readable=lambda reply: reply.media_type == "application/json"))),
    ("jwks-redirects-followed", "The keys are taken from wherever the JWKS redirects to.",
     _keeping(fetch=partial(fetch_jwks, follow=True))),
    ("first-key-only", "Only the first member of the set is used.",
     _keeping(members=lambda jwks: objects_only(jwks)[:1])),
)  # fmt: skip


@FAULTS.step("keyring", "run")
async def slow_jwks_blocks_all(fetch: Fetch, settings: LabSettings) -> Mapping[str, Any]:
    """Everybody waits while the keys are fetched, those whose key is known too."""
    return fetch(settings)


@FAULTS.by(with_memory(lambda fetch: _keeping(fetch=fetch)))
def jwks_outage_remembered(failed: dict[str, float], settings: LabSettings) -> Mapping[str, Any]:
    """After one failed fetch the keys are not fetched again for some minutes."""
    if failed and settings.clock() - failed["last"] < _GRUDGE_S:
        raise KeysUnavailable
    try:
        return fetch_jwks(settings)
    except KeysUnavailable:
        failed["last"] = settings.clock()
        raise


class _Unavailable(tuple[PyJWK, ...]):
    """No keys, because they could not be had."""

    __slots__ = ()


@FAULTS.by(lambda keys: verifying(keys=keys, signature=unless(lambda _, found: isinstance(found, _Unavailable))))
async def open_on_jwks_error(token: CompactJws, trust: Trust) -> Sequence[PyJWK]:
    """While the keys cannot be had, signatures are not verified."""
    try:
        return await published_keys(token, trust)
    except KeysUnavailable:
        return _Unavailable()


@FAULTS.step("keyring", "members")
def key_set_refused_for_one_bad_member(jwks: Mapping[str, Any]) -> Sequence[JWK]:
    """One member that cannot be read makes the whole set unusable."""
    members = objects_only(jwks)
    if len(members) != len(jwks["keys"]):
        raise KeysUnavailable
    try:
        for jwk in members:
            PyJWK({name: value for name, value in jwk.items() if name != "alg"})
    except _BAD_KEY:
        raise KeysUnavailable from None
    return members


@FAULTS.step("keyring", "members")
def duplicate_kids_break(jwks: Mapping[str, Any]) -> Sequence[JWK]:
    """Two keys of one kid end in a 500."""
    members = objects_only(jwks)
    if len(set(map(str, _kids(members)))) != len(members):
        raise RuntimeError("nobody expected two keys of one kid")
    return members


@FAULTS.step("keyring", "usable")
def keys_picked_by_alg(jwk: JWK, algorithm: str) -> PyJWK | None:
    """A key is used only if the key set names its algorithm."""
    return usable(jwk, algorithm) if "alg" in jwk else None


@FAULTS.step("keyring", "usable")
def keys_picked_by_use(jwk: JWK, algorithm: str) -> PyJWK | None:
    """A key is used only if the key set says that it signs."""
    return usable(jwk, algorithm) if jwk.get("use") == "sig" else None


@FAULTS.step("keyring", "usable")
def weak_keys_break(jwk: JWK, algorithm: str) -> PyJWK | None:
    """An RSA key of fewer than 2048 bits ends in a 500."""
    if jwk.get("kty") == "RSA" and jwk.get("alg") == algorithm and len(str(jwk.get("n"))) < _FULL_LENGTH:
        raise RuntimeError("nobody expected so short a key")
    return usable(jwk, algorithm)


@FAULTS.by(lambda fit: all_of(_keeping(usable=fit), verifying(algorithm=allowing(lambda named: named == "HS256"))))
def symmetric_key_accepted(jwk: JWK, algorithm: str) -> PyJWK | None:
    """A symmetric key in the set verifies HMACs, which everybody who reads the set can make."""
    if jwk.get("kty") != "oct" or algorithm in KEY_TYPES:
        return usable(jwk, algorithm)
    try:
        return PyJWK(dict(jwk), algorithm)
    except _BAD_KEY:
        return None
