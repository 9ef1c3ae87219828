"""The contract with its variables replaced, and tokens without a run."""

import re
import sys
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from mcp_auth_contract.checks.minting import Minter, profile_of
from mcp_auth_contract.clock import Clock
from mcp_auth_contract.contract import Contract, Issuer, resolve, resolve_issuer
from mcp_auth_contract.errors import UsageError
from mcp_auth_contract.issuer import EmbeddedIssuer, IssuerSettings
from mcp_auth_contract.server import free_port
from mcp_auth_contract.tokens import Minted
from mcp_auth_contract.tokens.keys import Algorithm
from mcp_auth_contract.wire import Redactor

NO_VALUES: Mapping[str, str] = MappingProxyType({})


def issuer_settings(contract: Contract, environ: Mapping[str, str]) -> IssuerSettings:
    """Return the embedded issuer that a contract asks for, variables of the environment replaced."""
    issuer = resolve_issuer(contract, {"python": sys.executable}, environ)
    return IssuerSettings(
        port=issuer.port,
        bind=issuer.bind,
        public_url=issuer.public_url,
        tls=issuer.tls,
        algorithms=tuple(Algorithm(name) for name in issuer.algorithms),
        keys="fresh" if issuer.keys == "fresh" else contract.folder / issuer.keys,
    )


def issuer_values(issuer: EmbeddedIssuer) -> dict[str, str]:
    """Return the values of the variables that the running issuer gives."""
    return {
        "python": sys.executable,
        "issuer.url": issuer.url,
        "issuer.jwks_uri": issuer.jwks_uri,
        "issuer.introspection_uri": issuer.introspection_uri,
        "issuer.ca_file": str(issuer.ca_file or ""),
    }


def resolved_for(
    contract: Contract, issuer: EmbeddedIssuer, environ: Mapping[str, str], more: Mapping[str, str] = NO_VALUES
) -> Contract:
    """Return the contract with its variables replaced: a free port picked, URL and resource known.

    `more` are values of variables that neither the issuer nor the target gives.
    """
    return _resolved(contract, {**issuer_values(issuer), **more}, environ)


def resolved_without_issuer(
    contract: Contract, environ: Mapping[str, str], more: Mapping[str, str] = NO_VALUES
) -> Contract:
    """Return the contract with its variables replaced, for a run with a genuine token; its table issuer is ignored.

    Raises UsageError for a variable that only the kit's own issuer could give a value.
    """
    alone = contract.model_copy(update={"issuer": Issuer()})
    for key, text in _texts({name: table for name, table in alone.raw().items() if name != "provider"}, ""):
        if found := _OF_ISSUER.search(text):
            raise UsageError(
                f"{contract.label}: {key}: {found[0]} has no value with --token-env, for no issuer is started: "
                "start the server yourself and name it with --url, or write the value out"
            )
    return _resolved(alone, {"python": sys.executable, **more}, environ)


_OF_ISSUER = re.compile(r"(?<!\$)\$\{issuer\.[^}]*\}")


def _texts(tables: object, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(tables, str):
        yield key, tables
    elif isinstance(tables, Mapping):
        for name, value in tables.items():
            yield from _texts(value, f"{key}.{name}" if key else str(name))
    elif isinstance(tables, list | tuple):
        for value in tables:
            yield from _texts(value, key)


def _resolved(contract: Contract, given: Mapping[str, str], environ: Mapping[str, str]) -> Contract:
    values = dict(given)
    target = contract.target
    if target.wants_free_port:
        values["target.port"] = str(free_port())
    else:
        found = re.match(r"https?://[^/?#]*:(\d+)(?=[/?#]|$)", target.endpoint)
        values["target.port"] = found[1] if found else ""
    url = target.endpoint
    url = re.sub(r"(https?://[^/?#]*):0+(?=[/?#]|$)", rf"\1:{values.get('target.port', '0')}", url)
    url = url.replace("${target.port}", values.get("target.port", ""))
    values["target.url"] = url
    resource = target.resource or url
    for name in ("target.port", "target.url"):
        resource = resource.replace(f"${{{name}}}", values.get(name, ""))
    values["target.resource"] = resource
    if "${" in url + resource:  # variables from elsewhere: resolve the target first, then use what it says
        first = resolve(contract, {**values, "target.resource": ""}, environ)
        values["target.url"] = first.target.endpoint
        values["target.resource"] = first.target.resource or first.target.endpoint
    return resolve(contract, values, environ)


def mint_offline(
    contract: Contract,
    principal: str,
    *,
    defect: str | None,
    variant: str | None,
    scopes: frozenset[str] | None,
    environ: Mapping[str, str],
    clock: Clock,
) -> tuple[Minted, str | None]:
    """Mint a token without a run, for a server that trusts the contract's issuer as it is served elsewhere.

    Returns the token and a warning where no server can trust it, because keys or port change with every process.
    """
    settings = issuer_settings(contract, environ)
    warning = None
    if settings.keys == "fresh":
        warning = (
            'issuer.keys is "fresh": no server knows the key of this token; set issuer.keys to a folder and use `serve`'
        )
    elif not settings.port and settings.public_url is None:
        warning = "issuer.port is 0: no server trusts this issuer URL; fix issuer.port and use `serve`"
    scheme = "https" if settings.tls else "http"
    url = (settings.public_url or f"{scheme}://{settings.bind}:{settings.port}").rstrip("/")
    issuer = EmbeddedIssuer(settings)
    issuer.load_keys()
    values = {
        "python": sys.executable,
        "upstream.url": "",
        "issuer.url": url,
        "issuer.jwks_uri": f"{url}/jwks",
        "issuer.introspection_uri": f"{url}/introspect",
        "issuer.ca_file": "",
    }
    resolved = _resolved(contract, values, environ)
    resource = resolved.target.resource or resolved.target.endpoint
    minter = Minter(
        resolved, profile_of(resolved, url, resource), issuer.signing_key(), issuer.key_of, clock, Redactor()
    )
    return minter.mint(principal, defect or "good", variant, scopes), warning
