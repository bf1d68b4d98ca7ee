"""What must be true before a version is published, and the table of coverage."""

import re

import pytest
import yaml

from scripts.coverage_by_package import table
from scripts.release import ROOT, version, wrong

CLOSED = "## [0.2.0] - 2026-12-01\n\n## [0.1.0] - 2026-11-17\n"


def test_the_version_stands_in_one_place() -> None:
    import sdtps

    assert version() == sdtps.__version__
    assert not re.search(r"^version = ", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert f"## [{version().removesuffix('.dev0')}]" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (("0.2.0.dev0", CLOSED, "", ""), "is not a release"),
        (("0.2.0", CLOSED.replace("2026-12-01", "Unreleased"), "", ""), "no closed section"),
        (("0.2.0", CLOSED, " M app.py\n", ""), "not committed"),
        (("0.2.0", CLOSED, "", "v0.1.0\nv0.2.0\n"), "is there already"),
    ],
)
def test_what_keeps_a_version_from_being_released(given: tuple[str, str, str, str], why: str) -> None:
    assert any(why in reason for reason in wrong(*given))


def test_a_version_that_can_be_released() -> None:
    assert wrong("0.2.0", CLOSED, "", "v0.1.0\n") == []


def test_the_workflow_calls_the_two_commands() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    steps = [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]
    assert any(re.search(r"\bmake test$", step) for step in steps)
    assert any(re.search(r"^make run &$", step, re.MULTILINE) for step in steps)
    assert workflow["permissions"] == {"contents": "read"}


def test_coverage_by_package_names_files_of_low_packages() -> None:
    def file(covered: int, lines: int) -> dict[str, dict[str, int]]:
        return {"summary": {"covered_lines": covered, "num_statements": lines}}

    text, low = table({"sdtps/web/a.py": file(1, 10), "sdtps/web/b.py": file(9, 10), "sdtps/tokens.py": file(10, 10)})
    assert re.search(r"sdtps/web +10 of +20 +50\.0 %", text)
    assert low == ["sdtps/web/a.py"]
