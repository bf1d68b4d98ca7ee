"""The whole corpus in a process that may grow by one gigabyte: prints each end and the growth of the peak, as JSON."""

import json
import resource
import sys
import tempfile
from pathlib import Path

from tests.hostile.ends import ALL, read

GIGABYTE = 2**30


def peak() -> int:
    """Largest resident memory so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = [(kind, case, case.make()) for kind, case in ALL]  # making a file is not reading it
        for kind in ("picture", "bundle", "weights", "config"):  # whatever is imported late
            read(kind, *next((case.name, content) for k, case, content in made if k == kind), folder)
        before = peak()
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + GIGABYTE, resource.RLIM_INFINITY))
        found = [[f"{kind} {case.name}", read(kind, case.name, content, folder)[0], peak() - before]
                 for kind, case, content in made]  # fmt: skip
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
