"""`lab`: the notes' experiments again, on generated people, with everything on record."""

import argparse
from pathlib import Path

from sdtps.cli.options import Subparsers
from sdtps.cli.options import add_command as add_parser
from sdtps.resources import EXAMPLES

PROBE = "day"
EXAMPLES_OF_USE = """
    lab --list
    lab --seeds 1 --out runs/lab
    lab --recipe mine.yaml
"""


def add_command(commands: Subparsers) -> None:
    """Describe the command."""
    short = "re-run the notes' training experiments, and set the results beside theirs"
    parser = add_parser(commands, "lab", short, EXAMPLES_OF_USE)
    parser.add_argument("names", nargs="*", metavar="EXPERIMENT", help="some of them by name (default: all)")
    parser.add_argument("--recipe", action="append", default=[], metavar="FILE", help="an experiment of your own: a "
                        "YAML file with what it changes; may be repeated")  # fmt: skip
    parser.add_argument("--out", default="runs/lab", help="folder of the runs (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=3, help="how often each is run (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=2, help="how many at a time (default: %(default)s)")
    parser.add_argument("--probe", action="append", metavar="FOLDER", help="an image set to watch; may be repeated")
    parser.add_argument("--list", action="store_true", help="say what there is, and run nothing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train, compare, draw."""
    from sdtps.training.lab import EXPERIMENTS, run_lab
    from sdtps.training.lab.experiments import read_experiment
    from sdtps.training.lab.report import write_report

    own = [read_experiment(path) for path in options.recipe]
    known = EXPERIMENTS | {e.name: e for e in own}
    if options.list:
        for e in known.values():
            print(f"{e.name:14} {e.words}" + (f"; the notes: {e.notes}" if e.notes else ""))
        return 0
    unknown = [name for name in options.names if name not in known]
    if unknown:
        raise ValueError(f"There is no experiment {unknown[0]!r}; choose from {', '.join(known)}.")
    chosen = [known[name] for name in options.names] or list(known.values())
    chosen += [e for e in own if e not in chosen]
    out = Path(options.out)
    probe = tuple(options.probe or [str(EXAMPLES / PROBE)])
    runs = run_lab(out, chosen, range(options.seeds), probe=probe, processes=options.processes)
    table, files = write_report(out, chosen, runs)
    print(table)
    print(f"written: {', '.join(map(str, files))}")
    return 0
