"""The faults by name: the same server with one step wrong. Each module of this package holds those of one subject."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from mcp_auth_contract_lab.fault import Fault

FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        name: fault
        for module in iter_modules(__path__, f"{__name__}.")
        for name, fault in import_module(module.name).FAULTS.items()
    }
)
