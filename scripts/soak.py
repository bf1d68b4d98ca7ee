"""Long use of one server: `make soak`. Slider drags and uploads, and what grew meanwhile.

Memory, open files, threads, temporary files and sessions are read from outside, through /proc and /health. After the
warm-up they must not grow: the last quarter is compared with the quarter after the warm-up. With `--large 200`, so many
pictures of forty megapixels are sent instead, and the memory of the end is compared with that of the start.
"""

import argparse
import signal
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.load import noisy_triplet
from sdtps.datasets.examples import find_examples
from sdtps.resources import EXAMPLES
from sdtps.types import MODALITIES
from tests.attack.files import large_picture
from tests.harness import Running, running_app
from tests.visitor import Visitor

MEGABYTE = 2**20
MOVES_PER_DRAG = 20
# What may change by chance: the allocator's pages, a pool that fills up to its bound.
SLACK = {"memory besides caches MB": 64.0, "open files": 10.0, "threads": 6.0, "temporary MB": 1.0}
# The caches have budgets of their own; Gradio remembers the last 200 visitors, and one may just be coming.
CEILING = {"caches MB": 832.0, "sessions": 201.0}
LARGE_SLACK = 200.0  # megabytes that large pictures may leave behind, with the pixels that wait for an analysis


@dataclass(frozen=True)
class Reading:
    """What a server holds at one moment."""

    done: int
    values: dict[str, float]


def read(server: Running, visitor: Visitor, done: int) -> Reading:
    """Look at a server from outside."""
    folder = Path("/proc") / str(server.process.pid)
    pages = int((folder / "statm").read_text().split()[1])
    health = visitor.http.get("/health").json()
    files = [f.stat().st_size for f in server.cache.rglob("*") if f.is_file()] if server.cache.is_dir() else []
    return Reading(
        done,
        {
            "memory MB": pages * 4096 / MEGABYTE,
            "caches MB": health["cached_bytes"] / MEGABYTE,
            "memory besides caches MB": (pages * 4096 - health["cached_bytes"]) / MEGABYTE,
            "open files": float(len(list((folder / "fd").iterdir()))),
            "threads": float(len(list((folder / "task").iterdir()))),
            "temporary MB": sum(files) / MEGABYTE,
            "sessions": float(health["sessions"]),
        },
    )


def soak(server: Running, drags: int, uploads: int, readings: int) -> list[Reading]:
    """Drags and uploads in turns; every visitor leaves and another comes, so that sessions end, too."""
    examples = find_examples(EXAMPLES)
    files = {name: [EXAMPLES / name / f"{m}.png" for m in MODALITIES] for name in examples}
    total, found = drags + uploads, []
    uploaded = 0
    with Visitor(server.url) as first:
        visitor = Visitor(server.url, first)
        for done in range(1, total + 1):
            name = list(files)[done % len(files)]
            if uploaded < uploads and done * uploads >= (uploaded + 1) * total:
                contents = noisy_triplet(files[name], done)
                staged = {m: visitor.stage(m, c) for m, c in zip(map(str, MODALITIES), contents, strict=True)}
                visitor.analyse({m: {"token": s["pictures"][m]["token"]} for m, s in staged.items()})
                uploaded += 1
                visitor.http.close()
                visitor = Visitor(server.url, first)
            else:
                key = visitor.analyse({str(m): {"example": name} for m in MODALITIES})["key"]
                for i in range(MOVES_PER_DRAG):
                    visitor.decide(key, {"sparse_ratio": 0.2 + 0.03 * i, "beta": 0.02 * i})
            if done % max(1, total // readings) == 0:
                found.append(read(server, first, done))
                print(f"  {done} of {total}: {_line(found[-1])}", file=sys.stderr, flush=True)
        visitor.http.close()
    return found


def soak_large(server: Running, pictures: int, readings: int) -> list[Reading]:
    """Large pictures, two at once, by visitors who leave after some of them; the first reading is the start."""
    with Visitor(server.url) as first, ThreadPoolExecutor(2) as senders:
        found = [read(server, first, 0)]
        step = max(1, pictures // readings)
        for start in range(1, pictures + 1, step):
            numbers = range(start, min(start + step, pictures + 1))
            with Visitor(server.url, first) as visitor:
                slots = [str(MODALITIES[n % len(MODALITIES)]) for n in numbers]
                answers = list(senders.map(visitor.stage, slots, map(large_picture, numbers)))
            if wrong := [answer["error"] for answer in answers if "error" in answer]:
                raise RuntimeError(str(wrong))
            found.append(read(server, first, numbers[-1]))
            print(f"  {numbers[-1]} of {pictures}: {_line(found[-1])}", file=sys.stderr, flush=True)
    return found


def judge_large(readings: list[Reading]) -> tuple[str, bool]:
    """A table, and whether the memory was given back."""
    start, end = readings[0].values, readings[-1].values
    lines = ["| what | start | end | growth |", "|---|---|---|---|"]
    lines += [f"| {n} | {start[n]:.1f} | {end[n]:.1f} | {end[n] - start[n]:+.1f} |" for n in start]
    return "\n".join(lines), end["memory MB"] - start["memory MB"] <= LARGE_SLACK


def judge(readings: list[Reading]) -> tuple[str, bool]:
    """A table, and whether everything stayed flat after the first half, in which caches fill."""
    half = readings[len(readings) // 2 :]
    before, after = half[: len(half) // 2], half[len(half) // 2 :]
    lines = ["| what | start | after warm-up | end | growth | flat |", "|---|---|---|---|---|---|"]
    flat = True
    for name in readings[0].values:
        middle, last = (statistics.median(r.values[name] for r in part) for part in (before, after))
        good = last - middle <= SLACK.get(name, float("inf")) and last <= CEILING.get(name, float("inf"))
        flat &= good
        mark = "" if name not in SLACK | CEILING else "yes" if good else "**no**"
        start = readings[0].values[name]
        lines.append(f"| {name} | {start:.1f} | {middle:.1f} | {last:.1f} | {last - middle:+.1f} | {mark} |")
    return "\n".join(lines), flat


def _line(reading: Reading) -> str:
    return ", ".join(f"{name} {value:.1f}" for name, value in reading.values.items())


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="scripts/soak.py", description=__doc__)
    parser.add_argument("--drags", type=int, default=500, help=f"of {MOVES_PER_DRAG} moves each")
    parser.add_argument("--uploads", type=int, default=200, help="triplets that were never seen before")
    parser.add_argument("--readings", type=int, default=20)
    parser.add_argument("--large", type=int, default=0, help="pictures of forty megapixels, and nothing else")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # the server must not stay
    if options.large:
        with running_app("--device", "cpu") as server:
            table, flat = judge_large(soak_large(server, options.large, options.readings))
        print(f"{options.large} pictures of forty megapixels\n\n{table}")
        return 0 if flat else 1
    with running_app("--device", "cpu") as server:
        readings = soak(server, options.drags, options.uploads, options.readings)
    table, flat = judge(readings)
    print(f"{options.drags} drags of {MOVES_PER_DRAG} moves and {options.uploads} uploads\n\n{table}")
    return 0 if flat else 1


if __name__ == "__main__":
    raise SystemExit(main())
