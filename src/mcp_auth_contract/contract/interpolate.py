"""Variables in a contract: `${issuer.url}` and its like, and `${env:NAME}`."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mcp_auth_contract.contract.consistency import inconsistencies
from mcp_auth_contract.contract.faults import Fault, contract_error, key_name, nearest, validation_faults
from mcp_auth_contract.contract.models import Contract, Issuer

__all__ = ["VARIABLES", "environment_secrets", "resolve", "resolve_issuer", "unknown_variables"]

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

_VARIABLE = re.compile(r"\$\$\{|\$\{([^}]*+)\}|\$\{[^}]*+\Z")
_ENV_NAME = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")

_SECRET_CHARACTERS = 6
"""From this length on a value of the environment is kept back even inside another word."""

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


def _keys(tables: object, location: _Location = ()) -> Iterator[_Location]:
    if isinstance(tables, Mapping):
        for key, value in tables.items():
            yield (*location, str(key))
            yield from _keys(value, (*location, str(key)))
    elif isinstance(tables, list | tuple):
        for number, value in enumerate(tables):
            yield from _keys(value, (*location, number))


def _names(text: str) -> Iterator[str]:
    for found in _VARIABLE.finditer(text):
        if found[1] is not None:
            yield found[1]


def unknown_variables(tables: Mapping[str, Any]) -> list[Fault]:
    """Return a fault for each variable that does not exist, has no value where it stands, or is not closed."""
    faults = [
        Fault(key_name(location, tables), "a variable in the name of a key is not replaced", "write the name itself")
        for location in _keys(tables)
        if any(_names(str(location[-1])))
    ]
    for location, text in _strings(tables):
        key = key_name(location, tables)
        if any(found[1] is None and found[0] != "$${" for found in _VARIABLE.finditer(text)):
            faults.append(
                Fault(key, 'a "${" without its "}"', 'close it, or write "$${" for the characters themselves')
            )
        for name in _names(text):
            if name not in VARIABLES and not _ENV_NAME.fullmatch(name):
                faults.append(Fault(key, f'unknown variable "${{{name}}}"', _known_variable(name)))
            elif _is_read_too_early(location, name):
                faults.append(Fault(key, f'"${{{name}}}" has no value yet here', "write it out, or use ${env:NAME}"))
    return faults


def _known_variable(name: str) -> str:
    if re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
        return f'did you mean "${{env:{name}}}"?'
    alike = nearest(name, VARIABLES)
    return f'did you mean "${{{alike}}}"?' if alike else f"known are {', '.join(VARIABLES)} and env:NAME"


def _is_read_too_early(location: _Location, name: str) -> bool:
    """Tell whether a variable takes its value from what it stands in."""
    match location:
        case ("issuer" | "provider", *_):
            return name in VARIABLES and name != "python"
        case ("target", "url" | "path" | "app", *_):
            return name in ("target.url", "target.resource")
        case ("target", "resource", *_):
            return name == "target.resource"
        case _:
            return False


def resolve(contract: Contract, values: Mapping[str, str], environ: Mapping[str, str]) -> Contract:
    """Return the contract with every variable replaced and relative paths made absolute, checked once more.

    `values` holds the values of `VARIABLES` by name. Raises ContractError naming the key for a variable without a
    value, and for a string that is wrong once it is replaced; values from the environment are never shown.
    """
    raw = contract.raw()
    raw.pop("provider", None)  # its secrets are for provider runs alone; a run must not ask for them
    replaced = _replaced(contract, raw, values, environ)
    kept_back = _Written(raw, replaced, environ)
    url = replaced["target"].get("url")
    port = values.get("target.port")
    if isinstance(url, str) and port is not None:
        replaced["target"]["url"] = re.sub(r"(https?://[^/?#]*):0+(?=[/?#]|$)", rf"\1:{port}", url)
    try:
        resolved = Contract.model_validate(replaced, context={"resolved": True})
    except ValidationError as error:
        raise contract_error(contract.label, validation_faults(error, raw)) from None
    if wrong := inconsistencies(resolved, resolved=True):
        raise contract_error(contract.label, map(kept_back.instead, wrong))
    return _anchored(resolved.model_copy(update={"provider": contract.provider}).located(contract.source))


def resolve_issuer(contract: Contract, values: Mapping[str, str], environ: Mapping[str, str]) -> Issuer:
    """Return the table of the embedded issuer as `resolve` does, before there is an issuer to give values.

    `${env:NAME}` and `${python}` are all that this table may hold.
    """
    raw = {"issuer": contract.raw().get("issuer", {})}
    replaced = _replaced(contract, raw, values, environ)
    try:
        issuer = Issuer.model_validate(replaced["issuer"], context={"resolved": True})
    except ValidationError as error:
        faults = validation_faults(error, raw, ("issuer",))
        raise contract_error(contract.label, faults) from None
    return _anchored_issuer(issuer, contract.folder)


def _replaced(
    contract: Contract, raw: Mapping[str, Any], values: Mapping[str, str], environ: Mapping[str, str]
) -> dict[str, Any]:
    faults: list[Fault] = []

    def value_of(name: str, location: _Location) -> str:
        env = _ENV_NAME.fullmatch(name)
        known = environ.get(env[1]) if env else values.get(name)
        if known is None:
            what = f"the environment variable {env[1]} is not set" if env else f'"${{{name}}}" has no value here'
            repair = f"set {env[1]}" if env else "remove it"
            faults.append(Fault(key_name(location, raw), what, repair))
            return ""
        return known

    replaced: dict[str, Any] = _replace(raw, (), value_of)
    if faults:
        raise contract_error(contract.label, faults)
    return replaced


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


class _Written:
    """Says a fault of a resolved contract in the words of the file, so that it shows no value of the environment."""

    def __init__(self, raw: Mapping[str, Any], replaced: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self._words: dict[str, str] = {}
        for (_, old), (_, new) in zip(_strings(raw), _strings(replaced), strict=True):
            for env in filter(None, map(_ENV_NAME.fullmatch, _names(old))):
                self._words.setdefault(new, old)
                self._words.setdefault(environ[env[1]], f"${{env:{env[1]}}}")
        self._words.pop("", None)
        longest_first = sorted(self._words, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_alone, longest_first)) or "(?!)")

    def instead(self, fault: Fault) -> Fault:
        value = None if fault.value is None else self._text(fault.value)
        return Fault(self._text(fault.key), self._text(fault.what), self._text(fault.repair), value)

    def _text(self, text: str) -> str:
        return self._pattern.sub(lambda found: self._words[found[0]], text)


def _alone(word: str) -> str:
    """A short value, say `t1`, is found where it stands alone, not inside the words of a message."""
    if len(word) >= _SECRET_CHARACTERS:
        return re.escape(word)
    before, after = r"(?<!\w)" if word[0].isalnum() else "", r"(?!\w)" if word[-1].isalnum() else ""
    return before + re.escape(word) + after


def _anchored(contract: Contract) -> Contract:
    """Return the contract with its paths starting at its folder."""
    folder, target, audit = contract.folder, contract.target, contract.audit
    ca_file = None if target.ca_file is None else str(folder / target.ca_file)
    logs = tuple(str(folder / log) for log in target.logs)
    return contract.model_copy(
        update={
            "target": target.model_copy(update={"ca_file": ca_file, "logs": logs}),
            "issuer": _anchored_issuer(contract.issuer, folder),
            "audit": None if audit is None else audit.model_copy(update={"file": str(folder / audit.file)}),
        }
    )


def _anchored_issuer(issuer: Issuer, folder: Path) -> Issuer:
    return issuer if issuer.keys == "fresh" else issuer.model_copy(update={"keys": str(folder / issuer.keys)})


def environment_secrets(contract: Contract, environ: Mapping[str, str]) -> frozenset[str]:
    """Return the values that `${env:NAME}` puts into the contract, which no output may show."""
    names = {
        env[1] for _, text in _strings(contract.raw()) for name in _names(text) if (env := _ENV_NAME.fullmatch(name))
    }
    return frozenset(environ[name] for name in names if environ.get(name))
