"""The whole corpus in a process that may grow by one gigabyte: prints how each file ended, as JSON."""

import json
import resource
import sys
import tempfile
from pathlib import Path

from tests.hostile.ends import ALL, CORPUS, read

GIGABYTE = 2**30


def peak() -> int:
    """Largest resident memory so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = [case.make() for _, case in ALL]  # making a file is not reading it
        for kind, cases in CORPUS.items():  # whatever is imported late
            read(kind, cases[0].name, cases[0].make(), folder)
        before = peak()
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + GIGABYTE, resource.RLIM_INFINITY))
        found = []
        for (kind, case), content in zip(ALL, made, strict=True):
            try:
                end, sentence = read(kind, case.name, content, folder)
            except Exception as error:  # what must not happen is reported with the rest
                end, sentence = type(error).__name__, repr(error)
            found.append({"end": end, "sentence": sentence, "growth": peak() - before})
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
