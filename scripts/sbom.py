"""What this program is made of: `make sbom` writes CycloneDX JSON, `--licences` prints the licence of each package.

Starts at requirements.txt and follows what each installed package says it requires, so that tools for development are
left out. Names, versions and licences come from the packages' own metadata.
"""

import argparse
import json
import re
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
CLASSIFIER = "License :: OSI Approved :: "


def pinned(path: Path) -> list[Requirement]:
    """The packages of a requirements file."""
    lines = (line.split("#")[0].strip() for line in path.read_text().splitlines())
    return [Requirement(line) for line in lines if line and not line.startswith("-")]


def closure(wanted: list[Requirement]) -> dict[str, Distribution]:
    """Everything that is needed, directly or not, by normalised name."""
    found: dict[str, Distribution] = {}
    todo = [(r, frozenset(r.extras)) for r in wanted]
    while todo:
        requirement, extras = todo.pop()
        name = normalised(requirement.name)
        if name in found:
            continue
        try:
            package = distribution(requirement.name)
        except PackageNotFoundError:
            print(f"{requirement.name} is required and not installed", file=sys.stderr)
            continue
        found[name] = package
        for text in package.requires or ():
            need = Requirement(text)
            environments = [{"extra": extra} for extra in (extras or {""})]
            if need.marker is None or any(need.marker.evaluate(e) for e in environments):
                todo.append((need, frozenset(need.extras)))
    return dict(sorted(found.items()))


def normalised(name: str) -> str:
    """As package indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def licence(package: Distribution) -> str:
    """The SPDX expression, else the classifier, else the first line of the licence field."""
    meta = package.metadata
    if "License-Expression" in meta:
        return meta["License-Expression"]
    classes = [c.removeprefix(CLASSIFIER) for c in meta.get_all("Classifier") or () if c.startswith(CLASSIFIER)]
    text = meta["License"].strip().splitlines() if "License" in meta else []
    return " AND ".join(classes) or (text[0][:80] if text else "not stated")


def component(name: str, package: Distribution, direct: bool) -> dict[str, Any]:
    """One entry of the bill."""
    reference = f"pkg:pypi/{name}@{package.version}"
    stated = licence(package)
    is_expression = "License-Expression" in package.metadata
    return {
        "type": "library",
        "bom-ref": reference,
        "name": name,
        "version": package.version,
        "purl": reference,
        "scope": "required",
        "licenses": [{"expression": stated}] if is_expression else [{"license": {"name": stated}}],
        "properties": [{"name": "sdtps:direct", "value": str(direct).lower()}],
    }


def needs(found: dict[str, Distribution]) -> Iterator[dict[str, Any]]:
    """Who needs whom."""
    references = {name: f"pkg:pypi/{name}@{p.version}" for name, p in found.items()}
    for name, package in found.items():
        required = {normalised(Requirement(text).name) for text in package.requires or ()}
        yield {"ref": references[name], "dependsOn": sorted(references[n] for n in required if n in references)}


def bill(found: dict[str, Distribution], direct: set[str], version: str) -> dict[str, Any]:
    """CycloneDX 1.6."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "component": {
                "type": "application",
                "bom-ref": "sdtps-lens",
                "name": "sdtps-lens",
                "version": version,
                "licenses": [{"license": {"id": "MIT"}}],
            },
        },
        "components": [component(name, package, name in direct) for name, package in found.items()],
        "dependencies": [
            {
                "ref": "sdtps-lens",
                "dependsOn": sorted(f"pkg:pypi/{n}@{found[n].version}" for n in direct if n in found),
            },
            *needs(found),
        ],
    }


def main() -> int:
    """Write the bill, or print licences."""
    parser = argparse.ArgumentParser(prog="scripts/sbom.py", description=__doc__)
    parser.add_argument("--out", type=Path, help="file for the bill; standard output by default")
    parser.add_argument("--licences", action="store_true", help="print a table of licences instead")
    options = parser.parse_args()
    wanted = pinned(ROOT / "requirements.txt")
    found = closure(wanted)
    if options.licences:
        for name, package in found.items():
            print(f"{name:28} {package.version:14} {licence(package)}")
        return 0
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    text = json.dumps(bill(found, {normalised(r.name) for r in wanted}, version[1] if version else "0"), indent=2)
    if options.out:
        options.out.write_text(text + "\n")
        print(f"{len(found)} packages written to {options.out}")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
