"""Measuring in a fresh process: peak memory, and what must not depend on what ran before."""

import argparse
import json
import re
import resource
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.subjects import ROOT

PEAK_LINE = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


def peak_megabytes() -> float:
    """The largest resident size that this process had so far."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage on Linux also counts the process that started this one
        return int(PEAK_LINE.search(status.read_text())[1]) / 2**10  # type: ignore[index]
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # macOS counts bytes


def probe(function: str, *arguments: Any) -> dict[str, float]:
    """Call `module:function` in a process of its own; it returns a dict of numbers."""
    command = [sys.executable, "-m", "benchmarks.processes", function, json.dumps(arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{function} failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """The other side of `probe`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("function")
    parser.add_argument("arguments")
    options = parser.parse_args()
    module, _, name = options.function.partition(":")
    print(json.dumps(getattr(import_module(module), name)(*json.loads(options.arguments))))


if __name__ == "__main__":
    main()
