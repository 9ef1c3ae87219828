"""A release is published only where tag, package and changelog name one version; the hooks call commands that exist."""

import importlib.util
from pathlib import Path

import pytest
import yaml

from mcp_auth_contract.cli import main

ROOT = Path(__file__).parents[2]
CHANGELOG = (
    "# Changelog\n\n## Unreleased\n{more}\n## 1.2.3 - 2026-12-24\n\n### Added\n\n- It.\n\n## 1.2.2\n\n- Older.\n"
)


def notes_of(tag: str, changelog: str, package: str) -> str:
    spec = importlib.util.spec_from_file_location("release_notes", ROOT / ".ci" / "release_notes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.notes_of(tag, changelog, package))


def test_the_notes_are_those_of_the_newest_version() -> None:
    assert notes_of("v1.2.3", CHANGELOG.format(more=""), '__version__ = "1.2.3"') == "### Added\n\n- It.\n"


@pytest.mark.parametrize(
    ("tag", "more", "package", "said"),
    [
        ("v1.2.4", "", "1.2.3", "the tag says 1.2.4, CHANGELOG.md 1.2.3, the package 1.2.3"),
        ("v1.2.3", "", "1.2.2", "the package 1.2.2"),
        ("v1.2.3", "- Something.\n", "1.2.3", "entries under Unreleased"),
    ],
)
def test_what_does_not_agree_is_not_published(tag: str, more: str, package: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        notes_of(tag, CHANGELOG.format(more=more), f'__version__ = "{package}"')


def test_the_package_says_its_version_where_the_release_looks() -> None:
    package = (ROOT / "src" / "mcp_auth_contract" / "__init__.py").read_text("utf-8")
    with pytest.raises(ValueError, match="the tag says 0, CHANGELOG"):
        notes_of("v0", "# Changelog\n\n## Unreleased\n", package)


def test_only_the_job_that_publishes_may_ask_for_an_identity() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8"))["jobs"]
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == ["publish"]
    assert jobs["publish"]["needs"] == "build"


def test_the_hooks_call_commands_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")):
        words = hook["entry"].split()
        assert words[0] == "mcp-auth-contract"
        assert main([words[1], "--help"]) == 0
        said = capsys.readouterr().out
        assert all(word in said for word in words[2:])
