"""The server under test as an ASGI application in this process: imported afresh, started and shut down."""

import asyncio
import contextlib
import importlib
import inspect
import io
import os
import sys
import traceback
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from mcp_auth_contract.errors import ContractError, Unreachable
from mcp_auth_contract.suggest import suggest
from mcp_auth_contract.wire import AsgiApp

_KIT = __name__.partition(".")[0]
_START_LIMIT_S = 60.0
_STOP_LIMIT_S = 10.0
_LONGEST_MESSAGE = 300
_KEPT_PARTS = 1000
_KEPT_OF_PART = 4096
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_MAKERS = ("http_app", "streamable_http_app", "asgi_app")
"""Methods by which MCP servers make their ASGI application."""


class _Output(io.TextIOBase):
    """Keeps the end of what is printed to it, and hands it on to where it went before, if that is given."""

    def __init__(self, through: TextIO | None = None) -> None:
        super().__init__()
        self._through = through
        self._parts: deque[str] = deque(maxlen=_KEPT_PARTS)

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._parts.append(text[-_KEPT_OF_PART:])
        if self._through is not None:
            self._through.write(text)
        return len(text)

    def flush(self) -> None:
        if self._through is not None:
            self._through.flush()

    @property
    def text(self) -> str:
        return "".join(self._parts)


@dataclass(frozen=True, slots=True)
class LoadedApp:
    """An application and what its lifespan keeps for its requests."""

    app: AsgiApp
    state: dict[str, Any] = field(default_factory=dict)
    _written: _Output = field(default_factory=_Output, repr=False)
    _errors: _Output = field(default_factory=_Output, repr=False)

    @property
    def output(self) -> str:
        """The end of what it wrote to stdout and stderr."""
        return self._written.text + self._errors.text


@contextmanager
def loaded(
    name: str,
    *,
    folder: Path,
    env: Mapping[str, str],
    label: str,
    redact: Callable[[str], str] = lambda text: text,
    keep_output: bool = True,
) -> Iterator[LoadedApp]:
    """Import the application `module:attribute`, or call `module:attribute()`, for as long as the block lasts.

    During the block `folder` stands first on the module path, `env` is part of the environment, and what is printed
    is kept as the application's output (`keep_output`), because the terminal is the report's; afterwards all is as
    before. The application's modules are imported afresh each time. Raises ContractError in one line; `redact` cleans
    what it repeats of an exception. `label` is the contract's name.
    """
    module_name, _, attribute = name.partition(":")
    problem = _Problem(f"{label}: target.app", folder, redact)
    output = _Output()
    with (
        _surroundings(module_name, folder, env),
        contextlib.redirect_stdout(output) if keep_output else contextlib.nullcontext(),
        contextlib.redirect_stderr(output) if keep_output else contextlib.nullcontext(),
    ):
        module = _imported(module_name, problem)
        app = _found(module, attribute, name, problem)
        _demand_asgi(app, name, problem)
        yield LoadedApp(app, _written=output)


@contextmanager
def overheard(app: AsgiApp) -> Iterator[LoadedApp]:
    """Keep a copy of what this process prints during the block as the output of an application made elsewhere."""
    output, errors = _Output(sys.stdout), _Output(sys.stderr)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        yield LoadedApp(app, _written=output, _errors=errors)


@asynccontextmanager
async def lifespan(
    running: LoadedApp, *, label: str, redact: Callable[[str], str] = lambda text: text
) -> AsyncIterator[None]:
    """Start the application and shut it down again, as servers do (ASGI lifespan protocol 2.0).

    One without lifespan support is left alone. Raises Unreachable when its startup fails.
    """
    life = _Lifespan()
    scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": running.state}
    task = asyncio.create_task(life.run(running.app, scope))
    try:
        failure = await life.startup(task)
        if failure is not None:
            raise Unreachable(f"{label}: target.app: its startup failed: {_one_line(redact(failure))}")
        yield
    finally:
        await life.shutdown(task)


class _Lifespan:
    """The server's side of one lifespan."""

    def __init__(self) -> None:
        self._events: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self._sent: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self.supported = False

    async def run(self, app: AsgiApp, scope: Any) -> None:
        try:
            await app(scope, self._events.get, self._sent.put)
        except (SystemExit, KeyboardInterrupt) as left:
            how = f"with code {left.code}" if isinstance(left, SystemExit) else "by an interrupt"
            raise RuntimeError(f"the application left {how}") from None

    async def startup(self, task: asyncio.Task[None]) -> str | None:
        """Return why the startup failed; None when it did not, or when there is none."""
        self._events.put_nowait({"type": "lifespan.startup"})
        message = await self._next(task, _START_LIMIT_S)
        if message is None and not task.done():
            return f"not ready after {_START_LIMIT_S:g} s"
        if message is None:  # an exception or a return without a word: an application without lifespan
            return None
        if message["type"] == "lifespan.startup.failed":
            # Starlette sends the whole traceback.
            lines = [line for line in str(message.get("message", "")).splitlines() if line.strip()]
            return lines[-1] if lines else "it does not say why"
        self.supported = True
        return None

    async def shutdown(self, task: asyncio.Task[None]) -> None:
        """Let the application shut down. A failure in it changes nothing that was seen, and is not reported."""
        if self.supported and not task.done():
            self._events.put_nowait({"type": "lifespan.shutdown"})
            await self._next(task, _STOP_LIMIT_S)
            await asyncio.wait({task}, timeout=_STOP_LIMIT_S)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _next(self, task: asyncio.Task[None], time_limit: float) -> Mapping[str, Any] | None:
        message = asyncio.create_task(self._sent.get())
        await asyncio.wait({task, message}, timeout=time_limit, return_when=asyncio.FIRST_COMPLETED)
        if message.done():
            return message.result()
        message.cancel()
        return None if self._sent.empty() else self._sent.get_nowait()


@dataclass(frozen=True, slots=True)
class _Problem:
    """Says in one line what is wrong with the application."""

    place: str
    folder: Path
    redact: Callable[[str], str]

    def because(self, what: str, repair: str) -> ContractError:
        return ContractError(f"{self.place}: {what}; {repair}")

    def raised(self, what: str, error: BaseException) -> ContractError:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).is_relative_to(self.folder)]
        where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
        said = _one_line(self.redact(f"{type(error).__name__}: {error}"))
        return self.because(f"{what} failed{where}: {said}", "correct the server, or set what it needs in target.env")


def _one_line(text: str) -> str:
    return "".join(filter(str.isprintable, " ".join(text.split())))[:_LONGEST_MESSAGE]


def _imported(name: str, problem: _Problem) -> ModuleType:
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            what = f"there is no module {error.name}"
            raise problem.because(what, "name one in the contract's folder, or install it where the kit runs") from None
        raise problem.raised(f"importing {name}", error) from None
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a user's module raises is a problem of it
        raise problem.raised(f"importing {name}", error) from None


def _found(module: ModuleType, attribute: str, name: str, problem: _Problem) -> Any:
    call = attribute.endswith("()")
    value: Any = module
    for part in attribute.removesuffix("()").split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            known = [name for name in dir(value) if not name.startswith("__")]
            repair = suggest(part, known, 'write it like "my_server:app"')
            raise problem.because(f'no "{part}" in {name.removesuffix("()")}', repair) from None
    if not call:
        return value
    if not callable(value):
        raise problem.because(f"{name.removesuffix('()')} cannot be called", "remove the ()")
    try:
        return value()
    except (Exception, SystemExit) as error:  # noqa: BLE001  as above
        raise problem.raised(f"calling {name}", error) from None


def _demand_asgi(app: Any, name: str, problem: _Problem) -> None:
    """See by its parameters whether something is an ASGI application; raises ContractError."""
    if inspect.iscoroutine(app):
        app.close()
        raise problem.because(f"{name} is a coroutine", "let a plain function return the application")
    maker = next((maker for maker in _MAKERS if callable(getattr(app, maker, None))), None)
    if not callable(app):
        repair = f'write "{name}.{maker}()"' if maker else 'name the ASGI application, like "my_server:app"'
        raise problem.because(f"{name} is no ASGI application but of type {type(app).__name__}", repair)
    if _takes(app, 3):
        return
    if _takes(app, 2):
        repair = "wrap it into an ASGI adapter, or serve it and write target.url"
        raise problem.because(f"{name} is a WSGI application, which is not run in process", repair)
    if _takes(app, 0):
        raise problem.because(f"{name} is a function without parameters", f'call it: "{name}()"')
    repair = "name an application that takes scope, receive and send"
    raise problem.because(f"{name} is no ASGI application (version 3)", repair)


def _takes(called: Any, count: int) -> bool:
    """Whether something can be called with this many arguments; True where that cannot be known."""
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind(*([None] * count))
    except TypeError:
        return False
    return True


@contextmanager
def _surroundings(module_name: str, folder: Path, env: Mapping[str, str]) -> Iterator[None]:
    """Give the server its environment and its folder on the module path, and set its imported modules aside.

    Afterwards all three are as they were.
    """
    environ, path = dict(os.environ), list(sys.path)
    aside = _taken(module_name, folder)
    os.environ.update(env)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        for name in env:
            os.environ.pop(name, None)
        os.environ.update({name: environ[name] for name in env if name in environ})
        sys.path[:] = path
        _taken(module_name, folder)
        sys.modules.update(aside)


def _taken(module_name: str, folder: Path) -> dict[str, ModuleType]:
    """Remove the server's modules from the imported ones, and return them."""
    package, folder = module_name.partition(".")[0], folder.resolve()
    own = [name for name, module in sys.modules.copy().items() if _is_own(name, module, package, folder)]
    return {name: sys.modules.pop(name) for name in own}


def _is_own(name: str, module: ModuleType, own_package: str, folder: Path) -> bool:
    """Whether a module is the server's: in its package, or below its folder and not installed."""
    package = name.partition(".")[0]
    if package in (_KIT, "__main__") or package in sys.stdlib_module_names:
        return False
    if package == own_package:
        return True
    names = getattr(module, "__dict__", {})  # read like this, a lazy module stays lazy
    path = names.get("__path__")
    # That of a namespace package is computed anew whenever it is looked at, and fails where its parent is gone.
    path = () if path is None else getattr(path, "_path", path)
    place = names.get("__file__") or next(iter(path), None)
    if not isinstance(place, str):
        return False
    file = Path(place).absolute()
    return file.is_relative_to(folder) and not _INSTALLED.intersection(file.parts)
