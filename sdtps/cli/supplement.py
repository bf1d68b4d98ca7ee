"""`supplement`: one analysis as a page that needs no server."""

import argparse
from pathlib import Path

from tqdm import tqdm

from sdtps.cli import options as shared
from sdtps.support.files import write_whole

LONGEST_PATH = 255

EXAMPLES = """
    supplement rgb.png nir.png tir.png --out page.html
    supplement result.zip --out page.html --anonymous
"""


def add_command(commands: shared.Subparsers) -> None:
    """Describe the command."""
    parser = shared.add_command(
        commands,
        "supplement",
        "write one HTML file with the interactive grid, for supplementary material",
        EXAMPLES,
        "The page needs no server and no network. The sparse ratio moves freely; beta, aggregation and tau move over "
        "values that are computed now and put into the file, which stays below 3 MB.",
    )
    shared.add_set(parser)
    parser.add_argument("--out", required=True, help="the .html")
    parser.add_argument("--title", default="", help="what stands above the pictures")
    parser.add_argument(
        "--introduction",
        default="",
        metavar="TEXT",
        help="your words on it, or a text file; blank lines part paragraphs",
    )
    shared.add_model(parser, anonymous=True)
    shared.add_settings(parser)
    parser.set_defaults(run=run)


def _text(given: str) -> str:
    """The text itself, or that of a file of this name."""
    file = Path(given) if given and "\n" not in given and len(given) < LONGEST_PATH else None
    return file.read_text(encoding="utf-8") if file is not None and file.is_file() else given


def run(options: argparse.Namespace) -> int:
    """Compute all steps and write the page."""
    from sdtps.export.supplement import write_supplement

    shown = shared.open_set(options)
    opened = shown.reopen()
    with tqdm(unit="step") as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        page = write_supplement(
            opened, shown.analysis, progress, title=options.title, introduction=_text(options.introduction)
        )
    write_whole(options.out, page.encode())
    print(f"written: {options.out} ({len(page.encode()) / 2**20:.1f} MB)")
    return 0
