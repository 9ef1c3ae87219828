"""Variables in a contract: `${issuer.url}` and its like, and `${env:NAME}`."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from mcp_auth_contract.contract.consistency import inconsistencies
from mcp_auth_contract.contract.faults import Fault, contract_error, key_name, nearest, validation_faults
from mcp_auth_contract.contract.models import Contract

__all__ = ["VARIABLES", "environment_secrets", "resolve", "unknown_variables"]

VARIABLES = (
    "issuer.url",
    "issuer.jwks_uri",
    "issuer.introspection_uri",
    "issuer.ca_file",
    "python",
    "target.port",
    "target.resource",
    "target.url",
    "upstream.url",
)
"""The variables a contract may use besides `${env:NAME}`; `python` is the interpreter that runs the kit."""

_VARIABLE = re.compile(r"\$\$\{|\$\{([^}]*)\}")
_ENV_NAME = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")

_Location = tuple[int | str, ...]


def _strings(tables: object, location: _Location = ()) -> Iterator[tuple[_Location, str]]:
    if isinstance(tables, str):
        yield location, tables
    elif isinstance(tables, Mapping):
        for key, value in tables.items():
            yield from _strings(value, (*location, str(key)))
    elif isinstance(tables, list | tuple):
        for number, value in enumerate(tables):
            yield from _strings(value, (*location, number))


def _names(text: str) -> Iterator[str]:
    for found in _VARIABLE.finditer(text):
        if found[1] is not None:
            yield found[1]


def unknown_variables(tables: Mapping[str, Any]) -> list[Fault]:
    """Return a fault for each variable that does not exist, and for each `${` without its end."""
    faults: list[Fault] = []
    for location, text in _strings(tables):
        key = key_name(location, tables)
        rest = _VARIABLE.sub("", text)
        if "${" in rest:
            faults.append(
                Fault(key, 'a "${" without its "}"', 'close it, or write "$${" for the characters themselves')
            )
        for name in _names(text):
            if name in VARIABLES or _ENV_NAME.fullmatch(name):
                continue
            alike = nearest(name, VARIABLES)
            repair = f'did you mean "${{{alike}}}"?' if alike else f"known are {', '.join(VARIABLES)} and env:NAME"
            faults.append(Fault(key, f'unknown variable "${{{name}}}"', repair))
    return faults


def resolve(contract: Contract, values: Mapping[str, str], environ: Mapping[str, str]) -> Contract:
    """Return the contract with every variable replaced, checked once more.

    `values` holds the values of `VARIABLES` by name. Raises ContractError naming the key for a variable without a
    value, and for a string that is wrong once it is replaced; values from the environment are never shown.
    """
    raw = contract.raw()
    raw.pop("provider", None)  # its secrets are for provider runs alone; a run must not ask for them
    faults: list[Fault] = []

    def value_of(name: str, location: _Location) -> str:
        env = _ENV_NAME.fullmatch(name)
        known = environ.get(env[1]) if env else values.get(name)
        if known is None:
            what = f"the environment variable {env[1]} is not set" if env else f'"${{{name}}}" has no value here'
            repair = f"set {env[1]}" if env else "remove it, or add the table it comes from"
            faults.append(Fault(key_name(location, raw), what, repair))
            return ""
        return known

    replaced = _replace(raw, (), value_of)
    if faults:
        raise contract_error(contract.label, faults)
    url = replaced["target"].get("url")
    port = values.get("target.port")
    if isinstance(url, str) and port is not None:
        replaced["target"]["url"] = re.sub(r"(https?://[^/?#]*):0+(?=[/?#]|$)", rf"\1:{port}", url)
    try:
        resolved = Contract.model_validate(replaced, context={"resolved": True})
    except ValidationError as error:
        raise contract_error(contract.label, validation_faults(error, raw)) from None
    if wrong := inconsistencies(resolved, resolved=True):
        raise contract_error(contract.label, wrong)
    return resolved.model_copy(update={"provider": contract.provider}).located(contract.source)


def _replace(tables: Any, location: _Location, value_of: Callable[[str, _Location], str]) -> Any:
    if isinstance(tables, str):
        return _VARIABLE.sub(
            lambda found: "${" if found[1] is None else value_of(found[1], location),
            tables,
        )
    if isinstance(tables, Mapping):
        return {key: _replace(value, (*location, str(key)), value_of) for key, value in tables.items()}
    if isinstance(tables, list | tuple):
        return [_replace(value, (*location, number), value_of) for number, value in enumerate(tables)]
    return tables


def environment_secrets(contract: Contract, environ: Mapping[str, str]) -> frozenset[str]:
    """Return the values that `${env:NAME}` puts into the contract, which no output may show."""
    names = {
        env[1] for _, text in _strings(contract.raw()) for name in _names(text) if (env := _ENV_NAME.fullmatch(name))
    }
    return frozenset(environ[name] for name in names if environ.get(name))
