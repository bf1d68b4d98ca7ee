"""Do painted colours mean their value? The distance between each patch and its colour bar, on the page and in figures.

python -m scripts.colour_truth            # ten examples: page and figure, blended, with lines, with relief

Pixels under lines are left out. A patch's distance is the mean CIE76 difference between its pixels and the colour that
its value has on the bar; its reading error is how far away on the bar the colour nearest to its mean colour lies.
Besides: how bright kept and dropped patches are, for both ways to darken. Ends with 1 where a panel that is not mixed
is 3 or more away from its bar, or dropped is not darker than kept.
"""

import argparse
import base64
import io
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import sdtps  # noqa: E402 - the package lies beside this folder
from sdtps.datasets.examples import find_examples  # noqa: E402
from sdtps.export.figure import FigureOptions, grid_figure  # noqa: E402
from sdtps.export.figure.grid import BAR, layout_of  # noqa: E402
from sdtps.export.rendering import BLEND, LINES, OVER, spread_mask  # noqa: E402
from sdtps.images.edges import line_drawing  # noqa: E402
from sdtps.images.encode import Pixels  # noqa: E402
from sdtps.metrics.flatness import flat_maps  # noqa: E402
from sdtps.panels import HEAT_PANELS, PANELS, maps_of, own_ranges, panels_of  # noqa: E402
from sdtps.pipeline import OpenSet  # noqa: E402
from sdtps.types import MODALITIES, Analysis, BoolArray, FloatArray, Grid  # noqa: E402
from tests.harness import READY, chromium, serving_app  # noqa: E402

DPI = 200
MOST = 3.0  # ΔE of a panel that is not mixed: what is below it reads as the bar's colour
RIM = 1  # pixels at the edge of a patch that another patch may have touched
WHITE = np.array([0.95047, 1.0, 1.08883])
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
Floats = NDArray[np.float64]
PLACES = np.linspace(0, 1, 257)


def lab(rgb: NDArray[Any]) -> Floats:
    """(..., 3) sRGB bytes to CIE Lab."""
    c = np.asarray(rgb, np.float64) / 255
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    t = linear @ TO_XYZ.T / WHITE
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    lightness = 116 * f[..., 1] - 16
    return np.stack([lightness, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def delta_e(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """CIE76 difference of sRGB colours."""
    distance: Floats = np.linalg.norm(lab(a) - lab(b), axis=-1)
    return distance


@dataclass(frozen=True)
class Reading:
    """One panel: mean distance of its patches to the bar, and the largest error of reading a value back."""

    name: str
    distance: float
    error: float


@dataclass(frozen=True)
class Shown:
    """A panel as painted: its pixels, the bar's, the values with their range, and which patches count."""

    name: str
    pixels: Pixels
    bar: Pixels
    values: FloatArray
    limits: tuple[float, float]
    patches: BoolArray
    lines: BoolArray


def read_panel(shown: Shown, grid: Grid) -> Reading:
    """How far the painted colours are from the bar's."""
    height, width = shown.pixels.shape[:2]
    low, high = shown.limits
    painted, scale = lab(shown.pixels), lab(colours_on(shown.bar, PLACES))
    distances, errors = [], []
    for index in np.flatnonzero(shown.patches):
        row, col = grid.row_col(int(index))
        top, bottom = round(row * height / grid.rows) + RIM, round((row + 1) * height / grid.rows) - RIM
        left, right = round(col * width / grid.cols) + RIM, round((col + 1) * width / grid.cols) - RIM
        free = ~shown.lines[top:bottom, left:right]
        if not free.any():
            continue
        place = float(np.clip((shown.values[index] - low) / (high - low), 0, 1)) if high > low else 0.5
        expected = lab(colours_on(shown.bar, np.array([place])))
        distances.append(float(np.linalg.norm(painted[top:bottom, left:right][free] - expected, axis=-1).mean()))
        mean = lab(shown.pixels[top:bottom, left:right][free].mean(0))
        nearest = PLACES[np.argmin(np.linalg.norm(scale - mean, axis=-1))]
        errors.append(abs(nearest - place) if high > low else 0.0)
    return Reading(shown.name, float(np.mean(distances)), float(max(errors)))


def colours_on(bar: Pixels, places: Floats) -> Floats:
    """(P, 3) colours at places from 0 to 1 of a row of pixels, each of which stands for its middle."""
    middles = (np.arange(len(bar)) + 0.5) / len(bar)
    return np.stack([np.interp(places, middles, bar[:, channel]) for channel in range(3)], axis=-1)


def covered(pixels: Pixels | None, over: str, shape: tuple[int, int]) -> BoolArray:
    """(H, W) pixels of a panel that lines or their halo touch."""
    if pixels is None or over != LINES:
        return np.zeros(shape, bool)
    alpha = Image.fromarray((line_drawing(pixels)[..., 1] > 0).astype(np.uint8) * 255)
    small = alpha.resize((shape[1], shape[0]), Image.Resampling.BOX).point(lambda value: 255 if value > 0 else 0)
    return np.asarray(small.filter(ImageFilter.MaxFilter(3))) > 0


def countable(analysis: Analysis, modality: str, panel: str) -> BoolArray:
    """Patches that show their value: not those that are dropped."""
    mask = analysis[modality].mask
    return mask if PANELS[panel].masked else np.ones(len(mask), bool)


def contour(analysis: Analysis, modality: str, panel: str, shape: tuple[int, int]) -> BoolArray:
    """(H, W) pixels under the line between kept and dropped."""
    if not PANELS[panel].masked:
        return np.zeros(shape, bool)
    kept = Image.fromarray(spread_mask(analysis[modality].mask, analysis.grid, shape).astype(np.uint8) * 255)
    grown, shrunk = (np.asarray(kept.filter(f(7))) > 0 for f in (ImageFilter.MaxFilter, ImageFilter.MinFilter))
    return grown & ~shrunk


def heat_panels(analysis: Analysis) -> list[str]:
    """The heat maps that this analysis has."""
    return [name for name in panels_of(analysis.settings.variant) if name in HEAT_PANELS]


def page_panels(page: Any, analysis: Analysis, photos: Mapping[str, Pixels | None], over: str) -> Iterator[Shown]:
    """Every heat panel of the page, cut out of one screenshot, with the pixels of a bar on it."""
    shot = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))

    def cut(selector: str) -> Pixels:
        box = page.locator(selector).bounding_box()
        x, y = round(box["x"]), round(box["y"])
        return shot[y : y + round(box["height"]), x : x + round(box["width"])]

    bar = cut("[data-modality=rgb] [data-panel=self] .lens-bar")
    middle = bar[len(bar) // 2]
    for m in MODALITIES:
        maps, flat = maps_of(analysis[m], m), flat_maps(analysis[m], m, analysis.settings)
        limits = own_ranges(maps)
        for name in heat_panels(analysis):
            values = maps[name]
            if values is None or analysis[m].missing:
                continue
            pixels = cut(f"canvas[data-modality={m}][data-panel={name}]")
            own = cut(f".lens-row[data-modality={m}] figure[data-panel={name}] .lens-bar")
            ends = (0.0, 0.0) if flat[name] else (limits[name][0], limits[name][1])
            shown_bar = own[len(own) // 2] if flat[name] else middle
            lines = covered(photos[m], over, pixels.shape[:2]) | contour(analysis, m, name, pixels.shape[:2])
            yield Shown(f"{m}/{name}", pixels, shown_bar, values, ends, countable(analysis, m, name), lines)


def figure_panels(analysis: Analysis, photos: Mapping[str, Pixels | None], over: str) -> Iterator[Shown]:
    """Every heat panel of a figure with a bar of its own below each."""
    columns = heat_panels(analysis)
    options = FigureOptions(columns=tuple(columns), over=over, scale="map", width=16.0, provenance=False)
    sheet = grid_figure(analysis, photos, options)
    image = np.asarray(Image.open(io.BytesIO(sheet.render("png", DPI))).convert("RGB"))
    height, width = next(p.shape[:2] for p in photos.values() if p is not None)
    missing = [analysis[m].missing for m in MODALITIES]
    layout = layout_of(options, columns, height / width, not analysis.weights.complete, missing)

    def cut(x: float, y: float, wide: float, high: float) -> Pixels:
        return image[round(y * DPI) : round((y + high) * DPI), round(x * DPI) : round((x + wide) * DPI)]

    for row, m in enumerate(MODALITIES):
        maps, flat = maps_of(analysis[m], m), flat_maps(analysis[m], m, analysis.settings)
        limits = own_ranges(maps)
        for col, name in enumerate(columns):
            values = maps[name]
            if values is None or missing[row] or flat[name]:
                continue
            x, y = layout.place(row, col)
            pixels = cut(x, y, *layout.cell)
            bar_x, _ = layout.place(row, columns.index("self"))  # the score's own has marks on it
            bar = cut(bar_x, y + layout.cell[1] + 0.03, layout.cell[0], BAR)
            lines = covered(photos[m], over, pixels.shape[:2]) | _tag(pixels.shape[:2], name)
            lines |= contour(analysis, m, name, pixels.shape[:2])
            ends = limits[name][0], limits[name][1]
            yield Shown(f"{m}/{name}", pixels, bar[len(bar) // 2], values, ends, countable(analysis, m, name), lines)


def _tag(shape: tuple[int, int], name: str) -> BoolArray:
    """Where a figure has words in the corner of a picture."""
    words = np.zeros(shape, bool)
    if PANELS[name].other is not None or name == "score":
        words[int(shape[0] * 0.9) :] = True
    return words


@dataclass(frozen=True)
class Brightness:
    """Mean brightness of kept and of dropped patches in one picture, 0 to 255."""

    name: str
    kept: float
    dropped: float


def read_brightness(name: str, pixels: Pixels, mask: BoolArray, grid: Grid) -> Brightness:
    """What the kept panel looks like, away from the line between kept and dropped."""
    luma = np.asarray(Image.fromarray(pixels).convert("L"), np.float64)
    kept = spread_mask(mask, grid, luma.shape)
    image = Image.fromarray(kept.astype(np.uint8) * 255)
    inner, outer = (np.asarray(image.filter(f(5))) > 0 for f in (ImageFilter.MinFilter, ImageFilter.MaxFilter))
    return Brightness(name, float(luma[inner].mean()), float(luma[~outer].mean()))


def choose(page: Any, option: str, value: str) -> None:
    """Press a display choice and let the page paint."""
    page.locator(f"[data-option={option}] input[value={value}]").check()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def canvas_pixels(page: Any, modality: str, panel: str) -> Pixels:
    """What a canvas holds."""
    selector = f"canvas[data-modality={modality}][data-panel={panel}]"
    _, data = page.locator(selector).evaluate("c => c.toDataURL()").split(",")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


def measure(names: list[str]) -> tuple[dict[tuple[str, str], list[Reading]], dict[str, list[Brightness]]]:
    """Readings by place and rendering, and brightness by style, over some examples."""
    model, examples = sdtps.load_model(device="cpu"), find_examples()
    readings: dict[tuple[str, str], list[Reading]] = {}
    bright: dict[str, list[Brightness]] = {}
    with serving_app("--device", "cpu") as url, chromium() as browser:
        page = browser.new_page(viewport={"width": 1920, "height": 1080})
        for name in names:
            opened = OpenSet.of(model, examples[name].triplet, None, asked=False)
            analysis, photos = opened.analyse(model.settings), opened.prepared.pixels
            page.goto(f"{url}/?example={name}")
            page.wait_for_selector(READY)
            page.wait_for_selector(".lens-grid[aria-busy=false]")
            for over in OVER:
                choose(page, "over", over)
                for where, found in (
                    ("page", page_panels(page, analysis, photos, over)),
                    ("figure", figure_panels(analysis, photos, over)),
                ):
                    readings.setdefault((where, over), []).extend(read_panel(s, analysis.grid) for s in found)
            for style in ("dim", "black"):
                choose(page, "dropped", style)
                for m in MODALITIES:
                    pixels = canvas_pixels(page, m, "kept")
                    found_here = read_brightness(f"{name}/{m}", pixels, analysis[m].mask, analysis.grid)
                    bright.setdefault(style, []).append(found_here)
    return readings, bright


def table(readings: Mapping[tuple[str, str], list[Reading]], bright: Mapping[str, list[Brightness]]) -> str:
    """Both measurements in Markdown."""
    words = {BLEND: "blended at 65 % (before)", LINES: "opaque, with lines (default)", "relief": "opaque, with relief"}
    lines = [
        "| where | rendering | panels | mean ΔE, all panels | mean ΔE of the worst panel | largest reading error |",
        "|---|---|---|---|---|---|",
    ]
    for (where, over), found in sorted(readings.items(), key=lambda item: (item[0][0], OVER.index(item[0][1]) - 3)):
        mean, worst = np.mean([r.distance for r in found]), max(found, key=lambda r: r.distance)
        error = max(r.error for r in found)
        lines.append(f"| {where} | {words[over]} | {len(found)} | {mean:.2f} | {worst.distance:.2f} | {error:.3f} |")
    lines += [
        "",
        "| dropped patches | pictures | darker than kept | smallest lead of kept, of 255 |",
        "|---|---|---|---|",
    ]
    for style, pictures in bright.items():
        leads = [b.kept - b.dropped for b in pictures]
        lines.append(f"| {style} | {len(leads)} | {sum(lead > 0 for lead in leads)} | {min(leads):.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", nargs="*", help="names of examples (all)")
    options = parser.parse_args()
    readings, bright = measure(options.examples or list(find_examples()))
    print(table(readings, bright))
    far = {f"{where}/{over}/{r.name}" for (where, over), all_ in readings.items() for r in all_ if r.distance >= MOST}
    far = {name for name in far if BLEND not in name}  # mixed on purpose
    if far or any(b.kept <= b.dropped for found in bright.values() for b in found):
        sys.exit(f"ΔE of {MOST:g} or more: {', '.join(sorted(far)) or 'nowhere'}; or dropped is not darker than kept.")


if __name__ == "__main__":
    main()
