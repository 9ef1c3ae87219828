"""What the documentation takes from the code; `python -m tests.docs.generate` writes it."""

import json
import re
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from mcp_auth_contract.catalogue import load_builtin
from mcp_auth_contract.contract import apps, models, server
from mcp_auth_contract.contract.load import VARIABLES
from mcp_auth_contract.contract.models import contract_schema
from mcp_auth_contract.hosts.verdicts import load_hosts
from mcp_auth_contract.reports.diff_json import diff_schema
from mcp_auth_contract.reports.json_v1 import report_schema
from mcp_auth_contract.reports.rules import render_checks
from mcp_auth_contract.reports.traceability import render_traceability

DOCS = Path(__file__).parents[2] / "docs"
_MARKED = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
_Schema = Mapping[str, Any]


def contract_reference() -> str:
    """Return docs/contract.md with its tables as the models have them; what stands between them is kept."""
    tables = json.loads(contract_schema())["$defs"]

    def generated(marked: re.Match[str]) -> str:
        lines = _variables() if marked[2] == "variables" else _keys(marked[2], tables)
        return marked[1] + "".join(f"| {' | '.join(line)} |\n" for line in lines) + marked[3]

    return _MARKED.sub(generated, (DOCS / "contract.md").read_text("utf-8"))


def hosts_page() -> str:
    """Return docs/hosts.md with what each host needs, by scenarios/hosts.toml."""
    table = load_hosts()
    lines: list[str] = []
    for host in table.host:
        lines += [f"### {host.name}", "", f"`--host {host.id}`. Not seen from a server: {host.unseen}.", ""]
        rules = [rule for rule in table.rule if host.id in rule.hosts]
        for rule in rules:
            when = " and ".join(f"`{name}` is {' or '.join(values)}" for name, values in rule.when.items())
            source = table.source[rule.source]
            read = f"[{source.kind}]({source.url}), {source.checked}"
            lines.append(f"- **{rule.effect}** where {when}: it {rule.says} ({read}).")
        lines.append("")
    text = "\n".join(lines)
    return _MARKED.sub(lambda marked: f"{marked[1]}{text}{marked[3]}", (DOCS / "hosts.md").read_text("utf-8"))


def _model(table: str) -> Any:
    return next(getattr(room, table) for room in (models, apps, server) if hasattr(room, table))


def _variables() -> list[tuple[str, ...]]:
    rows = [(f"`${{{name}}}`", meaning) for name, meaning in VARIABLES.items()]
    return [("variable", "value"), ("---", "---"), *rows, ("`${env:NAME}`", "the environment variable NAME")]


def _keys(table: str, tables: _Schema) -> list[tuple[str, ...]]:
    """Return a row for each key: the required ones first, then in the order of the model."""
    schema, rows = tables[table], [("key", "type", "default", "meaning"), ("---",) * 4]
    required = schema.get("required", ())
    for name in sorted(_model(table).model_fields, key=lambda name: name not in required):
        key = schema["properties"][name]
        meaning = key["description"].replace("|", "\\|")
        default = "" if "when omitted" in meaning.lower() else f"`{json.dumps(key.get('default'))}`"
        row = (f"`{name}`", _type(key, tables), "required" if name in required else default, meaning)
        rows.append(tuple("" if cell == "`null`" else cell for cell in row))
    return rows


def _type(key: _Schema, tables: _Schema, ending: str = "") -> str:
    """Say in the words of TOML what a key takes; `ending` makes plurals."""
    if "$ref" in key:
        return _type(tables[key["$ref"].rpartition("/")[2]], tables, ending)
    if "anyOf" in key:
        return " or ".join(_type(one, tables, ending) for one in key["anyOf"] if one.get("type") != "null")
    words = key.get("enum", [key["const"]] if "const" in key else [])
    if words:
        *others, last = (f'`"{word}"`' for word in words)
        return f"{', '.join(others)} or {last}" if others else last
    match key["type"]:
        case "array":
            return f"array{ending} of {_type(key['items'], tables, 's')}"
        case "object":
            members = key.get("additionalProperties") or {}
            return f"table{ending} of {_type(members, tables, 's')}" if "type" in members else f"table{ending}"
        case plain:
            return f"{plain}{ending}"


def picture() -> str:
    """Return the report that the README shows as an image of a terminal, with the colours that a terminal has."""
    (report,) = re.findall(r"```text\n(.*?)```", (DOCS.parent / "README.md").read_text("utf-8"), re.DOTALL)
    console = Console(record=True, width=120, file=StringIO(), highlight=False, emoji=False, markup=False)
    console.print(Text("$ mcp-auth-contract run --sample --fault audience-ignored", style="bold"))
    for line in report.splitlines():
        console.print(_coloured(line), soft_wrap=True)
    return console.export_svg(title="mcp-auth-contract", unique_id="report") + "\n"


def _coloured(line: str) -> Text:
    label = re.match(r" {0,3}[a-z]+ {2,}", line)
    if re.match(r"gate SHUT|broken  |[0-9]+\. ", line):
        return Text(line, style="bold red")
    return Text.assemble((line[: label.end()], "dim"), line[label.end() :]) if label else Text(line)


GENERATED: Mapping[str, Callable[[], str]] = {
    "checks.md": lambda: render_checks(load_builtin()),
    "contract.md": contract_reference,
    "contract.schema.json": contract_schema,
    "hosts.md": hosts_page,
    "report-diff-v1.schema.json": diff_schema,
    "report-v1.schema.json": report_schema,
    "traceability.md": lambda: render_traceability(load_builtin()),
}
"""The generated files of docs/."""

PICTURES: Mapping[str, Callable[[], str]] = {"report.svg": picture}
"""Further ones, whose bytes differ with the library that draws them."""

if __name__ == "__main__":
    for file, generate in {**GENERATED, **PICTURES}.items():
        (DOCS / file).write_text(generate(), "utf-8")
