"""The lab's figure: the loss of every experiment by epoch, with the spread over its seeds. Plain SVG."""

import math
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from sdtps.runs.schema import Run
from sdtps.training.lab.experiments import Experiment
from sdtps.training.lab.table import losses_of

CELL, PLOT, EDGE, COLUMNS = (188, 150), (150, 84), 12, 5
STYLE = """
text { font: 11px system-ui, sans-serif; fill: #18212c } .small { font-size: 9px; fill: #55606d }
.axis { stroke: #8a97a6; fill: none } .calm { stroke: #1f6fb4; fill: #1f6fb4 } .wild { stroke: #c2410c; fill: #c2410c }
.line { fill: none; stroke-width: 1.8 } .band { stroke: none; opacity: 0.22 } .grey { stroke: #b4bdc8; fill: none }
@media (prefers-color-scheme: dark) { text { fill: #e6ebf1 } .small { fill: #a5b1bf } }
"""


def figure_of(experiments: Sequence[Experiment], runs: Mapping[str, Sequence[Run]]) -> str:
    """Small plots on one scale; grey is `final`, for comparison."""
    losses = {e.name: [losses_of(run) for run in runs[e.name]] for e in experiments if runs.get(e.name)}
    everything = [v for lists in losses.values() for values in lists for v in values if math.isfinite(v)]
    top, bottom = math.ceil(max(everything)), math.floor(min(everything))
    epochs = max(len(values) for lists in losses.values() for values in lists)
    rows = math.ceil(len(losses) / COLUMNS)
    width, height = 2 * EDGE + COLUMNS * CELL[0], 2 * EDGE + rows * CELL[1]
    parts = []
    for i, e in enumerate(e for e in experiments if e.name in losses):
        x, y = EDGE + i % COLUMNS * CELL[0] + 28, EDGE + i // COLUMNS * CELL[1] + 34
        parts.append(f'<g transform="translate({x} {y})">')
        parts.append(f'<text x="-20" y="-18">{escape(e.name)}</text>')
        parts.append(f'<text x="-20" y="-6" class="small">{escape(e.words)}</text>')
        parts.append(f'<path class="axis" d="M0 0V{PLOT[1]}H{PLOT[0]}"/>')
        parts.append(f'<text x="-4" y="8" text-anchor="end" class="small">{top}</text>')
        parts.append(f'<text x="-4" y="{PLOT[1]}" text-anchor="end" class="small">{bottom}</text>')
        parts.append(
            f'<text x="{PLOT[0]}" y="{PLOT[1] + 12}" text-anchor="end" class="small">epoch {epochs - 1}</text>'
        )
        if "final" in losses and e.name != "final":
            parts.append(f'<path class="grey" d="{_line(_means(losses["final"]), top, bottom, epochs)}"/>')
        parts += _curve(losses[e.name], "calm" if e.healthy else "wild", top, bottom, epochs)
        parts.append("</g>")
    title = "Loss of both heads by epoch, mean and range over the seeds; grey: final"
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n{body}\n</svg>\n"
    )


def _curve(lists: Sequence[Sequence[float]], kind: str, top: float, bottom: float, epochs: int) -> list[str]:
    length = min(len(values) for values in lists)
    stack = np.array([values[:length] for values in lists])
    whole = np.isfinite(stack).all(0)
    stack = stack[:, : int(np.argmin(whole)) if not whole.all() else length]
    if not stack.shape[1]:
        return [f'<text x="6" y="{PLOT[1] / 2}" class="small">not a number in the first epoch</text>']
    upper = _line(list(stack.max(0)), top, bottom, epochs)
    lower = _line(list(stack.min(0))[::-1], top, bottom, epochs, start=stack.shape[1] - 1, step=-1)
    middle = _line(list(stack.mean(0)), top, bottom, epochs)
    return [
        f'<path class="band {kind}" d="{upper} L{lower[1:]} Z"/>',
        f'<path class="line {kind}" d="{middle}" style="fill:none"/>',
    ]


def _means(lists: Sequence[Sequence[float]]) -> list[float]:
    return [float(np.mean(column)) for column in zip(*lists, strict=False)]


def _line(values: Sequence[float], top: float, bottom: float, epochs: int, start: int = 0, step: int = 1) -> str:
    points = []
    for i, value in enumerate(values):
        x = (start + step * i) / max(1, epochs - 1) * PLOT[0]
        points.append(f"{x:.1f} {(top - value) / (top - bottom) * PLOT[1]:.1f}")
    return "M" + " L".join(points)
