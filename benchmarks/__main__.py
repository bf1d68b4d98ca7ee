"""`python -m benchmarks`: measures and prints one table; a whole run writes `benchmarks/results.md` and `.json`."""

import argparse
import time
from importlib import import_module
from pathlib import Path

from benchmarks import report
from benchmarks.measure import Findings, machine_facts

TOPICS = {
    "peers": "first analysis beside the bare forward, pytorch-grad-cam, torch-cam and attention rollout",
    "rescore": "a slider move beside the forward that it saves",
    "selectors": "a slider move of every selector beside one of SDTPS",
    "slider": "slider to pixels in a browser beside a bare echo; drags, near and far",
    "stages": "where the time of a first analysis goes; draws the picture",
    "throughput": "a folder as a batch beside the bare forward, in one and two processes",
    "retrieval": "exact search in 10,000 and 100,000 features",
    "matters": "ten replacements of the selection beside indexing once; a map of 10,000 sets while it is panned",
    "load": "twenty sessions that drag while five upload, beside one user",
    "growth": "time and memory against patches, sessions and triplets",
    "footprint": "memory and start-up, each in a process of its own",
    "options": "int8 and torch.compile: do they pay?",
    "decoding": "strangers' pictures in a process of its own: what honest files pay",
    "export": "seconds to draw a figure",
    "recorder": "a training step with the recorder beside one without",
}
QUICK_TOPICS = ("peers", "rescore", "slider", "stages", "retrieval")  # the others take processes and time
MACHINE = ("processor", "cores", "torch", "threads")  # topics of two runs stand in one table only if these agree
HERE = Path(__file__).resolve().parent


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    topics = "\n".join(f"  {name:<12}{what}" for name, what in TOPICS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"topics:\n{topics}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds, five topics; under two minutes")
    parser.add_argument("--only", action="append", choices=TOPICS, metavar="TOPIC", help="this topic; may be repeated")
    parser.add_argument("--out", type=Path, help="where results.md and .json go (benchmarks/ for a whole run)")
    parser.add_argument(
        "--docs",
        action="store_true",
        help="write the table into docs/speed.md, too; with --only, other topics as measured here before",
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Measure the topics, one after the other."""
    options = parse_arguments(arguments)
    if options.docs and options.quick:
        print("docs/speed.md shows a whole run: --docs does not go with --quick.")
        return 2
    facts = machine_facts() | {"quick": options.quick}
    found: dict[str, Findings] = {}
    if options.docs and options.only:
        found, before = report.read(HERE)
        if differing := [name for name in MACHINE if before[name] != facts[name]]:
            print(f"The other topics were measured with another {', '.join(differing)}; measure them all.")
            return 2
    for topic in options.only or (QUICK_TOPICS if options.quick else TOPICS):
        print(f"{topic}: {TOPICS[topic]} ...", end=" ", flush=True)
        begin = time.perf_counter()
        found[topic] = import_module(f"benchmarks.{topic}").run(options.quick)
        print(f"{time.perf_counter() - begin:.0f} s", flush=True)
    found = {topic: found[topic] for topic in TOPICS if topic in found}
    out = options.out or (HERE if options.docs or not (options.only or options.quick) else None)
    if out is not None:
        report.write(found, facts, out, HERE.parent / "docs" / "speed.md" if options.docs else None)
    print(report.page(found, facts))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
