"""`make release`: build and check what is published, and tag it. The version stands in sdtps/__init__.py alone."""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"


def version() -> str:
    """As the package says."""
    found = re.search(r'^__version__ = "(.+)"$', (ROOT / "sdtps" / "__init__.py").read_text(), re.MULTILINE)
    assert found, "sdtps/__init__.py has no __version__"
    return found[1]


def wrong(wanted: str, changelog: str, changed: str, tags: str) -> list[str]:
    """Why this version cannot be released; empty when it can.

    Args:
        wanted: the version.
        changelog: its text.
        changed: what `git status --porcelain` prints.
        tags: what `git tag` prints.
    """
    reasons = []
    if not re.fullmatch(r"\d+\.\d+\.\d+", wanted):
        reasons.append(f"{wanted} is not a release; set __version__ in sdtps/__init__.py to one such as 0.2.0.")
    if not re.search(rf"^## \[{re.escape(wanted)}\] - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE):
        reasons.append(f"CHANGELOG.md has no closed section '## [{wanted}] - DATE'.")
    if changed.strip():
        reasons.append("There are changes that are not committed.")
    if f"v{wanted}" in tags.split():
        reasons.append(f"The tag v{wanted} is there already.")
    return reasons


def main() -> int:
    """Check, build, check what was built, tag."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="build and check whatever the version; tag nothing")
    options = parser.parse_args()

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout

    wanted = version()
    reasons = wrong(wanted, (ROOT / "CHANGELOG.md").read_text(), git("status", "--porcelain"), git("tag"))
    for reason in reasons:
        print(f"release: {reason}", file=sys.stderr)
    if reasons and not options.dry_run:
        return 1
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--no-isolation", "--outdir", str(DIST)], cwd=ROOT, check=True)
    made = sorted(map(str, DIST.iterdir()))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *made], cwd=ROOT, check=True)
    if options.dry_run:
        print(f"built and checked: {', '.join(made)}; nothing was tagged")
        return 0
    git("tag", "--annotate", f"v{wanted}", "--message", f"SDTPS Lens {wanted}")
    print(f"tagged v{wanted}; publish with: twine upload dist/* && git push origin v{wanted}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
