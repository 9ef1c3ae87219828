"""What probes of scopes see, as literals: challenges followed, a surface, ways past a check."""

from tests.unit.checks.literals import answer, facts, result

from mcp_auth_contract.answers import Answer, Attempt, read
from mcp_auth_contract.checks.scopes.observation import BypassObserved, Round, RoundsObserved, Surface, SurfaceObserved

READ, WRITE = "invoices:read", "invoices:write"
BOTH = facts(needed=frozenset({READ, WRITE}))


def weak(*scopes: str) -> Answer:
    """A 403 with one challenge for each of the given scope parameters."""
    return answer(403, *(f'Bearer error="insufficient_scope", scope="{scope}"' for scope in scopes))


def tried(each: Answer, way: str = "tried") -> Attempt:
    return Attempt(way, "call", each, read(each))


def rounds(*asked: Answer, then: tuple[tuple[str, Answer], ...] = ()) -> RoundsObserved:
    """A call with a token without scopes, then with the scopes given as text."""
    stepped = tuple(Round(frozenset(scopes.split()), tried(each)) for scopes, each in then)
    return RoundsObserved("approve_invoice", frozenset(), tuple(tried(each) for each in asked), stepped)


def surface(
    *listed: str, undeclared: tuple[str, ...] = (), unlisted: tuple[tuple[str, Answer], ...] = (), complete: bool = True
) -> SurfaceObserved:
    """The tools of a server, and nothing else."""
    called = tuple((name, tried(each)) for name, each in unlisted)
    return SurfaceObserved((Surface("tools", listed, undeclared, called, (result(),), complete),))


def bypass(
    attempt: Answer | None,
    control: Answer | None = None,
    permitted: Answer | None = None,
    plain: Answer | None = None,
) -> BypassObserved:
    """A message that is written in an unusual way."""
    return BypassObserved(
        "get_invoice",
        tried(control or result(content=["INV-1"])),
        None if attempt is None else tried(attempt),
        None if permitted is None else "list_currencies",
        None if permitted is None else tried(permitted),
        None if plain is None else tried(plain),
    )


EVERYTHING = weak(f"{READ} {WRITE}")

FAILING_SCOPES = {
    "rounds_complete": (rounds(weak(READ)), BOTH),
    "rounds_consistent": (rounds(weak(READ), weak(WRITE)), BOTH),
    "rounds_satisfiable": (rounds(weak(READ), then=((READ, weak(READ)),)), BOTH),
    "rounds_single": (
        rounds(weak(READ), then=((READ, weak(WRITE)), (f"{READ} {WRITE}", result()))),
        BOTH,
    ),
    "not_past_scopes": (bypass(result(content=["INV-1"]), plain=weak(READ)), facts()),
    "surface_declared": (surface("get_invoice", "debug_dump", undeclared=("debug_dump",)), facts()),
    "surface_offered": (surface(unlisted=(("export_invoices", answer(400)),)), facts()),
}
"""For each judge of scopes the observation that it is there to catch."""

SOUND_ROUNDS = rounds(EVERYTHING, EVERYTHING, EVERYTHING, then=((f"{READ} {WRITE}", result()),))
SOUND_SURFACE = surface("get_invoice")
SOUND_BYPASS = bypass(weak(READ))
