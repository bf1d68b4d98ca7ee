"""One HTML file that needs no server: the same scripts draw an analysis from numbers that Python put into it.

The sparse ratio moves in the slider's own steps; beta, aggregation and tau in a few. Every number for every stop is
computed here by `pipeline.decide`; the page only looks it up.
"""

import base64
import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps import panels
from sdtps.images.read import Prepared
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import Encoding, decide, encode
from sdtps.types import MODALITIES, Analysis, Settings
from sdtps.web import static as assets
from sdtps.web.server.component import page_config
from sdtps.web.session.requests import RANGES
from sdtps.web.session.session import Workbench

MAX_BYTES = 3_000_000
RATIO_STEP = 0.01  # as the slider's
EXAMPLE = "analysis"
CSP = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
Progress = Callable[[int, int], None]
Payload = dict[str, Any]


@dataclass(frozen=True)
class Stops:
    """The values that each slider can take, the analysis' own among them."""

    sparse_ratio: tuple[float, ...]
    aggr_ratio: tuple[float, ...]
    beta: tuple[float, ...]
    tau: tuple[float, ...]


# From many stops to few: the first that stays below the limit is taken.
PLANS: tuple[tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]], ...] = (
    ((0.2, 0.4, 0.7, 1.0), (0.0, 0.125, 0.25, 0.375, 0.5), (0.1, 0.3, 1.0, 3.0)),
    ((0.2, 0.4, 0.8), (0.0, 0.25, 0.5), (0.1, 0.3, 1.0)),
    ((0.4,), (0.0, 0.25, 0.5), (1.0,)),
    ((), (), ()),
)


def write_supplement(
    model: LoadedModel, analysis: Analysis, pixels: Mapping[str, panels.Pixels | None], progress: Progress | None = None
) -> str:
    """The page as text, below 3 MB.

    Args:
        model: the weights of the analysis.
        analysis: the numbers to start with; its report on the weights is what the page shows.
        pixels: (H, W, 3) per modality as the model saw them; None for a missing one.
        progress: called with (done, total).
    """
    encoding = encode(model, Prepared(pixels))
    for plan in PLANS:
        stops = stops_around(analysis.settings, *plan)
        page = _page(model, analysis, pixels, stops, _tables(model, encoding, analysis, stops, progress))
        if len(page.encode()) < MAX_BYTES:
            return page
    raise ValueError("The photographs alone are too large for a supplement; use a model with smaller inputs.")


def stops_around(settings: Settings, aggr: Sequence[float], beta: Sequence[float], tau: Sequence[float]) -> Stops:
    """The stops of a plan, with the analysis' own settings among them."""
    low, high = RANGES["sparse_ratio"]
    ratios = {round(low + i * RATIO_STEP, 4) for i in range(round((high - low) / RATIO_STEP) + 1)}

    def joined(values: Sequence[float], own: float) -> tuple[float, ...]:
        return tuple(sorted({*values, own}))

    return Stops(
        joined(tuple(ratios), settings.sparse_ratio),
        joined(aggr, settings.aggr_ratio),
        joined(beta, settings.beta),
        joined(tau, settings.tau),
    )


def _tables(
    model: LoadedModel, encoding: Encoding, analysis: Analysis, stops: Stops, progress: Progress | None
) -> Payload:
    """Arrays over all stops, and what JSON can hold better."""
    rhos, alphas, betas, taus = stops.sparse_ratio, stops.aggr_ratio, stops.beta, stops.tau
    m, n = len(MODALITIES), analysis.grid.patches
    arrays: dict[str, NDArray[Any]] = {
        "score": np.zeros((len(betas), m, n), np.float32),
        "rank": np.zeros((len(betas), m, n), np.int32),
        "soft": np.zeros((len(betas), len(taus), m, n), np.float32),
        # Shares of draws, as whole numbers of draws: exact, and a quarter of the size.
        "frequency": np.zeros((len(betas), len(taus), len(rhos), m, n), _smallest(analysis.settings.draws)),
        "aggregation": np.zeros((len(betas), len(alphas), len(rhos), m, n), np.float32),
    }
    blended = analysis[MODALITIES[0]].aggregation_total is not None
    facts: Payload = {
        "mix": [None] * len(betas),
        "scores": [None] * len(betas),
        "tokens": [[None] * len(alphas) for _ in rhos],
        "notes": [[[]] * len(alphas) for _ in rhos],
        "draws": analysis.settings.draws,
        "blended": blended,
    }
    missing = frozenset(name for name, trace in analysis.traces.items() if trace.missing)
    clamped = [note for note in analysis.notes if getattr(note, "code", None) != "aggregation.clamped"]
    total = len(betas) * len(rhos) * max(len(alphas), len(taus))
    for done, (b, r, a, t, settings) in enumerate(_walk(analysis.settings, stops)):
        found = decide(model, encoding, settings, tuple(clamped), missing)
        moving = panels.moving(found)
        facts["mix"][b], facts["scores"][b] = moving["mix"], moving["ranges"]["score"]
        facts["tokens"][r][a], facts["notes"][r][a] = moving["counts"]["tokens"], moving["notes"]
        for i, trace in enumerate(found.traces.values()):
            arrays["score"][b, i], arrays["rank"][b, i] = trace.score, trace.rank
            arrays["soft"][b, t, i] = trace.soft_mask
            arrays["frequency"][b, t, r, i] = np.rint(trace.selection_frequency * analysis.settings.draws)
            if trace.aggregation_total is not None:
                arrays["aggregation"][b, a, r, i] = trace.aggregation_total
        if progress is not None:
            progress(done + 1, total)
    return {"arrays": arrays, "facts": facts}


def _walk(base: Settings, stops: Stops) -> Iterator[tuple[int, int, int, int, Settings]]:
    """Every stop that matters: aggregation does not depend on tau nor frequency on aggregation, so they go in step."""
    alphas, taus = stops.aggr_ratio, stops.tau
    for b, beta in enumerate(stops.beta):
        for r, rho in enumerate(stops.sparse_ratio):
            for i in range(max(len(alphas), len(taus))):
                a, t = i % len(alphas), i % len(taus)
                yield b, r, a, t, replace(base, sparse_ratio=rho, beta=beta, aggr_ratio=alphas[a], tau=taus[t])


def _page(
    model: LoadedModel,
    analysis: Analysis,
    pixels: Mapping[str, panels.Pixels | None],
    stops: Stops,
    tables: Payload,
) -> str:
    shown = Workbench([replace(model, weights=analysis.weights)], {})
    settings = panels.shown_settings(analysis.settings)
    config = page_config(shown) | {
        "sealed": True,
        "defaults": settings,
        "steps": vars(stops),
        "ranges": {name: [min(values), max(values)] for name, values in vars(stops).items()},
        "variants": [v for v in panels.variant_cards() if v["name"] == settings["variant"]],
        "examples": [{"name": EXAMPLE, "title": {"en": "", "zh": ""}, "thumbnail": panels.BLANK_URL}],
    }
    data = {
        "config": config,
        "analysis": panels.merge(panels.still(analysis, pixels), panels.moving(analysis)) | {"key": EXAMPLE},
        "facts": tables["facts"],
        "arrays": pack_arrays(tables["arrays"]),
    }
    embedded = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return (
        f"<!doctype html>\n<html lang='en'>\n<meta charset='utf-8'>\n"
        f"<meta http-equiv='Content-Security-Policy' content=\"{CSP}\">\n"
        f"<meta name='viewport' content='width=device-width, initial-scale=1'>\n<title>SDTPS Lens</title>\n"
        f"<style>{assets.styles()}\n{assets.read_static('sealed.css')}</style>\n<body>\n"
        f"<div class='lens-root lens-sealed'></div>\n"
        f"<script id='lens-data' type='application/json'>{embedded}</script>\n"
        f"<script>{assets.sealed_script()}</script>\n</body>\n</html>\n"
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
