"""`bundle`: one analysis as a zip that opens again."""

import argparse

from sdtps.cli import options as shared
from sdtps.cli.figure import add_look, look_from
from sdtps.export.bundle import write_bundle
from sdtps.support.files import write_whole

EXAMPLES = """
    bundle rgb.png nir.png tir.png --out result.zip
    bundle rgb.png - tir.png --out result.zip --sparse-ratio 0.3 --anonymous
"""


def add_command(commands: shared.Subparsers) -> None:
    """Describe the command."""
    parser = shared.add_command(
        commands,
        "bundle",
        "write a zip with figure, inputs, every array and where they come from",
        EXAMPLES,
        "The zip opens again on the page and in every command that takes pictures: the same numbers, to the bit. "
        "README.txt inside names the arrays.",
    )
    shared.add_set(parser)
    parser.add_argument("--out", required=True, help="the .zip")
    add_look(parser)
    shared.add_model(parser, anonymous=True)
    shared.add_settings(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Analyse and pack."""
    look = look_from(options)
    shown = shared.open_set(options)
    content = write_bundle(shown.analysis, shown.pixels, look, shown.sources)
    write_whole(options.out, content)
    print(f"written: {options.out} ({len(content) / 2**20:.1f} MB)")
    return 0
