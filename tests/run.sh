#!/usr/bin/env bash
# Installs the kit and its test tools into .venv-test and runs every check of this repository.
set -euo pipefail
cd "$(dirname "$0")/.."
venv="${MCP_AUTH_CONTRACT_VENV:-.venv-test}"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
python="$venv/bin/python"
"$python" -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
"$python" -m pip install --quiet --disable-pip-version-check --editable ".[pytest]" --group dev
"$python" -m ruff check .
"$python" -m ruff format --check .
"$python" -m mypy
PATH="$PWD/$venv/bin:$PATH" "$venv/bin/lint-imports"
exec "$python" -m pytest -n 2 --dist worksteal "$@"
