"""`figure`: one image set, or A against B, as PDF, SVG or PNG."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sdtps.cli import options as shared
from sdtps.export.figure.style import DPI, FORMATS, PRESETS, WORDS, FigureOptions
from sdtps.export.rendering import COLOUR_MAPS
from sdtps.panels import PANELS
from sdtps.support.errors import InputError

if TYPE_CHECKING:
    from sdtps.export.figure import Sheet

EXAMPLES = """
    figure rgb.png nir.png tir.png --out figure.pdf
    figure rgb.png nir.png tir.png --out figure.svg --width cvpr-column --columns input,score,kept
    figure result.zip --out figure.png --dpi 600 --captions
    figure a.zip --against b.zip --out comparison.pdf
"""


def add_command(commands: shared.Subparsers) -> None:
    """Describe the command."""
    short = "draw the figure for a paper: PDF, SVG or PNG"
    parser = shared.add_command(commands, "figure", short, EXAMPLES)
    shared.add_set(parser)
    parser.add_argument("--out", required=True, help=f"the file; its ending says the format ({', '.join(FORMATS)})")
    parser.add_argument("--against", metavar="BUNDLE", help="a second bundle of the same image set: draws A against B")
    add_look(parser)
    parser.add_argument("--dpi", type=int, default=DPI, help=f"of a PNG ({DPI})")
    shared.add_model(parser, anonymous=True)
    shared.add_settings(parser)
    parser.set_defaults(run=run)


def add_look(parser: argparse.ArgumentParser) -> None:
    """How a figure looks."""
    group = parser.add_argument_group("look")
    group.add_argument("--width", default="cvpr-page", help=f"{', '.join(PRESETS)}, or inches (cvpr-page)")
    group.add_argument("--columns", help=f"from left to right, with commas: {','.join(PANELS)}")
    group.add_argument("--colormap", choices=[c for c in COLOUR_MAPS if c != "diverging"], default="viridis",
        help="colours of a map (viridis)")  # fmt: skip
    group.add_argument("--scale", choices=("shared", "map"), default="shared", help="one colour bar per column or map")
    shared.add_over(group)
    group.add_argument("--dropped", choices=("dim", "black"), default="dim", help="how dropped patches look (dim)")
    group.add_argument("--captions", action="store_true", help="print (a), (b), ... below the columns")
    group.add_argument("--no-provenance", action="store_true", help="leave out the line on weights and settings")
    group.add_argument("--language", choices=tuple(WORDS), default="en", help="of the labels (en)")


def check_format(out: str) -> Path:
    """The file to write, when its ending is one that can be drawn."""
    target = Path(out)
    if target.suffix.lstrip(".").lower() not in FORMATS:
        raise InputError("figure.format", "--out must end in {formats}.", formats=", ".join(f".{f}" for f in FORMATS))
    return target


def width_from(options: argparse.Namespace) -> str | float:
    """A preset's name, or inches."""
    width: str | float = options.width
    if options.width not in PRESETS:
        try:
            width = float(options.width)
        except ValueError:
            raise ValueError(f"There is no width {options.width!r}; choose {', '.join(PRESETS)} or inches.") from None
    return width


def look_from(options: argparse.Namespace) -> FigureOptions:
    """The look that was asked for."""
    return FigureOptions(
        columns=tuple(options.columns.replace(" ", "").split(",")) if options.columns else None,
        width=width_from(options),
        colormap=options.colormap,
        scale=options.scale,
        over=options.over,
        opacity=options.opacity,
        dropped=options.dropped,
        captions=options.captions,
        provenance=not options.no_provenance,
        language=options.language,
    )


def run(options: argparse.Namespace) -> int:
    """Draw and write."""
    from sdtps.export.figure import compare_figure, grid_figure

    look = look_from(options)
    target = check_format(options.out)
    shown = shared.open_set(options)
    sheet: Sheet
    if options.against:
        other = argparse.Namespace(**vars(options) | {"pictures": [options.against], "wide": False})
        sheet = compare_figure(shown.analysis, shared.open_set(other).analysis, shown.pixels, look)
    else:
        sheet = grid_figure(shown.analysis, shown.pixels, look)
    sheet.save(target, options.dpi)
    for note in (*shown.analysis.notes, *sheet.notes):
        print(f"note: {note}")
    print(f"written: {target} ({sheet.width:.2f} x {sheet.height:.2f} inches)")
    return 0
