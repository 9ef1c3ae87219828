"""Reading a contract file, all its problems at once; and its variables, `${issuer.url}`, `${env:NAME}` and the like."""

import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mcp_auth_contract.contract.consistency import inconsistencies
from mcp_auth_contract.contract.models import Contract
from mcp_auth_contract.contract.problems import Problem, contract_error, key_name, validation_problems
from mcp_auth_contract.contract.server import Issuer, Provider
from mcp_auth_contract.errors import ContractError
from mcp_auth_contract.suggest import suggest

VARIABLES = {
    "issuer.url": "the URL of the kit's issuer",
    "issuer.jwks_uri": "the URL of its key set",
    "issuer.introspection_uri": "the URL of its introspection endpoint (RFC 7662)",
    "issuer.ca_file": "with `issuer.tls`, the file with the certificate of its throw-away authority (PEM); else empty",
    "python": "the interpreter that runs the kit, for `start`",
    "target.port": "the port of the MCP endpoint, also one that was picked",
    "target.resource": "the resource identifier that tokens carry as `aud`",
    "target.url": "the URL of the MCP endpoint",
    "upstream.url": "the URL of the service behind tools with `upstream = true`",
}
"""The variables a contract may use besides `${env:NAME}`, and what they stand for."""

_VARIABLE = re.compile(r"\$\$\{|\$\{([^}]*+)\}|\$\{[^}]*+\Z")
_ENV_NAME = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")

_SECRET_NAME = re.compile(r"(?i)secret|passw|token|credential|authorization|cookie|api.?key|private|_key\Z|-key\Z")
_SECRET_CHARACTERS = 6
"""From this length on a value of the environment is kept back even inside another word."""

_Location = tuple[int | str, ...]
_Tables = Mapping[str, Any]
_Values = Mapping[str, str]


def _walk(tables: object, location: _Location = ()) -> Iterator[tuple[_Location, object]]:
    """Yield the tables, and everything in them, each with its place."""
    yield location, tables
    if isinstance(tables, Mapping):
        for key, value in tables.items():
            yield from _walk(value, (*location, str(key)))
    elif isinstance(tables, list | tuple):
        for number, value in enumerate(tables):
            yield from _walk(value, (*location, number))


def _strings(tables: object) -> Iterator[tuple[_Location, str]]:
    return ((location, value) for location, value in _walk(tables) if isinstance(value, str))


def _names(text: str) -> Iterator[str]:
    for found in _VARIABLE.finditer(text):
        if found[1] is not None:
            yield found[1]


def unknown_variables(tables: Mapping[str, Any]) -> list[Problem]:
    """Return a problem for each variable that does not exist, has no value where it stands, or is not closed."""
    problems = [
        Problem(key_name(location, tables), "a variable in the name of a key is not replaced", "write the name itself")
        for location, _ in _walk(tables)
        if location and any(_names(str(location[-1])))
    ]
    for location, text in _strings(tables):
        key = key_name(location, tables)
        if any(found[1] is None and found[0] != "$${" for found in _VARIABLE.finditer(text)):
            repair = 'close it, or write "$${" for the characters themselves'
            problems.append(Problem(key, 'a "${" without its "}"', repair))
        for name in _names(text):
            if name not in VARIABLES and not _ENV_NAME.fullmatch(name):
                repair = suggest(name, VARIABLES, f"known are {', '.join(VARIABLES)} and env:NAME", "${{{}}}")
                if re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
                    repair = f'did you mean "${{env:{name}}}"?'
                problems.append(Problem(key, f'unknown variable "${{{name}}}"', repair))
            elif _is_read_too_early(location, name):
                repair = "write it out, or use ${env:NAME}"
                problems.append(Problem(key, f'"${{{name}}}" has no value yet here', repair))
    return problems


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
        resolved = Contract.model_validate(replaced, context={"folder": contract.folder})
    except ValidationError as error:
        raise contract_error(contract.label, validation_problems(error, raw)) from None
    if wrong := inconsistencies(resolved, resolved=True):
        raise contract_error(contract.label, map(kept_back.instead, wrong))
    return resolved.model_copy(update={"provider": contract.provider}).located(contract.source)


def resolve_issuer(contract: Contract, values: Mapping[str, str], environ: Mapping[str, str]) -> Issuer:
    """Return the table of the embedded issuer as `resolve` does, before there is an issuer to give values.

    `${env:NAME}` and `${python}` are all that this table may hold.
    """
    raw = {"issuer": contract.raw().get("issuer", {})}
    replaced = _replaced(contract, raw, values, environ)
    try:
        return Issuer.model_validate(replaced["issuer"], context={"folder": contract.folder})
    except ValidationError as error:
        raise contract_error(contract.label, validation_problems(error, raw, ("issuer",))) from None


def resolve_provider(contract: Contract, resource: str, environ: Mapping[str, str]) -> Provider:
    """Return the table of the authorization server with its variables replaced; `resource` is the server's.

    Raises ContractError where there is no such table, or a variable of the environment is not set.
    """
    table = contract.raw().get("provider")
    if table is None:
        raise contract_error(
            contract.label, [Problem("provider", "missing", "add a table [provider] with issuer and client_id")]
        )
    raw = {"provider": table}
    replaced = _replaced(contract, raw, {"python": sys.executable}, environ)
    replaced["provider"].setdefault("resource", resource)
    try:
        return Provider.model_validate(replaced["provider"], context={"folder": contract.folder})
    except ValidationError as error:
        raise contract_error(contract.label, validation_problems(error, raw, ("provider",))) from None


def _replaced(contract: Contract, raw: _Tables, values: _Values, environ: _Values) -> dict[str, Any]:
    problems: list[Problem] = []

    def value_of(name: str, location: _Location) -> str:
        env = _ENV_NAME.fullmatch(name)
        known = environ.get(env[1]) if env else values.get(name)
        if known is None:
            what = f"the environment variable {env[1]} is not set" if env else f'"${{{name}}}" has no value here'
            repair = f"set {env[1]}" if env else "remove it"
            problems.append(Problem(key_name(location, raw), what, repair))
            return ""
        return known

    replaced: dict[str, Any] = _replace(raw, (), value_of)
    if problems:
        raise contract_error(contract.label, problems)
    return replaced


def _replace(tables: Any, location: _Location, value_of: Callable[[str, _Location], str]) -> Any:
    if isinstance(tables, str):
        return _VARIABLE.sub(lambda found: "${" if found[1] is None else value_of(found[1], location), tables)
    if isinstance(tables, Mapping):
        return {key: _replace(value, (*location, str(key)), value_of) for key, value in tables.items()}
    if isinstance(tables, list | tuple):
        return [_replace(value, (*location, number), value_of) for number, value in enumerate(tables)]
    return tables


class _Written:
    """Says a problem of a resolved contract in the words of the file, so that it shows no value of the environment."""

    def __init__(self, raw: Mapping[str, Any], replaced: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self._words: dict[str, str] = {}
        for (_, old), (_, new) in zip(_strings(raw), _strings(replaced), strict=True):
            for env in filter(None, map(_ENV_NAME.fullmatch, _names(old))):
                self._words.setdefault(new, old)
                self._words.setdefault(environ[env[1]], f"${{env:{env[1]}}}")
        self._words.pop("", None)
        longest_first = sorted(self._words, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_alone, longest_first)) or "(?!)")

    def instead(self, problem: Problem) -> Problem:
        value = None if problem.value is None else self._text(problem.value)
        return Problem(self._text(problem.key), self._text(problem.what), self._text(problem.repair), value)

    def _text(self, text: str) -> str:
        return self._pattern.sub(lambda found: self._words[found[0]], text)


def _alone(word: str) -> str:
    """A short value, say `t1`, is found where it stands alone, not inside the words of a message."""
    if len(word) >= _SECRET_CHARACTERS:
        return re.escape(word)
    before, after = r"(?<!\w)" if word[0].isalnum() else "", r"(?!\w)" if word[-1].isalnum() else ""
    return before + re.escape(word) + after


def environment_secrets(contract: Contract, environ: Mapping[str, str]) -> frozenset[str]:
    """Return the values that `${env:NAME}` puts into the contract, which no output may show."""
    written = (name for _, text in _strings(contract.raw()) for name in _names(text))
    names = {env[1] for env in map(_ENV_NAME.fullmatch, written) if env is not None}
    return frozenset(environ[name] for name in names if environ.get(name))


def server_secrets(contract: Contract, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the secrets that `target.env` and `target.headers` give the server, each with the name it is given by.

    A value is one where its name says so; in a header also whatever comes from the environment.
    """
    found: dict[str, str] = {}
    target = contract.raw().get("target", {})
    for table in ("env", "headers"):
        for key, text in (target.get(table) or {}).items():
            names = [env[1] for env in map(_ENV_NAME.fullmatch, _names(str(text))) if env is not None]
            if not names and _SECRET_NAME.search(key) and not any(_names(str(text))):
                found.setdefault(str(text), key)
            for name in names:
                if table == "headers" or _SECRET_NAME.search(key) or _SECRET_NAME.search(name):
                    found.setdefault(environ.get(name, ""), name)
    return {secret: name for secret, name in found.items() if secret}


PYPROJECT = "pyproject.toml"
"""A file of this name holds the contract in a table."""

_TABLE = "mcp-auth-contract"
_ABOUT_THE_PLACE = frozenset({"app", "env", "path", "ready", "start", "url"})


def load_contract(path: Path) -> Contract:
    """Read and check a contract file; its variables are still in it.

    Raises ContractError with one line for each problem: `file: key: what is wrong (value); repair`.
    """
    try:
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise ContractError(f"{path}: no such file; write one, or run without a contract to see the sample") from None
    except UnicodeDecodeError:
        raise ContractError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise ContractError(f"{path}: cannot be read ({error.strerror}); name a file that you may read") from None
    return read_contract(text, path)


def read_contract(text: str, source: Path) -> Contract:
    """Check the text of a contract file, as `load_contract` does for a file."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise contract_error(str(source), [_not_toml(str(error))]) from None
    except ValueError:  # Python refuses to read an integer of thousands of digits
        raise ContractError(f"{source}: not TOML: a number with too many digits; write it as text in quotes") from None
    except RecursionError:
        raise ContractError(f"{source}: not TOML that can be read: nested too deeply; nest less") from None
    if source.name == PYPROJECT:
        own = table_in(tables)
        if own is None:
            raise ContractError(f"{source}: no table [tool.{_TABLE}]; write the contract below it, or name its file")
        tables = own
    problems = unknown_variables(tables)
    try:
        contract = Contract.model_validate(tables)
    except ValidationError as error:
        raise contract_error(str(source), [*validation_problems(error, tables), *problems]) from None
    problems += inconsistencies(contract, resolved=False)
    if problems:
        raise contract_error(str(source), problems)
    return contract.located(source)


def table_in(tables: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the contract that stands in a pyproject.toml, None where it has none."""
    tools = tables.get("tool")
    own = tools.get(_TABLE) if isinstance(tools, dict) else None
    return own if isinstance(own, dict) else None


def _not_toml(message: str) -> Problem:
    """Move the place to the front of what tomllib says: `Invalid value (at line 3, column 8)`."""
    what, told, place = message.removesuffix(")").rpartition(" (at ")
    if not told:
        what, place = message, "somewhere"
    twice = re.search("overwrite|twice|already", what) is not None
    return Problem(place, f"not TOML: {what}", "keep one of them" if twice else "correct it (https://toml.io)")


def at_url(contract: Contract, url: str) -> Contract:
    """Return the contract for a server at another URL, which nobody starts; a resource it names stays what it is.

    Raises ContractError as `load_contract` does, for a host that the contract does not authorize above all.
    """
    tables = contract.raw()
    kept = {key: value for key, value in tables["target"].items() if key not in _ABOUT_THE_PLACE}
    moved = {**tables, "target": {**kept, "url": url}}
    try:
        return Contract.model_validate(moved).located(contract.source)
    except ValidationError as error:
        raise contract_error(contract.label, validation_problems(error, moved)) from None
