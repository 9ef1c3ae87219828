"""Every format of a fixed report equals its golden file; UPDATE_GOLDEN=1 rewrites them."""

import os
from pathlib import Path

import pytest
from tests.unit.reports.examples import green, interrupted, report, short_of, text_of, waived

from mcp_auth_contract.reports.har import render_har
from mcp_auth_contract.reports.json_v1 import render_json, report_schema
from mcp_auth_contract.reports.junit import render_junit
from mcp_auth_contract.reports.markdown import render_markdown
from mcp_auth_contract.reports.page.render import render_html
from mcp_auth_contract.reports.sarif import render_sarif

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = ROOT / "tests" / "golden"
REPORTS = {"report": report, "interrupted": interrupted, "green": green, "waived": waived}
FORMATS = {
    "txt": short_of,
    "all.txt": text_of,
    "sarif": render_sarif,
    "har": render_har,
    "json": render_json,
    "xml": render_junit,
    "md": render_markdown,
    "html": lambda whole: render_html(whole, (), ()),  # what all requirements are is none of a report's business
}


def assert_equals_file(text: str, file: Path) -> None:
    if os.environ.get("UPDATE_GOLDEN") == "1":
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8"), f"{file.name} differs; UPDATE_GOLDEN=1 rewrites it"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_equals_its_golden_file(name: str, form: str) -> None:
    assert_equals_file(FORMATS[form](REPORTS[name]()), GOLDEN / f"{name}.{form}")


def test_every_golden_file_belongs_to_a_report() -> None:
    known = {f"{name}.{form}" for name in REPORTS for form in FORMATS}
    assert {file.name for file in GOLDEN.iterdir()} == known


def test_the_published_schema_is_the_one_of_the_code() -> None:
    assert_equals_file(report_schema(), ROOT / "docs" / "report-v1.schema.json")
