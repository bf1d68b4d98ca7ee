"""How much of each package the tests run, from the data that `make coverage` collects."""

import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import coverage

ROOT = Path(__file__).resolve().parents[1]
ENOUGH = 85


def package_of(path: str) -> str:
    """The folder below `sdtps`, or the file itself at its top."""
    parts = Path(path).parts
    return "/".join(parts[:2]) if parts[0] == "sdtps" else parts[0]


def table(files: dict[str, dict[str, dict[str, int]]]) -> tuple[str, list[str]]:
    """A table by package, and the files that pull a package below the bar."""
    lines: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path, facts in files.items():
        for i, name in enumerate(("covered_lines", "num_statements")):
            lines[package_of(path)][i] += facts["summary"][name]
    rows = [
        f"{name:28} {run:6} of {all_:6} {100 * run / max(all_, 1):6.1f} %"
        for name, (run, all_) in sorted(lines.items())
    ]
    low = {name for name, (run, all_) in lines.items() if all_ and 100 * run / all_ < ENOUGH}
    return "\n".join(rows), sorted(path for path in files if package_of(path) in low and percent(files[path]) < ENOUGH)


def percent(facts: dict[str, dict[str, int]]) -> float:
    """Share of a file's lines that the tests run."""
    summary = facts["summary"]
    return 100 * summary["covered_lines"] / max(summary["num_statements"], 1)


def main() -> int:
    """Print the table; 1 when a package is below the bar."""
    data = coverage.Coverage(data_file=str(ROOT / ".coverage"))
    data.load()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.json"
        data.json_report(outfile=str(path))
        files = json.loads(path.read_text())["files"]
    text, low = table(files)
    print(text)
    for name in low:
        print(f"below {ENOUGH} %: {name} {percent(files[name]):.0f} %")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
