"""One HTML file that needs no server: the same scripts draw an analysis from numbers that Python put into it.

The sparse ratio moves in the slider's own steps; beta, aggregation and tau in a few, as do knobs of other selectors.
Every number for every stop is computed here by `OpenSet.analyse`; the page only looks it up.
"""

import base64
import gzip
import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.export import payload, positions
from sdtps.images.encode import BLANK_URL
from sdtps.metrics.provenance import OUTLIER_LIMIT, norm_scores
from sdtps.panels import PANELS, SLIDERS, maps_of, panels_of
from sdtps.pipeline import OpenSet
from sdtps.support.errors import InputError
from sdtps.support.progress import Progress
from sdtps.types import MODALITIES, Analysis, Payload, Settings
from sdtps.variants import get_variant
from sdtps.web import static

MAX_BYTES = 3_000_000
RATIO_STRIDE = 1  # every stop of the slider
EXAMPLE = "analysis"
LONGEST_TITLE, LONGEST_INTRODUCTION = 200, 6000  # characters
CSP = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


@dataclass(frozen=True)
class Stops:
    """The values that each slider can take, the analysis' own among them."""

    sparse_ratio: tuple[float, ...]
    aggr_ratio: tuple[float, ...]
    beta: tuple[float, ...]
    tau: tuple[float, ...]


Plan = tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]
# From many stops to few: the first that stays below the limit is taken.
PLANS: tuple[Plan, ...] = (
    ((0.2, 0.4, 0.7, 1.0), (0.0, 0.125, 0.25, 0.375, 0.5), (0.1, 0.3, 1.0, 3.0)),
    ((0.2, 0.4, 0.8), (0.0, 0.25, 0.5), (0.1, 0.3, 1.0)),
    ((0.4,), (0.0, 0.25, 0.5), (1.0,)),
    ((), (), ()),
)


@dataclass(frozen=True)
class Words:
    """What the author says above the pictures.

    Attributes:
        title: of the page; the program's name where it is empty.
        introduction: plain text; blank lines separate paragraphs.
    """

    title: str = ""
    introduction: str = ""

    def __post_init__(self) -> None:
        if len(self.title) > LONGEST_TITLE or len(self.introduction) > LONGEST_INTRODUCTION:
            text = "A title may have {title} characters and an introduction {introduction}; shorten it."
            raise InputError("supplement.words", text, title=LONGEST_TITLE, introduction=LONGEST_INTRODUCTION)

    def as_dict(self) -> Payload:
        """Title and paragraphs, each on one line."""
        blocks = re.split(r"\n\s*\n", self.introduction)
        return {
            "title": " ".join(self.title.split()),
            "introduction": [" ".join(block.split()) for block in blocks if block.strip()],
        }


def write_supplement(
    opened: OpenSet, analysis: Analysis, progress: Progress | None = None, *, title: str = "", introduction: str = ""
) -> str:
    """The page as text, below 3 MB.

    Args:
        opened: the image set in front of the weights of the analysis.
        analysis: the numbers to start with; its report on the weights is what the page shows.
        progress: called with (done, total).
        title: what stands above the pictures; empty for the program's name alone.
        introduction: what the author says about them, plain text; blank lines separate paragraphs.
    """
    for page in pages(opened, analysis, progress, words=Words(title, introduction)):
        if len(page.encode()) < MAX_BYTES:
            return page
    text = "The photographs alone are too large for a supplement; use a model with smaller inputs."
    raise InputError("supplement.too_big", text)


def pages(
    opened: OpenSet,
    analysis: Analysis,
    progress: Progress | None = None,
    *,
    plans: Sequence[Plan] | None = None,
    stride: int | None = None,
    words: Words | None = None,
) -> Iterator[str]:
    """The page with ever fewer stops.

    Args:
        opened, analysis, progress: see `write_supplement`.
        plans: stops of aggregation, beta and tau, from many to few; those of a supplement by default.
        stride: every so many stops of the sparse ratio.
        words: the author's own.
    """
    words = words or Words()
    if get_variant(analysis.settings.variant).selector != "sdtps":
        yield from _other_pages(opened, analysis, progress, words)
        return
    for plan in PLANS if plans is None else plans:
        stops = stops_around(analysis.settings, *plan, stride=stride)
        tables = _tables(opened, analysis, stops, progress)
        yield _page(opened, analysis, vars(stops), tables, words)


def _other_pages(opened: OpenSet, analysis: Analysis, progress: Progress | None, words: Words) -> Iterator[str]:
    """The same of another selector, which moves by knobs of its own."""
    rest = vars(stops_around(analysis.settings, (), (), ())) | {"sparse_ratio": (analysis.settings.sparse_ratio,)}
    for plan in positions.PLANS:
        axes = positions.axes_of(analysis, plan)
        tables = {"arrays": {}, "facts": {}, "positions": positions.positions(opened, analysis, axes, progress)}
        yield _page(opened, analysis, rest | axes, tables, words)


def stops_around(
    settings: Settings,
    aggr: Sequence[float],
    beta: Sequence[float],
    tau: Sequence[float],
    stride: int | None = None,
) -> Stops:
    """The stops of a plan, with the analysis' own settings among them."""
    ratios = SLIDERS["sparse_ratio"].stops()[:: stride or RATIO_STRIDE]

    def joined(values: Sequence[float], own: float) -> tuple[float, ...]:
        return tuple(sorted({*values, own}))

    return Stops(
        joined(ratios, settings.sparse_ratio),
        joined(aggr, settings.aggr_ratio),
        joined(beta, settings.beta),
        joined(tau, settings.tau),
    )


def _tables(opened: OpenSet, analysis: Analysis, stops: Stops, progress: Progress | None) -> Payload:
    """Arrays over all stops, and what JSON can hold better."""
    counts = {name: len(values) for name, values in vars(stops).items()}
    arrays = _empty_arrays(analysis, counts)
    facts: Payload = {
        "mix": [None] * counts["beta"],
        "kept": [0] * counts["sparse_ratio"],
        "tokens": [[None] * counts["aggr_ratio"] for _ in stops.sparse_ratio],
        "notes": [[[]] * counts["aggr_ratio"] for _ in stops.sparse_ratio],
        "outlier": OUTLIER_LIMIT,
    }
    for i, trace in enumerate(analysis.traces.values()):
        arrays["norm_z"][i] = norm_scores(trace.token_norm)
    total = counts["beta"] * counts["sparse_ratio"] * max(counts["aggr_ratio"], counts["tau"])
    for done, (place, settings) in enumerate(_walk(analysis.settings, stops)):
        found = opened.analyse(settings)
        moving = payload.moving(found)
        b, r, a = (place[name] for name in ("beta", "sparse_ratio", "aggr_ratio"))
        facts["mix"][b], facts["kept"][r] = moving["mix"], moving["counts"]["kept"]
        facts["tokens"][r][a], facts["notes"][r][a] = moving["counts"]["tokens"], moving["notes"]
        for i, (m, trace) in enumerate(found.traces.items()):
            shown = moving["modalities"][m]
            arrays["rank"][b, i] = trace.rank
            arrays["cut"][b, r, i] = shown["cut"], np.nan if shown["margin"] is None else shown["margin"]
            for name, values in maps_of(trace, m, moving=True).items():
                if values is not None:
                    at = tuple(place[slider] for slider in PANELS[name].sliders)
                    shares = PANELS[name].shares
                    arrays[name][(*at, i)] = np.rint(values * analysis.settings.draws) if shares else values
                    arrays[f"{name}.range"][(*at, i)] = shown["ranges"][name]
                    arrays[f"{name}.flat"][(*at, i)] = shown["flat"][name]
                    arrays[f"{name}.shared"][at] = moving["ranges"][name]
        if progress is not None:
            progress(done + 1, total)
    return {"arrays": arrays, "facts": facts}


def _empty_arrays(analysis: Analysis, counts: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """One array per moving map: an axis for each of its sliders, then modality and patch; and its ranges beside it."""
    last = (len(MODALITIES), analysis.grid.patches)
    arrays: dict[str, NDArray[Any]] = {
        "rank": np.zeros((counts["beta"], *last), np.int32),
        "cut": np.zeros((counts["beta"], counts["sparse_ratio"], len(MODALITIES), 2)),  # the cut and its margin
        "norm_z": np.zeros(last, np.float32),
    }
    for name in panels_of(analysis.settings.variant):
        panel = PANELS[name]
        if panel.values is not None and panel.sliders:
            # Shares of draws as whole numbers of draws: exact, and a quarter of the size.
            kind = _smallest(analysis.settings.draws) if panel.shares else np.float32
            axes = tuple(counts[slider] for slider in panel.sliders)
            arrays[name] = np.zeros((*axes, *last), kind)
            arrays[f"{name}.range"] = np.zeros((*axes, len(MODALITIES), 2))
            arrays[f"{name}.flat"] = np.zeros((*axes, len(MODALITIES), 1), np.uint8)
            arrays[f"{name}.shared"] = np.zeros((*axes, 2))
    return arrays


def _walk(base: Settings, stops: Stops) -> Iterator[tuple[dict[str, int], Settings]]:
    """Every stop that matters: aggregation does not depend on tau nor frequency on aggregation, so they go in step."""
    alphas, taus = stops.aggr_ratio, stops.tau
    for b, beta in enumerate(stops.beta):
        for r, rho in enumerate(stops.sparse_ratio):
            for i in range(max(len(alphas), len(taus))):
                a, t = i % len(alphas), i % len(taus)
                place = {"beta": b, "sparse_ratio": r, "aggr_ratio": a, "tau": t}
                yield place, replace(base, sparse_ratio=rho, beta=beta, aggr_ratio=alphas[a], tau=taus[t])


def _page(
    opened: OpenSet, analysis: Analysis, steps: Mapping[str, tuple[float, ...]], tables: Payload, words: Words
) -> str:
    settings = payload.shown_settings(analysis.settings)
    shared = payload.tables()
    config = shared | {
        "sealed": True,
        "paper": words.as_dict(),
        "texts": payload.page_texts(),
        "models": [payload.model_card(replace(opened.model, weights=analysis.weights), analysis.weights.short_hash)],
        "upload_weights": {"allowed": False, "max_bytes": 0},
        "max_bytes": 0,
        "roots": [],
        "defaults": settings,
        "steps": steps,
        "sliders": [s | {"low": min(steps[s["name"]]), "high": max(steps[s["name"]])} for s in shared["sliders"]],
        "variants": [v for v in shared["variants"] if v["name"] == settings["variant"]],
        "examples": [{"name": EXAMPLE, "title": {"en": "", "zh": ""}, "thumbnail": BLANK_URL}],
    }
    shown = payload.merge(payload.still(analysis, opened.prepared.pixels), payload.moving(analysis))
    data = {
        "config": config,
        "analysis": shown | {"key": EXAMPLE},
        "positions": tables.get("positions"),
        "facts": tables["facts"],
        "arrays": pack_arrays(tables["arrays"]),
    }
    name = html.escape(config["paper"]["title"] or "SDTPS Lens")
    embedded = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # Inside a script, `<!--<script>` would begin a comment that swallows the rest of the page.
    embedded = embedded.replace("<", "\\u003c")
    return (
        f"<!doctype html>\n<html lang='en'>\n<meta charset='utf-8'>\n"
        f"<meta http-equiv='Content-Security-Policy' content=\"{CSP}\">\n"
        f"<meta name='viewport' content='width=device-width, initial-scale=1'>\n<title>{name}</title>\n"
        f"<style>{static.styles()}\n{static.read_static('sealed.css')}</style>\n<body>\n"
        f"<div class='lens-root lens-sealed'></div>\n"
        f"<script id='lens-data' type='application/json'>{embedded}</script>\n"
        f"<script>{static.sealed_script()}</script>\n</body>\n</html>\n"
    )


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> Payload:
    """Shapes, and all bytes in one gzip: first bytes of all numbers, then second ones, which compresses far better."""
    planes = []
    for array in arrays.values():
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        planes.append(little.view(np.uint8).reshape(-1, little.dtype.itemsize).T.tobytes())
    content = gzip.compress(b"".join(planes), 9, mtime=0)
    kinds = {name: [array.dtype.name, list(array.shape)] for name, array in arrays.items()}
    return {"kinds": kinds, "content": base64.b64encode(content).decode()}


def _smallest(largest: int) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.uint32
