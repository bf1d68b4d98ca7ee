"""A sheet measured in inches from its upper left corner, and how it becomes a file."""

import io
import threading
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from sdtps.export.figure import fonts
from sdtps.export.figure.style import DPI, FORMATS, GREY, INK
from sdtps.support.errors import SettingsError
from sdtps.support.files import write_whole
from sdtps.support.memory import give_back

SMALLEST = 4.0  # points; below that nobody reads it
MAX_PIXELS = 36_000_000  # of a PNG: a page at 900 dpi, and about half a gigabyte while it is drawn
# Text stays text (TrueType in PDF, <text> in SVG), and the same figure is the same file.
PRINTED = str.maketrans({"ₘ": "m"})  # the font has no subscript m
SAVING = {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "sdtps-lens", "mathtext.fontset": "stix"}
_lock = threading.Lock()  # Matplotlib keeps global state, and a server has threads


class Sheet:
    """A figure of a fixed size, drawn on in inches.

    Args:
        width: inches.
        height: inches.
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width, height), facecolor="white")
        self._canvas = FigureCanvasAgg(self.figure)
        self.notes: tuple[str, ...] = ()

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        """Empty axes whose upper left corner is at (x, y)."""
        box = (x / self.width, 1 - (y + height) / self.height, width / self.width, height / self.height)
        axes = self.figure.add_axes(box)
        axes.set_axis_off()
        return axes

    def text(  # noqa: PLR0913 - Matplotlib's own
        self,
        x: float,
        y: float,
        content: str,
        size: float,
        *,
        within: float | None = None,
        color: str = INK,
        align: str = "center",
        vertical: str = "baseline",
        rotation: float = 0,
        weight: str = "normal",
        **options: Any,
    ) -> Text:
        """Text at (x, y), made smaller where it would be longer than `within`."""
        content = content.translate(PRINTED)
        with _lock, rc_context(SAVING):
            text = self.figure.text(
                x / self.width,
                1 - y / self.height,
                content,
                parse_math=content.count("$") >= 2 and content.isascii(),
                fontproperties=FontProperties(family=fonts.families_for(content), size=size, weight=weight),
                math_fontfamily="stix",
                color=color,
                ha=align,
                va=vertical,
                rotation=rotation,
                rotation_mode="anchor" if rotation else None,
                linespacing=1.05,
                **options,
            )
            if within is not None:
                box = text.get_window_extent(self._canvas.get_renderer())
                length = (box.height if rotation else box.width) / self.figure.dpi
                if length > within:
                    text.set_fontsize(max(SMALLEST, size * within / length))
        return text

    def line(self, x: tuple[float, float], y: tuple[float, float], color: str = GREY, width: float = 0.4) -> None:
        """A straight line between two points."""
        place = [v / self.width for v in x], [1 - v / self.height for v in y]
        self.figure.add_artist(Line2D(*place, color=color, linewidth=width, transform=self.figure.transFigure))

    def box(self, x: float, y: float, width: float, height: float, **look: Any) -> None:
        """A rectangle whose upper left corner is at (x, y)."""
        corner = x / self.width, 1 - (y + height) / self.height
        size = width / self.width, height / self.height
        self.figure.add_artist(Rectangle(corner, *size, transform=self.figure.transFigure, **look))

    def render(self, kind: str = "pdf", dpi: int = DPI) -> bytes:
        """The figure as a file.

        Args:
            kind: `pdf`, `svg` or `png`.
            dpi: of PNG files, and of photographs inside PDF and SVG.
        """
        if kind not in FORMATS:
            raise ValueError(f"There is no format {kind!r}; choose one of {', '.join(FORMATS)}.")
        if kind == "png":
            self._check_pixels(dpi)
        metadata = {
            "pdf": {"Creator": "SDTPS Lens", "Producer": "Matplotlib", "CreationDate": None},
            "svg": {"Creator": "SDTPS Lens", "Date": None},
            "png": {"Software": "SDTPS Lens"},
        }[kind]
        stream = io.BytesIO()
        # A PDF or SVG holds the photographs' own pixels; a PNG needs them smooth at its size.
        for image in self.figure.findobj(AxesImage):
            image.set_interpolation("bilinear" if kind == "png" else "none")
        with _lock, rc_context(SAVING):
            self.figure.savefig(stream, format=kind, dpi=dpi, metadata=metadata, facecolor="white")
        content = stream.getvalue()
        if kind == "png":
            give_back()
        return fonts.embed(content, self.figure) if kind == "svg" else content

    def _check_pixels(self, dpi: int) -> None:
        """Refuse what would fill the memory, before anything is drawn."""
        area = self.width * self.height
        if area * dpi**2 <= MAX_PIXELS:
            return
        text = "The figure would have {pixels:.0f} megapixels; the limit is {limit:.0f}. Take {dpi} dpi, or a PDF."
        most = int((MAX_PIXELS / area) ** 0.5)
        pixels = area * dpi**2 / 1e6
        raise SettingsError("figure.pixels", text, pixels=pixels, limit=MAX_PIXELS / 1e6, dpi=most)

    def _repr_png_(self) -> bytes:
        return self.render("png")

    def save(self, path: str | Path, dpi: int = DPI) -> None:
        """Write a file; its ending says the format."""
        write_whole(path, self.render(Path(path).suffix.lstrip(".").lower(), dpi))
