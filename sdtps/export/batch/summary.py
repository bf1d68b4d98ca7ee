"""What a batch says as a whole: one table, how often each patch is kept, and a contact sheet."""

import csv
import html
import io
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from statistics import fmean
from typing import Any
from urllib.parse import quote

import numpy as np

from sdtps.export import serialise
from sdtps.export.batch.folder import ResultFolder
from sdtps.export.batch.work import Item, Row
from sdtps.export.rendering import colour_table, colours_of, spread
from sdtps.images.encode import photo_url
from sdtps.types import MODALITIES, FloatArray, Grid

MAP_SIZE = (192, 96)
FORMULA = ("=", "+", "-", "@", "\t", "\r")
STYLE = """
body { font: 14px/1.4 system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; margin: 24px; color: #18212c; }
h1 { font-size: 20px; } h2 { font-size: 15px; margin: 28px 0 8px; }
.facts, figcaption { color: #55606d; } code { font-size: 12px; }
.maps { display: flex; gap: 24px; } figure { margin: 0; } .maps img { display: block; image-rendering: pixelated; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
td, th { padding: 2px 12px 2px 0; text-align: left; }
.sheet { display: grid; grid-template-columns: repeat(auto-fill, minmax(340px, 1fr)); gap: 12px; }
.sheet img { display: block; width: 100%; height: auto; } figcaption { font-size: 12px; overflow-wrap: anywhere; }
.bar, .ends { width: 96px; } .bar { height: 8px; margin-top: 4px; }
.ends { display: flex; justify-content: space-between; font-size: 11px; }
.both { display: flex; flex-wrap: wrap; gap: 0 64px; } th { font-weight: 400; }
.failed { color: #b3261e; }
"""


def write_summary(folder: ResultFolder, items: Sequence[Item], grid: Grid, facts: Mapping[str, Any]) -> list[str]:
    """Write table, maps and contact sheet from the rows; returns plain sentences on what was left out.

    Args:
        folder: a folder whose triplets are all done or failed.
        items: the triplets, in the order of the table.
        grid: rows and columns of the patches.
        facts: what the sheet says about weights and settings.
    """
    rows = [row for row in (folder.row(item) for item in items) if row is not None]
    table = [{k: v for k, v in row.items() if k != "files"} for row in rows]
    folder.write("summary.csv", _csv(table).encode())
    notes = []
    if find_spec("pyarrow"):
        folder.write("summary.parquet", _parquet(table))
    else:
        notes.append("summary.parquet was left out, because pyarrow is not installed; summary.csv holds the same.")
    frequency = _frequency(folder, [row for row in rows if not row["error"]], grid)
    folder.write(
        "frequency.npz", serialise.pack_npz({m: f.reshape(grid.rows, grid.cols) for m, f in frequency.items()})
    )
    folder.write("index.html", _sheet(rows, frequency, grid, facts).encode())
    return notes


def _columns(table: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(key for row in sorted(table, key=len, reverse=True) for key in row))


def _csv(table: Sequence[Row]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, _columns(table), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: _harmless(v) for k, v in row.items()} for row in table)
    return stream.getvalue()


def _harmless(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula gets an apostrophe, which makes it a text again."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _parquet(table: Sequence[Row]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    columns = {name: [row.get(name) for row in table] for name in _columns(table)}
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def _frequency(folder: ResultFolder, rows: Sequence[Row], grid: Grid) -> dict[str, FloatArray]:
    """(N,) share of the triplets that keep each patch, per modality."""
    counts = {str(m): np.zeros(grid.patches, np.int64) for m in MODALITIES}
    for row in rows:
        arrays = serialise.unpack_npz((folder.path / row["files"][0]).read_bytes())
        for m, count in counts.items():
            count += arrays[f"{m}.mask"]
    return {m: (count / max(1, len(rows))).astype(np.float32) for m, count in counts.items()}


def _sheet(rows: Sequence[Row], frequency: Mapping[str, FloatArray], grid: Grid, facts: Mapping[str, Any]) -> str:
    good, bad = [r for r in rows if not r["error"]], [r for r in rows if r["error"]]
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>SDTPS Lens batch</title>",
        f"<style>{STYLE}</style><h1>SDTPS Lens: {len(good)} image sets</h1>",
        f"<p class='facts'>{html.escape(' · '.join(f'{k} {v}' for k, v in facts.items()))}</p>",
        "<div class='both'><div><h2>How often each patch is kept</h2><div class='maps'>",
        *(_map(m, values, grid) for m, values in frequency.items()),
        "</div></div><div><h2>Mean over the image sets</h2><table>",
        *(f"<tr><th>{_title(name)}<td>{value:.3f}" for name, value in _means(good).items()),
        "</table></div></div>",
    ]
    if bad:
        parts += ["<h2>Skipped</h2><ul class='failed'>"]
        parts += [f"<li><code>{html.escape(r['name'])}</code> {html.escape(r['error'])}" for r in bad]
        parts += ["</ul>"]
    parts += ["<h2>Image sets</h2><p class='facts'>Per modality: photograph, score, kept.</p><div class='sheet'>"]
    for row in good:
        source = quote(next(f for f in row["files"] if f.startswith("overlays/")))
        overlap = fmean(v for k, v in row.items() if k.startswith("overlap_") and k != "overlap_by_chance")
        caption = f"{html.escape(row['name'])} · overlap {overlap:.2f}"
        parts.append(f"<figure><img loading='lazy' src='{source}' alt=''><figcaption>{caption}</figcaption></figure>")
    return "\n".join([*parts, "</div></html>\n"])


def _map(name: str, values: FloatArray, grid: Grid) -> str:
    table = colour_table("viridis")
    colours = colours_of(values, (0.0, 1.0), table)
    size = MAP_SIZE if grid.rows >= grid.cols else MAP_SIZE[::-1]
    url = photo_url(spread(colours, grid, (*size, 3)))
    stops = ",".join(f"rgb({','.join(map(str, table[i]))})" for i in range(0, 256, 5))
    bar = f"<div class='bar' style='background:linear-gradient(to right,{stops})'></div>"
    ends = "<div class='ends'><span>0</span><span>1</span></div>"
    return f"<figure><figcaption>{name.upper()}</figcaption><img src='{url}' alt='{name}'>{bar}{ends}</figure>"


def _title(column: str) -> str:
    """A column's name as people say it."""
    kind, _, rest = column.partition("_")
    if rest == "by_chance":
        return "Overlap by chance"
    words = {"overlap": "Overlap of the kept (Jaccard)", "foreground": "Share of the kept on people"}
    return f"{words[kind]}, {rest.upper().replace('_', ' and ')}"


def _means(rows: Sequence[Row]) -> dict[str, float]:
    names = [k for k in _columns(rows) if k.startswith(("overlap_", "foreground_"))]
    return {name: fmean(row[name] for row in rows if name in row) for name in names}
