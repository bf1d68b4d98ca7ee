"""What a figure looks like: widths of journals, sizes of type, words in two languages, options."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from sdtps.export.rendering import COLOUR_MAPS, Over
from sdtps.panels import PANELS, SDTPS_PANELS, panels_of
from sdtps.support.errors import SettingsError
from sdtps.types import WeightsReport
from sdtps.variants import Group
from sdtps.web.static import texts

if TYPE_CHECKING:
    from matplotlib.font_manager import FontEntry

FORMATS = ("pdf", "svg", "png")
DPI = 300

# Widths in inches, from each template's \columnwidth and \textwidth. ICLR has one column: half of it fits two figures
# side by side.
PRESETS = MappingProxyType(
    {
        "cvpr-page": 6.875,
        "cvpr-column": 3.281,
        "iclr-page": 5.5,
        "iclr-column": 2.67,
        "ieee-page": 7.16,
        "ieee-column": 3.5,
    }
)
PAGE_PANELS = tuple(name for name in SDTPS_PANELS if PANELS[name].group is not Group.WHAT_IF)
COLUMN_PANELS = tuple(name for name in PAGE_PANELS if PANELS[name].compact)
PAGE_WIDTH, PAGE_HEIGHT = 8.5, 8.4  # what a figure with its caption has on a page; wider ones (posters) in proportion
WIDE_ENOUGH = 5.0  # inches, from which all eight columns are legible

FONT = "STIXGeneral"  # Times-like, as the templates' body; comes with Matplotlib
CJK_FONTS = (
    "Noto Serif CJK SC",
    "Noto Sans CJK SC",
    "Source Han Serif SC",
    "Source Han Sans SC",
    "Songti SC",
    "PingFang SC",
    "SimSun",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
)

INK, GREY, FRAME = "#111111", "#5a5a5a", "#9a9a9a"
WARNING_INK, WARNING_FILL, WARNING_LINE = "#6b4700", "#fff4d6", "#e2b13c"
RIGHT, WRONG = "#12873b", "#c62828"  # green and red that differ in lightness, too
ENTERED, LEFT = "#1b9e77", "#d95f02"

WORDS = {
    "en": {
        "missing": "no picture: the model was given zeros, and its prior is left out here",
        "to": "to {name}",
        "no.picture": "to {name}: no picture",
        "absent": "not in\nthese weights",
        "flat": "flat\n≈ {value}",
        "threshold": "threshold {value}",
        "mixed": "colours are mixed with the photograph",
        "draws": "{n} draws",
        "weights": "weights {name} ({hash}, {state})",
        "trained": "complete",
        "partial": "partly loaded",
        "random": "random",
        "variant": "variant {name}",
        "about.silent": "training data not stated",
        "about.maps": "a map is no segmentation",
        "banner.random": "Random weights: nothing was learned, the maps mean nothing.",
        "banner.partial": "Partly loaded weights: {missing} tensors stayed at random values.",
        "change": "Change",
        "entered": "entered",
        "left": "left",
        "query": "Query",
        "rank": "Rank {n}",
        "no.cjk": "No Chinese font is installed; the labels are in English.",
    },
    "zh": {
        "missing": "无图像：模型输入为零，此处不画其先验",
        "to": "与 {name}",
        "no.picture": "与 {name}：无图像",
        "absent": "权重中\n没有",
        "flat": "几乎不变\n≈ {value}",
        "threshold": "阈值 {value}",
        "mixed": "颜色与照片混合",
        "draws": "{n} 次抽样",
        "weights": "权重 {name}（{hash}，{state}）",
        "trained": "完整",
        "partial": "部分加载",
        "random": "随机",
        "variant": "变体 {name}",
        "about.silent": "未说明训练数据",
        "about.maps": "热图不是分割结果",
        "banner.random": "随机权重：没有学到任何东西，图没有意义。",
        "banner.partial": "部分加载的权重：{missing} 个张量仍为随机值。",
        "change": "变化",
        "entered": "新增",
        "left": "移除",
        "query": "查询",
        "rank": "第 {n} 位",
        "no.cjk": "",
    },
}


def on_a_page(inches: float, cell: tuple[float, float], rows: int, height: float) -> tuple[float, float]:
    """Width and height of a cell, made smaller where a sheet with so many rows of it would be taller than a page."""
    tallest = PAGE_HEIGHT * max(1.0, inches / PAGE_WIDTH)
    if height <= tallest or rows == 0:
        return cell
    smaller = max(0.05, cell[1] - (height - tallest) / rows)
    return cell[0] * smaller / cell[1], smaller


@dataclass(frozen=True)
class FigureOptions:
    """How to draw; what is drawn comes from the analysis.

    Attributes:
        columns: panels from left to right; what fits the width by default.
        width: a name of `PRESETS`, or inches.
        colormap: a name of `rendering.COLOUR_MAPS`.
        scale: `shared` (one colour bar per column) or `map` (one per picture).
        over: what lies over a map, `lines`, `relief` or `blend` (see `rendering`); `lines` by default.
        opacity: of a map that is blended, 0 to 1. An opacity without `over` means `blend`.
        dropped: `dim` or `black`.
        captions: print (a), (b), ... below the columns.
        provenance: print weights and settings in a line below.
        language: `en` or `zh`.
    """

    columns: tuple[str, ...] | None = None
    width: str | float = "cvpr-page"
    colormap: str = "viridis"
    scale: str = "shared"
    over: str | None = None
    opacity: float | None = None
    dropped: str = "dim"
    captions: bool = False
    provenance: bool = True
    language: str = "en"

    def __post_init__(self) -> None:
        allowed = {
            "colormap": tuple(COLOUR_MAPS),
            "scale": ("shared", "map"),
            "dropped": ("dim", "black"),
            "language": tuple(WORDS),
        }
        if isinstance(self.width, str):
            allowed["width"] = tuple(PRESETS)
        elif not 1.5 <= self.width <= 20:
            text = "width must lie between 1.5 and 20 inches, not at {value}."
            raise SettingsError("figure.width", text, value=self.width)
        for name, choices in allowed.items():
            if getattr(self, name) not in choices:
                raise _unknown(name, getattr(self, name), choices)
        _ = self.rendering  # refuses what is not there
        unknown = [c for c in self.columns or () if c not in PANELS]
        if unknown or self.columns == ():
            raise _unknown("column", unknown[0] if unknown else "", PANELS)
        if len(set(self.columns or ())) < len(self.columns or ()):
            raise SettingsError("figure.repeated", "A figure holds each column once; leave out the repeated ones.")

    @property
    def rendering(self) -> Over:
        """What lies over a map."""
        return Over.of(self.over, self.opacity)

    @property
    def inches(self) -> float:
        """The width in inches."""
        return PRESETS[self.width] if isinstance(self.width, str) else self.width

    def panels(self, variant: str) -> tuple[str, ...]:
        """The columns asked for, or those of the variant that are legible at this width."""
        legible = PAGE_PANELS if self.inches >= WIDE_ENOUGH else COLUMN_PANELS
        own = [name for name in panels_of(variant) if name in legible or name not in SDTPS_PANELS]
        return self.columns or tuple(own)

    @property
    def drawn_language(self) -> str:
        """The language that is printed: English where no font could print Chinese."""
        return self.language if self.language == "en" or cjk_font() else "en"

    def words(self) -> dict[str, str]:
        """The words of the language, those of the page for the columns; English where no font could print Chinese."""
        language = self.drawn_language
        return WORDS[language] | {
            name: texts()[language].get(f"column.{name}", panel.title or name) for name, panel in PANELS.items()
        }

    def notes(self) -> tuple[str, ...]:
        """What was not done as asked, in plain sentences."""
        return () if self.language == "en" or cjk_font() else (WORDS["en"]["no.cjk"],)


def about_line(report: WeightsReport, options: FigureOptions) -> str:
    """What the weights are by their own account, and what maps do not tell."""
    words = options.words()
    own = report.about.get(options.drawn_language) or report.about.get("en") or {}
    known = own.get("line", words["about.silent"]) if report.trained else words["banner.random"]
    return f"{known.rstrip('.')} · {words['about.maps']}"


def _unknown(what: str, value: object, choices: Iterable[str]) -> SettingsError:
    text = "There is no {what} {value!r}; choose one of {names}."
    return SettingsError("figure.unknown", text, what=what, value=value, names=", ".join(choices))


@lru_cache
def cjk_font() -> str | None:
    """An installed font with Chinese characters, or None."""
    from matplotlib.font_manager import FontManager, fontManager

    if (name := _cjk_among(fontManager.ttflist)) is None:
        # Matplotlib goes by the list that it made at its first start here; a font may have been installed since.
        fontManager.ttflist = FontManager().ttflist
        name = _cjk_among(fontManager.ttflist)
    return name


def _cjk_among(fonts: "Iterable[FontEntry]") -> str | None:
    installed = {entry.name for entry in fonts}
    return next((name for name in CJK_FONTS if name in installed), None)


def short(value: float) -> str:
    """A number for a colour bar: two or three digits, no trailing zeros."""
    if value == 0:
        return "0"
    size = abs(value)
    if size < 0.001 or size >= 1000:
        return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")
    text = f"{value:.3f}" if size < 0.1 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".")
