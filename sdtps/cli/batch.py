"""`batch`: a folder of image sets to a folder of results."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from sdtps.cli import options as shared
from sdtps.cli import work
from sdtps.datasets import open_dataset
from sdtps.export.rendering import Over
from sdtps.images.read import Fit
from sdtps.support.terminal import INTERRUPTED

if TYPE_CHECKING:
    from sdtps.export.batch.work import Item, Result

GPU_TOGETHER = 16
EXAMPLES = """
    batch data --out results
    batch data --out results --sparse-ratio 0.3 --device cuda
    batch data --out results --engine ray --workers 8 --ray-address auto

Stopped? Run the same command again: what is done is not done again.
exit codes: 0 all done, 1 could not be done, 2 wrong usage, 3 done but some image sets were skipped, 130 stopped
"""


def add_command(commands: shared.Subparsers) -> None:
    """Describe the command."""
    short = "analyse a folder: arrays and overlays of each image set, one summary"
    parser = shared.add_command(commands, "batch", short, EXAMPLES)
    work.add_folder(parser)
    parser.add_argument("--out", required=True, help="the result folder; new, empty or of the same batch")
    parser.add_argument("--split", help="a split of the folder (default: its queries)")
    parser.add_argument("--limit", type=int, help="only the first so many image sets")
    shared.add_fit(parser)
    shared.add_over(parser)
    parser.add_argument(
        "--together",
        type=int,
        help="image sets per forward pass: 1 gives the bits of a single analysis and is as fast on a CPU; "
        f"a GPU takes {GPU_TOGETHER} by default",
    )
    work.add_engine(parser)
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    shared.add_model(parser)
    shared.add_settings(parser)
    parser.set_defaults(run=run)


def find_items(folder: str, split: str | None, limit: int | None) -> "list[Item]":
    """The image sets of a data folder: of one split, by default that of its queries."""
    from sdtps.export.batch import items_of

    dataset = open_dataset(folder)
    return items_of(dataset.listing(split or dataset.query).records)[:limit]


def run(options: argparse.Namespace) -> int:
    """Analyse what is not done yet, then sum up."""
    from sdtps.export.batch import ResultFolder, Task, run_local, write_summary
    from sdtps.export.batch.cluster import run_ray

    items = find_items(options.folder, options.split, options.limit)
    work.use_threads(options)
    model = shared.load(options)
    device = shared.workers_device(options) or str(model.device)
    settings = shared.settings_from(options, model.settings)
    together = options.together or (GPU_TOGETHER if device.startswith("cuda") else 1)
    over = Over.of(options.over, options.opacity)
    task, folder = Task(settings, Fit(options.fit), together, over), ResultFolder(options.out)
    grid = model.net.backbone.grid
    folder.begin(task, model.weights, grid)
    with tqdm(total=len(items), unit="set", disable=None, mininterval=0.5) as bar:
        bar.update(sum(folder.done(item) for item in items))

        def progress(done: int, _total: int) -> None:
            bar.update(done - bar.n)

        try:
            if options.engine == "ray":
                failures = run_ray(
                    shared.the_source(options.sources),
                    device,
                    items,
                    task,
                    folder,
                    workers=options.workers,
                    address=options.ray_address,
                    selectors=work.selector_paths(options),
                    progress=progress,
                )
            else:
                failures = run_local(model, items, task, folder, progress)
        except KeyboardInterrupt:
            bar.close()
            print("\nStopped; what is written is complete. Run the same command to go on.", file=sys.stderr)
            return INTERRUPTED
    facts = {"weights": f"{model.weights.name} ({model.weights.short_hash})", **settings.as_dict(), "over": over}
    notes = write_summary(folder, items, grid, facts)
    _report(options, items, failures, notes)
    return 3 if failures else 0


def _report(options: argparse.Namespace, items: "list[Item]", failures: "list[Result]", notes: list[str]) -> None:
    skipped = {f.item.name: f.error for f in failures}
    done = len(items) - len(skipped)
    if options.json:
        shared.print_json({"out": options.out, "done": done, "skipped": skipped, "notes": notes})
        return
    for name, error in skipped.items():
        print(f"skipped {name}: {error}", file=sys.stderr)
    for note in notes:
        print(f"note: {note}")
    folder = Path(options.out)
    print(f"{done} image sets in {folder}, {len(skipped)} skipped; look at {folder / 'index.html'}")
