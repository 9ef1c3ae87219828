"""Everything a protected server decides, as steps that a profile or a fault can replace one by one."""

from dataclasses import dataclass, field

from mcp_auth_contract_lab.challenges import Challenges
from mcp_auth_contract_lab.credentials import Credentials
from mcp_auth_contract_lab.documents import Documents
from mcp_auth_contract_lab.endpoint import Endpoint
from mcp_auth_contract_lab.introspection import Introspection
from mcp_auth_contract_lab.keyring import Keyring
from mcp_auth_contract_lab.methods import Listing
from mcp_auth_contract_lab.protocol import Protocol
from mcp_auth_contract_lab.records import Isolation
from mcp_auth_contract_lab.scopes import Scopes
from mcp_auth_contract_lab.sessions import SessionRules
from mcp_auth_contract_lab.states import StateRules
from mcp_auth_contract_lab.tasks import TaskRules
from mcp_auth_contract_lab.upstream import Upstream
from mcp_auth_contract_lab.verification import Verification
from mcp_auth_contract_lab.views import ViewRules


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One group of steps for each part of the server. The defaults are the sound server."""

    credentials: Credentials = field(default_factory=Credentials)
    verification: Verification = field(default_factory=Verification)
    keyring: Keyring = field(default_factory=Keyring)
    introspection: Introspection = field(default_factory=Introspection)
    scopes: Scopes = field(default_factory=Scopes)
    challenges: Challenges = field(default_factory=Challenges)
    documents: Documents = field(default_factory=Documents)
    endpoint: Endpoint = field(default_factory=Endpoint)
    sessions: SessionRules = field(default_factory=SessionRules)
    protocol: Protocol = field(default_factory=Protocol)
    isolation: Isolation = field(default_factory=Isolation)
    tasks: TaskRules = field(default_factory=TaskRules)
    states: StateRules = field(default_factory=StateRules)
    listing: Listing = field(default_factory=Listing)
    upstream: Upstream = field(default_factory=Upstream)
    views: ViewRules = field(default_factory=ViewRules)


SOUND = Behaviour()
