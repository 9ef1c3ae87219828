"""The tasks of a contributor: `nox` is the one-minute loop, `nox -l` lists them all.

Without a network `nox -R` uses the environments of an earlier time, and `nox --no-venv` the one that is active.
"""

import nox

nox.needs_version = ">=2024.10"
nox.options.sessions = ["quick"]
nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True

PYTEST = ("pytest", "-n", "2", "--dist", "worksteal")


def install(session: nox.Session) -> None:
    """Install the kit and its test tools, as tests/run.sh does."""
    if session.virtualenv.venv_backend != "none":
        session.install("--quiet", "--upgrade", "pip>=25.1")
        session.install("--quiet", "--editable", ".[pytest]", "--group", "dev")


@nox.session
def quick(session: nox.Session) -> None:
    """Lint, types, layers and the fast tests: under a minute on two cores."""
    install(session)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")
    fast = "not benchmark and not slow and not hypothesis"
    cached = {"PYTHONDONTWRITEBYTECODE": ""}  # collecting takes half as long when rewritten modules are kept
    session.run(*PYTEST, "-m", fast, *(session.posargs or ["tests/unit"]), env=cached)


@nox.session(venv_backend="none")
def all(session: nox.Session) -> None:  # noqa: A001  the name of the session
    """Everything that continuous integration runs."""
    session.run("bash", "tests/run.sh", *session.posargs)


@nox.session
def matrix(session: nox.Session) -> None:
    """Every fault and every legal profile of the sample server against every check: takes long."""
    install(session)
    whole = {"MCP_AUTH_CONTRACT_WHOLE_MATRIX": "1"}
    session.run(*PYTEST, *(session.posargs or ["tests/lab"]), env=whole)
