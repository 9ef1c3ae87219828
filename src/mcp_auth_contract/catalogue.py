"""The catalogue of checks: data files in a closed vocabulary, in which anything unknown is refused."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from mcp_auth_contract.checks.presentation import PRESENTATIONS
from mcp_auth_contract.checks.registry import JUDGES, PROBES, TOKENS
from mcp_auth_contract.citations import CITATIONS
from mcp_auth_contract.datafiles import data_folder
from mcp_auth_contract.errors import ContractError
from mcp_auth_contract.model import Impact, Level, Revision
from mcp_auth_contract.suggest import suggest


class Axis(StrEnum):
    """Over what a check expands into cases."""

    ONCE = "once"
    """One case for the whole run: metadata documents know no revision of the protocol."""
    CONTROL = "control"
    """One case per revision, on the control operation."""
    OPERATIONS = "operations"
    """One case per revision and operation that needs a token."""
    MISSING_SCOPES = "missing_scopes"
    """One case per revision, operation and scope that the operation needs."""
    RECORDS = "records"
    """One case per revision, record, principal and way of that principal to that record."""
    IMPLIED_SCOPES = "implied_scopes"
    """One case per revision, operation and broader scope that implies one it needs (`policy.implies`)."""
    FREE_OPERATIONS = "free_operations"
    """One case per revision and operation that needs no scope."""
    VIEWS = "views"
    """One case per revision and View of the contract, on the call of its tool."""


class Need(StrEnum):
    """What must hold before a check can say anything; what the contract lacks makes it not applicable."""

    CONTROL = "control"
    """The same call with the unbroken token is accepted before and after (else inconclusive)."""
    GATED = "gated"
    """The same call without a token is refused; an open operation proves nothing about how a token is offered."""
    SUBJECT = "subject"
    """`claims.required` names the subject claim."""
    TENANT = "tenant"
    """`claims.required` names the tenant claim."""
    RSA = "rsa"
    """The issuer signs with an RSA key."""
    JWT = "jwt"
    """The tokens are JWTs, verified with the issuer's keys."""
    TOOL_CHALLENGE = "tool_challenge"
    """`policy.challenge` lets challenges come in tool results, and the operation is a tool."""
    AUDIT = "audit"
    """The contract names an audit log."""
    OPAQUE = "opaque"
    """The tokens are opaque, and the issuer is asked about them (RFC 7662)."""
    VIEWS = "views"
    """The contract declares Views (MCP Apps)."""


class ScopeChoice(StrEnum):
    """Which scopes the token carries."""

    PRINCIPAL = "principal"
    """All that the contract grants to the principal."""
    EXACT = "exact"
    """Just those the operation needs."""
    MISSING = "missing"
    """Every scope of the contract but the one under test, and those that imply it."""
    NONE = "none"
    """No scope at all."""
    SUPERSET = "superset"
    """Every scope of the contract, and some that nobody knows."""
    BROADER = "broader"
    """The broader scope in the place of those that it implies."""
    UNRELATED = "unrelated"
    """Every scope of the contract but those the operation needs, and those that imply one of them."""


@dataclass(frozen=True, slots=True)
class Check:
    """One clause of the contract.

    `tokens`, `presentations` and `forms` are lists: each combination is a case of its own. `presentations` say how the
    token is presented, `forms` name the forms of the question for the probes that have several. `since` and `until`
    are the first and last MCP revision to which the clause applies. `core` checks run on every revision of the server.

    `baseline` is a legal token with the same feature: where the server does not accept it, a refusal of the faulty one
    proves nothing, and the case is not applicable. `tries` is how often the call is made, on fresh connections.
    """

    id: str
    family: str
    title: str
    level: Level
    impact: Impact
    cites: tuple[str, ...]
    requirements: tuple[str, ...]
    probe: str
    judge: str
    why: str
    remedy: str
    over: Axis = Axis.CONTROL
    since: Revision | None = None
    until: Revision | None = None
    needs: frozenset[Need] = frozenset()
    tokens: tuple[str, ...] = ()
    scopes: ScopeChoice = ScopeChoice.PRINCIPAL
    presentations: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    baseline: str | None = None
    tries: int = 1
    core: bool = False

    def applies_to(self, revision: Revision) -> bool:
        """Whether the clause exists in a revision of the protocol."""
        return (self.since is None or revision >= self.since) and (self.until is None or revision <= self.until)


FAMILIES = (
    "prm",
    "as",
    "challenge",
    "token",
    "time",
    "keys",
    "introspection",
    "scope",
    "isolation",
    "session",
    "transport",
    "tool-challenge",
    "leak",
    "revision",
    "host",
    "app",
    "flow",
    "grant",
    "refresh",
    "revocation",
    "registration",
    "capability",
)
"""The id prefixes; the part of an id before the property."""

_MOST_TRIES = 20
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+\Z")
_REQUIRED = ("id", "title", "level", "impact", "cites", "requirements", "probe", "judge", "why", "remedy")
_OPTIONAL = ("over", "since", "until", "needs", "token", "scopes", "presentation", "forms", "baseline", "tries", "core")

E = TypeVar("E", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One table of a file, with the words to say where it stands."""

    file: Path
    number: int
    values: Mapping[str, Any]

    def fault(self, key: str, what: str) -> ContractError:
        name = self.values.get("id", f"entry {self.number}")
        return ContractError(f"{self.file.name}: {name}: {key}: {what}")


def retired_ids(folder: Path) -> frozenset[str]:
    """Return the ids in retired.toml, which no new check may use."""
    file = folder / "retired.toml"
    if not file.is_file():
        return frozenset()
    return frozenset(entry["id"] for entry in tomllib.loads(file.read_text("utf-8")).get("retired", []))


def load_builtin(extra: Iterable[Path] = ()) -> tuple[Check, ...]:
    """Return the checks of the kit, followed by those of the given folders (`--scenarios DIR`)."""
    scenarios = data_folder("scenarios")
    return load_catalogue([scenarios / "catalogue", *extra], retired=retired_ids(scenarios))


def load_catalogue(folders: Iterable[Path], *, retired: frozenset[str] = frozenset()) -> tuple[Check, ...]:
    """Return all checks of the TOML files in the folders, in the order of file name and entry.

    Raises ContractError, naming file, entry and nearest known word, for an unreadable file, an unknown key or
    word, a missing key, an id used twice or retired, and parameters that the probe does not take.
    """
    checks: dict[str, Check] = {}
    for folder in folders:
        if not folder.is_dir():
            raise ContractError(f"{folder}: no such folder of checks")
        for file in sorted(folder.glob("*.toml")):
            for check in _load_file(file):
                if check.id in checks:
                    raise ContractError(f"{file.name}: {check.id}: id: used twice; give each check its own id")
                if check.id in retired:
                    raise ContractError(f"{file.name}: {check.id}: id: retired; a retired id is never used again")
                checks[check.id] = check
    return tuple(checks.values())


def _load_file(file: Path) -> Iterable[Check]:
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ContractError(f"{file.name}: not readable as TOML: {fault}") from None
    if unknown := set(content) - {"check"}:
        word = min(unknown)
        raise ContractError(f"{file.name}: {word}: unknown table; {suggest(word, ['check'])}")
    for number, values in enumerate(content.get("check", []), 1):
        yield _check(_Entry(file, number, values))


def _check(entry: _Entry) -> Check:
    values = entry.values
    for key in values:
        if key not in (*_REQUIRED, *_OPTIONAL):
            raise entry.fault(key, f"unknown key; {suggest(key, (*_REQUIRED, *_OPTIONAL))}")
    for key in _REQUIRED:
        if not values.get(key):
            raise entry.fault(key, "missing")
    check_id = _text(entry, "id")
    if not _ID.match(check_id):
        raise entry.fault("id", "write it in kebab-case, as in token-expired-refused")
    family = next((one for one in FAMILIES if check_id.startswith(f"{one}-")), None)
    if family is None:
        raise entry.fault("id", f"begins with no known family; {suggest(check_id.split('-')[0], FAMILIES)}")
    title = _text(entry, "title")
    if len(title) > 80:
        raise entry.fault("title", f"{len(title)} characters; keep it under 80")
    check = Check(
        id=check_id,
        family=family,
        title=title,
        level=_word(entry, "level", Level, Level.MUST),
        impact=_word(entry, "impact", Impact, Impact.HYGIENE),
        cites=_words(entry, "cites", CITATIONS),
        requirements=_words(entry, "requirements", None),
        probe=_known(entry, "probe", PROBES),
        judge=_known(entry, "judge", JUDGES),
        why=_text(entry, "why"),
        remedy=_text(entry, "remedy"),
        over=_word(entry, "over", Axis, Axis.CONTROL),
        since=_revision(entry, "since"),
        until=_revision(entry, "until"),
        needs=frozenset(Need(word) for word in _words(entry, "needs", {need.value: need for need in Need})),
        tokens=_words(entry, "token", TOKENS),
        scopes=_word(entry, "scopes", ScopeChoice, ScopeChoice.PRINCIPAL),
        presentations=_words(entry, "presentation", PRESENTATIONS),
        forms=_words(entry, "forms", None),
        baseline=_known(entry, "baseline", TOKENS) or None,
        tries=_tries(entry),
        core=bool(values.get("core", False)),
    )
    _agree(entry, check)
    return check


def _agree(entry: _Entry, check: Check) -> None:
    """Refuse combinations that a probe or judge cannot serve; a silent mismatch would drop a check."""
    probe, judge = PROBES[check.probe], JUDGES[check.judge]
    if probe.observes is not judge.observes:
        judges, observes = judge.observes.__name__, probe.observes.__name__
        raise entry.fault("judge", f"{check.judge} judges {judges}, but {check.probe} observes {observes}")
    given = {
        "token": bool(check.tokens),
        "presentation": bool(check.presentations),
        "forms": bool(check.forms),
        "scopes": check.scopes is not ScopeChoice.PRINCIPAL,
        "baseline": check.baseline is not None,
        "tries": check.tries != 1,
    }
    for key, present in given.items():
        if present and key not in probe.takes:
            raise entry.fault(key, f"the probe {check.probe} does not take it")
        if not present and key in probe.requires:
            raise entry.fault(key, f"missing: the probe {check.probe} needs it")
    for needed, axis in ((probe.once, Axis.ONCE), (probe.records, Axis.RECORDS)):
        if needed is not (check.over is axis):
            verb = "needs" if needed else "cannot run"
            raise entry.fault("over", f'the probe {check.probe} {verb} over = "{axis}"')
    if probe.records and check.needs & {Need.CONTROL, Need.GATED}:
        raise entry.fault("needs", f"the probe {check.probe} brings its own controls along")
    for word, axis in ((ScopeChoice.MISSING, Axis.MISSING_SCOPES), (ScopeChoice.BROADER, Axis.IMPLIED_SCOPES)):
        if (check.scopes is word) is not (check.over is axis):
            raise entry.fault("scopes", f'"{word}" goes with over = "{axis}", and only with it')
    for form in check.forms:
        if form not in probe.forms:
            raise entry.fault("forms", f'unknown word "{form}"; {suggest(form, probe.forms)}')


def _tries(entry: _Entry) -> int:
    tries = entry.values.get("tries", 1)
    if not isinstance(tries, int) or isinstance(tries, bool) or not 1 <= tries <= _MOST_TRIES:
        raise entry.fault("tries", f"must be a whole number from 1 to {_MOST_TRIES}")
    return tries


def _text(entry: _Entry, key: str) -> str:
    value = entry.values.get(key)
    if not isinstance(value, str) or not value.strip():
        raise entry.fault(key, "must be a non-empty string")
    return " ".join(value.split())


def _words(entry: _Entry, key: str, known: Mapping[str, Any] | None) -> tuple[str, ...]:
    value = entry.values.get(key, [])
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise entry.fault(key, "must be a string or a list of strings")
    if len(set(words)) != len(words):
        raise entry.fault(key, "holds a word twice")
    for word in words:
        if known is not None and word not in known:
            raise entry.fault(key, f'unknown word "{word}"; {suggest(word, known)}')
    return tuple(words)


def _known(entry: _Entry, key: str, known: Mapping[str, Any]) -> str:
    (word,) = _words(entry, key, known) or ("",)
    return word


def _word(entry: _Entry, key: str, words: type[E], default: E) -> E:
    make: Callable[[str], E] = words
    given = _words(entry, key, {word.value: word for word in words})
    if len(given) > 1:
        raise entry.fault(key, "takes one word")
    return make(given[0]) if given else default


def _revision(entry: _Entry, key: str) -> Revision | None:
    given = _words(entry, key, {revision.value: revision for revision in Revision})
    return Revision(given[0]) if given else None
