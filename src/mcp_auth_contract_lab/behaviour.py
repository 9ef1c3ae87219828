"""Everything a protected server decides, as steps that a profile or a fault can replace one by one."""

from dataclasses import dataclass

from mcp_auth_contract_lab import challenges as _challenges
from mcp_auth_contract_lab import credentials as _credentials
from mcp_auth_contract_lab import documents as _documents
from mcp_auth_contract_lab import endpoint as _endpoint
from mcp_auth_contract_lab import introspection as _introspection
from mcp_auth_contract_lab import keyring as _keyring
from mcp_auth_contract_lab import methods as _methods
from mcp_auth_contract_lab import protocol as _protocol
from mcp_auth_contract_lab import records as _records
from mcp_auth_contract_lab import scopes as _scopes
from mcp_auth_contract_lab import sessions as _sessions
from mcp_auth_contract_lab import states as _states
from mcp_auth_contract_lab import tasks as _tasks
from mcp_auth_contract_lab import upstream as _upstream
from mcp_auth_contract_lab import verification as _verification


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One group of steps per room. The defaults are the sound server."""

    credentials: _credentials.Credentials = _credentials.SOUND
    verification: _verification.Verification = _verification.SOUND
    keyring: _keyring.Keyring = _keyring.SOUND
    introspection: _introspection.Introspection = _introspection.SOUND
    scopes: _scopes.Scopes = _scopes.SOUND
    challenges: _challenges.Challenges = _challenges.SOUND
    documents: _documents.Documents = _documents.SOUND
    endpoint: _endpoint.Endpoint = _endpoint.SOUND
    sessions: _sessions.SessionRules = _sessions.SOUND
    protocol: _protocol.Protocol = _protocol.SOUND
    isolation: _records.Isolation = _records.SOUND
    tasks: _tasks.TaskRules = _tasks.SOUND
    states: _states.StateRules = _states.SOUND
    listing: _methods.Listing = _methods.SOUND
    upstream: _upstream.Upstream = _upstream.SOUND


SOUND = Behaviour()
