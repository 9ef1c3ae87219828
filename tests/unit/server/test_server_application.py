"""Loading an application into this process: afresh each time, nothing left behind, every fault one line."""

import asyncio
import importlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from mcp_auth_contract.errors import ContractError, Unreachable
from mcp_auth_contract.server import lifespan, loaded
from mcp_auth_contract.server.application import LoadedApp

SERVER = """
import os
from helper import VALUE

async def app(scope, receive, send):
    pass

app.issuer = os.environ.get("ISSUER")
app.value = VALUE
"""


def write(folder: Path, **modules: str) -> None:
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, "utf-8")


def load(name: str, folder: Path, env: dict[str, str] | None = None) -> Any:
    with loaded(
        name, folder=folder, env=env or {}, label="c.toml", redact=lambda text: text.replace("s3cret", "…")
    ) as one:
        return one.app


def test_an_application_is_imported_afresh_with_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, fresh_server=SERVER, helper="VALUE = 1")
    monkeypatch.setenv("ISSUER", "mine")
    first = load("fresh_server:app", tmp_path, {"ISSUER": "one", "NEW_NAME": "x"})
    second = load("fresh_server:app", tmp_path, {"ISSUER": "two"})
    assert (first.issuer, second.issuer) == ("one", "two")
    assert os.environ["ISSUER"] == "mine"
    assert "NEW_NAME" not in os.environ


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    write(tmp_path, fresh_server=SERVER, helper="VALUE = 1")
    modules, path, out, err = set(sys.modules), list(sys.path), sys.stdout, sys.stderr
    with loaded("fresh_server:app", folder=tmp_path, env={}, label="c.toml"):
        assert sys.path[0] == str(tmp_path)
        assert "helper" in sys.modules
    assert not {"fresh_server", "helper"} & set(sys.modules)
    assert modules - set(sys.modules) == set()
    assert (sys.path, sys.stdout, sys.stderr) == (path, out, err)


def test_what_a_module_imported_before_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, fresh_server=SERVER, helper="VALUE = 1")
    monkeypatch.syspath_prepend(str(tmp_path))
    mine = __import__("helper")
    mine.VALUE = 2
    try:
        assert load("fresh_server:app", tmp_path).value == 1
        assert sys.modules["helper"] is mine
    finally:
        del sys.modules["helper"]


def test_installed_packages_below_the_folder_are_not_imported_twice() -> None:
    here = Path(__file__).parents[3]  # a checkout, which often holds its virtual environment
    before = {name: id(module) for name, module in sys.modules.items() if name.partition(".")[0] in ("httpx", "pytest")}
    with pytest.raises(ContractError):
        load("no_such_module_here:app", here)
    assert {name: id(sys.modules[name]) for name in before} == before


def test_a_namespace_package_whose_parent_is_gone_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere" / "parent_gone" / "child").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    child = importlib.import_module("parent_gone.child")
    del sys.modules["parent_gone"]
    monkeypatch.setitem(sys.modules, "parent_gone.child", child)
    write(tmp_path, fresh_server=SERVER, helper="VALUE = 1")
    assert load("fresh_server:app", tmp_path).value == 1


def test_streams_are_left_alone_on_request(tmp_path: Path) -> None:
    write(tmp_path, fresh_server=SERVER, helper="VALUE = 1")
    out = sys.stdout
    with loaded("fresh_server:app", folder=tmp_path, env={}, label="c.toml", keep_output=False):
        assert sys.stdout is out


def test_what_an_application_prints_is_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, fresh_server="print('hello')\n" + SERVER, helper="VALUE = 1")
    with loaded("fresh_server:app", folder=tmp_path, env={}, label="c.toml") as one:
        print("more", file=sys.stderr)
    assert one.output == "hello\nmore\n"
    assert "hello" not in repr(one)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["shapes:make()", "shapes:holder.make()", "shapes:holder.app", "shapes:Callable3()"])
def test_a_dotted_attribute_and_a_factory_are_followed(name: str, tmp_path: Path) -> None:
    write(tmp_path, shapes=SHAPES)
    assert callable(load(name, tmp_path))


SHAPES = """
class Callable3:
    async def __call__(self, scope, receive, send): pass

class Server:
    def http_app(self): return Callable3()

def make(): return Callable3()

class holder:
    app = Callable3()
    make = staticmethod(make)

mcp = Server()
number = 3
def wsgi(environ, start_response): return []
def old(scope): return None
def needs_secret(): raise KeyError("s3cret")
async def later(): return make()
def leaves(): raise SystemExit("bye")
"""

FAULTS = [
    (
        "nowhere_to_be_found:app",
        "there is no module nowhere_to_be_found; name one in the contract's folder, or install it where the kit runs",
    ),
    (
        "shapes.deeper:app",
        "there is no module shapes.deeper; name one in the contract's folder",
    ),
    ("shapes:nmber", 'no "nmber" in shapes:nmber; did you mean "number"?'),
    ("shapes:zzzzz", 'no "zzzzz" in shapes:zzzzz; write it like "my_server:app"'),
    ("shapes:number", "shapes:number is no ASGI application but of type int; name the ASGI application"),
    ("shapes:number()", "shapes:number cannot be called; remove the ()"),
    ("shapes:mcp", 'shapes:mcp is no ASGI application but of type Server; write "shapes:mcp.http_app()"'),
    ("shapes:make", 'shapes:make is a function without parameters; call it: "shapes:make()"'),
    ("shapes:wsgi", "shapes:wsgi is a WSGI application, which is not run in process; wrap it"),
    ("shapes:old", "shapes:old is no ASGI application (version 3); name an application that takes scope"),
    ("shapes:later()", "shapes:later() is a coroutine; let a plain function return the application"),
    ("shapes:needs_secret()", "calling shapes:needs_secret() failed (shapes.py, line 18): KeyError: '…'; correct"),
    ("shapes:leaves()", "calling shapes:leaves() failed (shapes.py, line 20): SystemExit: bye; correct the server"),
    ("broken:app", "importing broken failed (broken.py, line 2): KeyError: 'ISSUER'; correct the server, or set"),
    ("lacking:app", "importing lacking failed (lacking.py, line 1): ModuleNotFoundError: No module named 'not_there'"),
    ("unreadable:app", "importing unreadable failed: SyntaxError: "),
]


@pytest.mark.parametrize(("name", "told"), FAULTS)
def test_a_fault_is_one_line_that_names_the_place_and_the_repair(name: str, told: str, tmp_path: Path) -> None:
    broken = "import os\nos.environ['ISSUER']"
    write(tmp_path, shapes=SHAPES, broken=broken, lacking="import not_there", unreadable="def (")
    with pytest.raises(ContractError) as caught:
        load(name, tmp_path)
    message = str(caught.value)
    assert message.startswith(f"c.toml: target.app: {told}")
    assert "\n" not in message
    assert caught.value.__cause__ is None
    assert not {"shapes", "broken", "lacking"} & set(sys.modules)


def live(app: Any, body: Any = None) -> list[str]:
    """Run an application's lifespan, and return what it left in its state."""

    async def run() -> list[str]:
        running = LoadedApp(app)
        async with lifespan(running, label="c.toml", redact=lambda text: text.replace("s3cret", "…")):
            if body is not None:
                body()
        assert len(asyncio.all_tasks()) == 1
        return list(running.state.get("log", []))

    return asyncio.run(run())


async def sound(scope: Any, receive: Any, send: Any) -> None:
    log = scope["state"]["log"] = []
    log.append((await receive())["type"])
    await send({"type": "lifespan.startup.complete"})
    log.append((await receive())["type"])
    await send({"type": "lifespan.shutdown.complete"})


def test_an_application_is_started_and_shut_down() -> None:
    assert live(sound) == ["lifespan.startup", "lifespan.shutdown"]


def test_it_is_shut_down_after_a_failure_too() -> None:
    log: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope["state"]["log"] = log
        await sound(scope, receive, send)
        log.extend(scope["state"]["log"])

    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        live(app, fail)
    assert log == ["lifespan.startup", "lifespan.shutdown"]


async def refuses(scope: Any, receive: Any, send: Any) -> None:
    assert scope["type"] == "http"


async def returns(scope: Any, receive: Any, send: Any) -> None:
    return


async def fails_late(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    raise RuntimeError("too late to matter")


@pytest.mark.parametrize("app", [refuses, returns, fails_late])
def test_one_without_lifespan_is_left_alone(app: Any) -> None:
    assert live(app) == []


def test_a_failed_startup_is_one_line() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "Traceback:\n  line\nOSError: no s3cret database\n"})

    with pytest.raises(Unreachable) as caught:
        live(app)
    assert str(caught.value) == "c.toml: target.app: its startup failed: OSError: no … database"
