"""`runs`: recorded trainings in words: how they went, what is wrong, and between which they differ; and exports."""

import argparse
from pathlib import Path

from sdtps.cli.options import Subparsers
from sdtps.cli.options import add_command as add_parser

EXAMPLES = """
    runs runs/mine
    runs runs/mine logs/train_log.txt --csv tables --tensorboard events
"""


def add_command(commands: Subparsers) -> None:
    """Describe the command."""
    short = "say how recorded trainings went, and what is wrong with them"
    parser = add_parser(commands, "runs", short, EXAMPLES)
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a recorded folder, a train_log.txt, or event files")
    parser.add_argument("--csv", metavar="FOLDER", help="write each run's steps and epochs as CSV")
    parser.add_argument("--tensorboard", metavar="FOLDER", help="write each run as a TensorBoard event file")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, judge, export."""
    from sdtps.runs.diagnosis import diagnose
    from sdtps.runs.exporters import to_csv, to_tensorboard
    from sdtps.runs.reader import distinct, read_runs

    runs = distinct(r for path in options.runs for r in read_runs(path))
    for r in runs:
        epochs, losses = r.by_epoch("loss")
        scores = [
            f"{n} {r.by_epoch(n)[1][-1]:.3f}" for n in ("acc", "acc_ori", "acc_sdtps", "mAP") if len(r.by_epoch(n)[1])
        ]
        course = f"loss {losses[0]:.3f} → {losses[-1]:.3f}" if len(losses) else "no loss"
        print(f"{r.name}: {len(epochs)} epochs, {course}" + (f", {', '.join(scores)}" if scores else ""))
        for note in r.notes:
            print(f"  {note}")
    findings = diagnose(runs)
    for finding in findings:
        numbers = ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in finding.evidence.items())
        print(f"{finding.run}: {finding.said} [{finding.rule}{': ' + numbers if numbers else ''}]")
    if not findings:
        print("No rule found anything wrong.")
    for r in runs:
        if options.csv:
            print(f"written: {', '.join(map(str, to_csv(r, Path(options.csv))))}")
        if options.tensorboard:
            print(f"written: {to_tensorboard(r, Path(options.tensorboard) / r.name)}")
    return 0
