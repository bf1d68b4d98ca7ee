"""What the page takes home and brings back: figure, bundle, supplement. Files travel inside answers, never as paths."""

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sdtps import panels
from sdtps.checkpoints.anonymise import is_hidden
from sdtps.export import figure
from sdtps.export.bundle import read_bundle, write_bundle
from sdtps.export.figure.style import DPI, FORMATS, PRESETS, FigureOptions
from sdtps.images.read import Picture, Prepared
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import decide, encode
from sdtps.support.messages import Message
from sdtps.types import Analysis
from sdtps.variants import VARIANTS
from sdtps.web.session.requests import Refusal, malformed, parse_settings
from sdtps.web.session.tasks import ranks
from sdtps.web.session.tasks.weights import report_card

if TYPE_CHECKING:
    from sdtps.web.session.session import Open, Workbench

Payload = dict[str, Any]
MAX_DPI = 1200
TYPES = {
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "png": "image/png",
    "zip": "application/zip",
    "html": "text/html",
}


def file_answer(stem: str, kind: str, content: bytes) -> Payload:
    """A file for the browser to save."""
    return {"name": f"{stem}.{kind}", "type": TYPES[kind], "data": base64.b64encode(content).decode()}


def parse_look(fields: Any) -> FigureOptions:
    """Figure options from the wire."""
    if not isinstance(fields, dict):
        raise malformed()
    columns = fields.get("columns")
    if columns is not None and not (isinstance(columns, list) and all(isinstance(c, str) for c in columns)):
        raise malformed()
    known = {k: fields[k] for k in ("colormap", "scale", "dropped", "language") if isinstance(fields.get(k), str)}
    switches = {k: fields[k] for k in ("captions", "provenance") if isinstance(fields.get(k), bool)}
    opacity, width = fields.get("opacity", FigureOptions.opacity), fields.get("width", FigureOptions.width)
    if not isinstance(opacity, int | float) or not isinstance(width, int | float | str):
        raise malformed()
    try:
        return FigureOptions(
            None if columns is None else tuple(columns), width, opacity=float(opacity), **known, **switches
        )
    except ValueError as error:
        raise Refusal(Message("figure.option", "{reason}", reason=str(error))) from None


def parse_format(fields: Any) -> tuple[str, int]:
    """Format and dpi from the wire."""
    kind, dpi = fields.get("format", "pdf"), fields.get("dpi", DPI)
    if kind not in FORMATS or isinstance(dpi, bool) or not isinstance(dpi, int | float):
        raise malformed()
    return kind, int(min(max(dpi, 30), MAX_DPI))


def analysis_of(opened: "Open", settings: object) -> Analysis:
    """The numbers of an open triplet at some settings."""
    encoding = encode(opened.model, opened.prepared, opened.camera)
    return decide(opened.model, encoding, parse_settings(settings), opened.notes, opened.missing)


def _figure(workbench: "Workbench", fields: Any) -> Payload:
    opened, look = workbench.opened(fields.get("key")), parse_look(fields.get("look", {}))
    kind, dpi = parse_format(fields)
    analysis = analysis_of(opened, fields.get("settings"))
    return _drawn("sdtps-figure", figure.grid_figure(analysis, opened.prepared.pixels, look), kind, dpi)


def _compare(workbench: "Workbench", fields: Any) -> Payload:
    """B, which is on screen, against A, which was pinned."""
    pinned = fields.get("against")
    if not isinstance(pinned, dict):
        raise malformed()
    opened, before = workbench.opened(fields.get("key")), workbench.opened(pinned.get("key"))
    look, (kind, dpi) = parse_look(fields.get("look", {})), parse_format(fields)
    if before.prepared.sha256 != opened.prepared.sha256:
        text = "A and B show different triplets, and the strip has one photograph for both; compare one triplet."
        raise Refusal(Message("figure.triplets", text))
    a, b = analysis_of(before, pinned.get("settings")), analysis_of(opened, fields.get("settings"))
    return _drawn("sdtps-comparison", figure.compare_figure(a, b, opened.prepared.pixels, look), kind, dpi)


def _ranks(workbench: "Workbench", fields: Any) -> Payload:
    """The rank list on screen."""
    look, (kind, dpi) = parse_look(fields.get("look", {})), parse_format(fields)
    found = ranks.listed(workbench, fields)
    items = [figure.RankedItem(p, m.same, m.distance) for p, m in zip(found.pixels, found.ranking.matches, strict=True)]
    query = figure.RankedQuery(found.opened.prepared.pixels, items)
    return _drawn("sdtps-ranks", figure.rank_figure([query], look, len(items)), kind, dpi)


def _drawn(stem: str, sheet: "figure.Sheet", kind: str, dpi: int) -> Payload:
    notes = [panels.as_note(n) for n in sheet.notes]
    size = [round(sheet.width, 3), round(sheet.height, 3)]
    return {"file": file_answer(stem, kind, sheet.render(kind, dpi)), "notes": notes, "inches": size}


def _bundle(workbench: "Workbench", fields: Any) -> Payload:
    opened, look = workbench.opened(fields.get("key")), parse_look(fields.get("look", {}))
    analysis = analysis_of(opened, fields.get("settings"))
    return {"file": file_answer("sdtps-bundle", "zip", write_bundle(analysis, opened.prepared.pixels, look))}


def _supplement(workbench: "Workbench", fields: Any) -> Payload:
    from sdtps.export.supplement import write_supplement

    opened = workbench.opened(fields.get("key"))
    analysis = analysis_of(opened, fields.get("settings"))

    def work(progress: Callable[[int, int], None], _cancelled: Callable[[], bool]) -> Payload:
        page = write_supplement(opened.model, analysis, opened.prepared.pixels, progress)
        return {"file": file_answer("sdtps-supplement", "html", page.encode())}

    return workbench.jobs.start(work)


def open_bundle(workbench: "Workbench", content: object) -> Payload:
    """A bundle's numbers as they were written; sliders move where its weights are loaded here."""
    if not isinstance(content, bytes):
        raise malformed()
    bundle = read_bundle(content)
    analysis = bundle.analysis
    key, card = workbench.adopt(bundle.prepared, analysis)
    notes = list(analysis.notes)
    if key is None:
        text = "These numbers come from a bundle whose weights are not loaded here, so the sliders cannot move them."
        notes.append(Message("bundle.still", text))
    halves = panels.still(analysis, bundle.pixels), panels.moving(analysis)
    shown = panels.merge(*halves) | {"key": key, "notes": [panels.as_note(n) for n in notes]}
    pictures = {m: workbench.keep(Picture(p)) for m, p in bundle.pixels.items() if p is not None}
    return {"analysis": shown, "model": card, "pictures": pictures}


def export_choices() -> Payload:
    """What the export dialog offers."""
    return {"widths": dict(PRESETS), "formats": list(FORMATS), "dpi": DPI}


def matches(analysis: Analysis, prepared: Prepared, model: LoadedModel) -> bool:
    """Whether weights are the ones of an analysis; hidden ones never are, for their names say nothing."""
    same = analysis.weights.sha256 == model.weights.sha256 and analysis.grid == model.net.backbone.grid
    sizes = {p.shape[:2] for p in prepared.pixels.values() if p is not None}
    same = same and sizes == {tuple(model.net.backbone.input_size)}
    return same and not is_hidden(analysis.weights)


def foreign_card(analysis: Analysis, prepared: Prepared) -> Payload:
    """The card of weights that only a bundle knows."""
    lacking = panels.as_note(Message("weights.unknown", "These weights are not loaded; choose others."))
    variant, size = analysis.settings.variant, next(p.shape[:2] for p in prepared.pixels.values() if p is not None)
    return {
        "id": "bundle",
        "grid": {"rows": analysis.grid.rows, "cols": analysis.grid.cols},
        "size": list(size),
        "device": "",
        "variant": variant,
        "lacking": {name: None if name == variant else lacking for name in VARIANTS},
        "weights": panels.weights_card(analysis.weights),
        "report": report_card(analysis.weights),
    }


TASKS = {
    "export.figure": _figure,
    "export.compare": _compare,
    "export.ranks": _ranks,
    "export.bundle": _bundle,
    "export.supplement": _supplement,
}
