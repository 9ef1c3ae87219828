"""Running the lab as a process, configured by the environment."""

import os
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest

from mcp_auth_contract.errors import UsageError
from mcp_auth_contract_lab.profile import Profile
from mcp_auth_contract_lab.server import run_lab, settings_from

RUN = "import os, sys; from mcp_auth_contract_lab.server import run_lab; run_lab(int(sys.argv[1]), os.environ)"


def test_the_environment_configures_the_server():
    environ = {
        "ISSUER": "http://127.0.0.1:9/", "JWKS_URI": "http://127.0.0.1:9/keys", "RESOURCE": "https://r.test/mcp",
        "CA_FILE": "/tmp/ca.pem", "ALGORITHMS": "ES256 RS256", "TENANT_CLAIM": "org", "LEEWAY": "5",
        "JWKS_COOLDOWN": "0.5",
    }  # fmt: skip
    settings = settings_from(environ, 8000, None, [Profile.SSE])
    assert (settings.issuer, settings.jwks_uri) == ("http://127.0.0.1:9/", "http://127.0.0.1:9/keys")
    assert (settings.resource, settings.base) == ("https://r.test/mcp", "http://127.0.0.1:8000")
    assert (settings.algorithms, settings.claims.tenant) == (("ES256", "RS256"), "org")
    assert (settings.leeway, settings.jwks_cooldown) == (5.0, 0.5)
    assert settings.profiles == {Profile.SSE}
    assert str(settings.ca_file) == "/tmp/ca.pem"


def test_the_audit_log_lies_where_the_environment_says():
    assert (
        str(settings_from({"ISSUER": "http://127.0.0.1:9", "AUDIT": "/tmp/reads.jsonl"}, 8000).audit)
        == "/tmp/reads.jsonl"
    )


def test_the_kit_loads_its_lab_for_the_command_alone():
    loaded = (
        "import sys, mcp_auth_contract.cli.serving, mcp_auth_contract.pytest_plugin\n"
        "print([name for name in sys.modules if name.startswith('mcp_auth_contract_lab')])"
    )
    said = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def test_the_issuer_alone_is_enough():
    settings = settings_from({"ISSUER": "http://127.0.0.1:9"}, 8000)
    assert (settings.jwks_uri, settings.resource) == ("http://127.0.0.1:9/jwks", "http://127.0.0.1:8000/mcp")


def test_the_environment_makes_the_server_introspect():
    environ = {
        "ISSUER": "http://127.0.0.1:9", "INTROSPECTION_URI": "http://127.0.0.1:9/introspect",
        "INTROSPECTION_CLIENT_ID": "me", "INTROSPECTION_CLIENT_SECRET": "s3cret", "INTROSPECTION_TTL": "0",
    }  # fmt: skip
    settings = settings_from(environ, 8000)
    assert settings.introspection_uri == "http://127.0.0.1:9/introspect"
    assert (settings.introspection_client, settings.introspection_secret) == ("me", "s3cret")
    assert settings.introspection_ttl == 0
    assert "s3cret" not in repr(settings)
    assert settings_from({"ISSUER": "http://127.0.0.1:9"}, 8000).introspection_uri is None


@pytest.mark.parametrize("environ", [{}, {"ISSUER": "http://127.0.0.1:9", "JWKS_TTL": "soon"}])
def test_a_faulty_environment_is_told(environ):
    with pytest.raises(UsageError, match="environment variable"):
        settings_from(environ, 8000)


def test_a_port_in_use_is_told():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match="in use"):
            run_lab(taken.getsockname()[1], {"ISSUER": "http://127.0.0.1:9"})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
def test_the_process_serves_quietly_and_ends_cleanly_on_sigterm():
    port = free_port()
    environ = {**os.environ, "ISSUER": "http://127.0.0.1:9"}
    arguments = [sys.executable, "-c", RUN, str(port)]
    with subprocess.Popen(arguments, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            with httpx.Client(trust_env=False, base_url=f"http://127.0.0.1:{port}") as client:
                assert eventually_healthy(client)
                assert client.post("/mcp").status_code == 401
        finally:
            process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=20)
    assert (process.returncode, output) == (0, b"")


def eventually_healthy(client: httpx.Client) -> bool:
    for _ in range(400):
        try:
            return client.get("/healthz").status_code == 200
        except httpx.ConnectError:
            time.sleep(0.05)
    return False
