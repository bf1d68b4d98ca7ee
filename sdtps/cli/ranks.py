"""`ranks`: what a gallery gives for some queries, as a figure."""

import argparse

from sdtps.cli import options as shared
from sdtps.cli import work
from sdtps.cli.figure import check_format, width_from
from sdtps.datasets import Dataset, Record, open_dataset
from sdtps.export.figure.style import DPI, PRESETS, WORDS, FigureOptions
from sdtps.images.encode import Pixels
from sdtps.images.read import prepare

SHOWN_QUERIES = 2  # more would not fit on a page at ten results each
EXAMPLES = """
    ranks data --out ranks.pdf
    ranks data --out ranks.pdf --query 000258_cam1_0_02.jpg --query 000260_cam2_0_16.jpg --depth 8
"""


def add_command(commands: shared.Subparsers) -> None:
    """Describe the command."""
    short = "draw rank lists, three rows per query, as PDF, SVG or PNG"
    parser = shared.add_command(commands, "ranks", short, EXAMPLES)
    work.add_folder(parser)
    parser.add_argument("--out", required=True, help="the file; its ending says the format (pdf, svg, png)")
    parser.add_argument("--query", action="append", help=f"a file name; repeat for several (the first {SHOWN_QUERIES})")
    parser.add_argument("--depth", type=int, default=10, help="results per query (10)")
    parser.add_argument("--width", default="cvpr-page", help=f"{', '.join(PRESETS)}, or inches (cvpr-page)")
    parser.add_argument("--language", choices=tuple(WORDS), default="en", help="of the labels (en)")
    parser.add_argument("--dpi", type=int, default=DPI, help=f"of a PNG ({DPI})")
    work.add_features(parser)
    shared.add_model(parser)
    shared.add_settings(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Search, draw and write."""
    from sdtps.export.figure import RankedItem, RankedQuery, rank_figure
    from sdtps.retrieval.features import NOTHING

    target = check_format(options.out)
    dataset = open_dataset(options.folder)
    model = shared.load(options)
    size = model.net.backbone.input_size
    features = work.feature_reader(options, model, dataset)
    found = {split: features(split, [NOTHING])[NOTHING] for split in dict.fromkeys((dataset.query, dataset.gallery))}
    queries, gallery = found[dataset.query], found[dataset.gallery]
    drawn = []
    for number in _numbers(options.query, queries.records):
        record = queries.records[number]
        ranked = gallery.gallery.search(queries.features[number], record, dataset.layout.apart, options.depth)
        items = [RankedItem(_pixels(size, dataset, m.record), m.same, m.distance) for m in ranked.matches]
        drawn.append(RankedQuery(_pixels(size, dataset, record), items))
    sheet = rank_figure(drawn, FigureOptions(width=width_from(options), language=options.language), options.depth)
    sheet.save(target, options.dpi)
    print(f"written: {target} ({sheet.width:.2f} x {sheet.height:.2f} inches)")
    return 0


def _numbers(names: list[str] | None, records: tuple[Record, ...]) -> list[int]:
    """Places of the queries by their names."""
    if not names:
        return list(range(min(SHOWN_QUERIES, len(records))))
    places = {r.name: i for i, r in enumerate(records)}
    if unknown := [name for name in names if name not in places]:
        raise ValueError(f"There is no query {unknown[0]!r} in this folder.")
    return [places[name] for name in names]


def _pixels(size: tuple[int, int], dataset: Dataset, record: Record) -> dict[str, Pixels | None]:
    return dict(prepare(dataset.read(record), size).pixels)
