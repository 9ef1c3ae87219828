"""Reading a contract file: all its faults at once, one line each."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from mcp_auth_contract.contract.faults import Fault, contract_error, nearest, validation_faults
from mcp_auth_contract.contract.interpolate import unknown_variables
from mcp_auth_contract.contract.models import Contract
from mcp_auth_contract.contract.operations import template_matches
from mcp_auth_contract.errors import ContractError

__all__ = ["load_contract", "read_contract"]


def load_contract(path: Path) -> Contract:
    """Read and check a contract file; its variables are still in it.

    Raises ContractError with one line for each fault: `file: key: what is wrong (value); repair`.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise ContractError(f"{path}: no such file; write one, or run without a contract to see the sample") from None
    except UnicodeDecodeError:
        raise ContractError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise ContractError(f"{path}: cannot be read: {error.strerror}") from None
    return read_contract(text, path)


def read_contract(text: str, source: Path) -> Contract:
    """Check the text of a contract file, as `load_contract` does for a file."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ContractError(f"{source}: not TOML: {error}") from None
    faults = unknown_variables(tables)
    try:
        contract = Contract.model_validate(tables)
    except ValidationError as error:
        raise contract_error(str(source), [*validation_faults(error, tables), *faults]) from None
    faults += _cross_faults(contract)
    if faults:
        raise contract_error(str(source), faults)
    return contract.located(source)


def _cross_faults(contract: Contract) -> list[Fault]:
    """What is wrong between the tables of a contract whose tables are right by themselves."""
    return [*_names(contract), *_controls(contract), *_records(contract), *_cursors(contract)]


def _names(contract: Contract) -> Iterator[Fault]:
    lists: Mapping[str, Iterable[str]] = {
        "tools": [tool.name for tool in contract.tools],
        "resources": [resource.uri for resource in contract.resources],
        "prompts": [prompt.name for prompt in contract.prompts],
        "records": [record.name for record in contract.records],
    }
    for key, names in lists.items():
        for name, times in Counter(names).items():
            if times > 1:
                yield Fault(f"{key}[{name}]", "declared twice", "keep one of them, or give it another name")
    if not (contract.tools or contract.resources or contract.prompts):
        yield Fault("tools", "no tool, resource or prompt is declared", 'add [[tools]] with name = "…" and its scopes')


def _controls(contract: Contract) -> Iterator[Fault]:
    controls = [tool for tool in contract.tools if tool.control]
    for tool in controls[1:]:
        yield Fault(f"tools[{tool.name}].control", "a second control", f"keep it at {controls[0].name} or here")
    for tool in controls[:1]:
        if tool.public:
            yield Fault(
                f"tools[{tool.name}].control",
                "a control that is open without a token",
                "choose a tool that needs one",
            )
    guarded = [each for each in (*contract.tools, *contract.resources, *contract.prompts) if not each.public]
    if not guarded and (contract.tools or contract.resources or contract.prompts):
        yield Fault("tools", "nothing here needs a token", "declare one that does: leave its scopes out or name them")


def _records(contract: Contract) -> Iterator[Fault]:
    for record in contract.records:
        for key, names in (("owner", (record.owner,)), ("readers", record.readers)):
            for name in names:
                if name not in contract.principals:
                    yield Fault(
                        f"records[{record.name}].{key}",
                        f'no principal "{name}"',
                        _choice(name, contract.principals),
                    )
    for record, key, path in contract.paths():
        where = f"records[{record.name}].{key}"
        if path.tool is not None:
            yield from _declared(where, "tool", path.tool, [tool.name for tool in contract.tools])
        elif path.prompt is not None:
            yield from _declared(where, "prompt", path.prompt, [prompt.name for prompt in contract.prompts])
        elif path.resource is not None:
            uri = path.resource
            if not any(template_matches(resource.uri, uri) for resource in contract.resources):
                yield from _declared(where, "resource", uri, [resource.uri for resource in contract.resources])


def _cursors(contract: Contract) -> Iterator[Fault]:
    names = [tool.name for tool in contract.tools]
    for number, cursor in enumerate(contract.cursors, 1):
        yield from _declared(f"cursors[{number}].tool", "tool", cursor.tool, names)


def _declared(where: str, kind: str, name: str, known: Iterable[str]) -> Iterator[Fault]:
    names = list(known)
    if name not in names:
        yield Fault(where, f'no {kind} "{name}" is declared', _choice(name, names))


def _choice(name: str, known: Iterable[str]) -> str:
    names = list(known)
    alike = nearest(name, names)
    if alike:
        return f'did you mean "{alike}"?'
    return f"declared are {', '.join(names)}" if names else "declare it"
