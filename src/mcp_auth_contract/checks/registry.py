"""Every probe and judge of the kit by its name, as the catalogue's files spell it."""

import importlib
import pkgutil
from collections.abc import Mapping
from types import MappingProxyType

from mcp_auth_contract import checks
from mcp_auth_contract.checks import judging, probing
from mcp_auth_contract.checks.judging import Judge
from mcp_auth_contract.checks.probing import Probe
from mcp_auth_contract.checks.questions import GOOD, NO_TOKEN
from mcp_auth_contract.tokens.defects import DEFECTS

for _module in pkgutil.walk_packages(checks.__path__, f"{checks.__name__}."):
    importlib.import_module(_module.name)

PROBES: Mapping[str, Probe] = MappingProxyType(dict(sorted(probing.REGISTERED.items())))
"""Every probe."""

JUDGES: Mapping[str, Judge] = MappingProxyType(dict(sorted(judging.REGISTERED.items())))
"""Every judge."""

TOKENS: Mapping[str, str] = MappingProxyType(
    {GOOD: "the unbroken token", NO_TOKEN: "no token", **{name: one.sentence for name, one in DEFECTS.items()}}
)
"""Every token that a check may send, and what it is."""
