"""The packages of `sdtps` and who imports whom, read from the code; as a picture for docs/architecture.md.

python -m scripts.floor_plan            # writes assets/floor-plan.svg
python -m scripts.floor_plan --check    # fails when the picture is not what the code says
"""

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "sdtps"
PICTURE = ROOT / "assets" / "floor-plan.svg"

# From left to right: a module imports from its own place and from those before it.
LAYERS = (
    "support",
    "variants",
    "types",
    "resources",
    "algorithm",
    "models",
    "checkpoints",
    "images",
    "datasets",
    "pipeline",
    "panels",
    "retrieval",
    "metrics",
    "matters",
    "runs",
    "tokens",
    "web.static",
    "export",
    "training",
    "web.session",
    "web.server",
    "cli",
)
# What stands right of something and must not reach it all the same.
APART = (("web", "training"), ("export", "training"))
# The public face: these hand on what others made.
OUTSIDE = frozenset({PACKAGE, f"{PACKAGE}.__main__", f"{PACKAGE}.web", f"{PACKAGE}.bundle", f"{PACKAGE}.figure"})

WORDS = {
    "support": "sentences, errors, files, caches",
    "variants": "what each name switches",
    "types": "the records that travel",
    "resources": "where shipped files lie",
    "algorithm": "scoring, selection, aggregation",
    "models": "backbones, re-id model",
    "checkpoints": "safe readers, families, report",
    "images": "files to image sets, masks",
    "datasets": "layouts, records, examples",
    "pipeline": "the one door: OpenSet",
    "panels": "the table of panels and sliders",
    "retrieval": "features, store, ranking",
    "metrics": "why, compare, faithfulness",
    "matters": "does the selection matter?",
    "runs": "recorder, readers, diagnosis",
    "tokens": "tokens of any model",
    "web.static": "scripts, styles, texts",
    "export": "figure, bundle, batch, supplement",
    "training": "trainer, losses, generated people",
    "web.session": "backend, registries, tasks",
    "web.server": "Gradio page, API, limits",
    "cli": "one module per command",
}
COLUMNS = (
    ("support", "variants", "types", "resources"),
    ("algorithm", "models", "checkpoints"),
    ("images", "datasets"),
    ("pipeline", "panels"),
    ("retrieval", "metrics", "matters", "runs", "tokens", "web.static"),
    ("export", "training"),
    ("web.session", "web.server", "cli"),
)
BOX, GAP, PITCH, EDGE = (206, 46), 40, 62, 16
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #18212c } .words { font-size: 10px; fill: #55606d }
rect { fill: #f4f6f9; stroke: #8a97a6 } .door rect { fill: #fff4d6; stroke: #c99a2e }
path { fill: none; stroke: #8a97a6 }
@media (prefers-color-scheme: dark) { text { fill: #e6ebf1 } .words { fill: #a5b1bf } rect { fill: #1d2632 }
.door rect { fill: #4a3a12 } }
"""


@cache
def imports() -> tuple[tuple[str, str], ...]:
    """Every pair of importing and imported module inside the package."""
    files = {_module(file): file for file in (ROOT / PACKAGE).rglob("*.py")}
    pairs = []
    for module, file in sorted(files.items()):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                pairs += [(module, name if name in files else node.module) for name in names]
            elif isinstance(node, ast.Import):
                pairs += [(module, a.name) for a in node.names if a.name.split(".")[0] == PACKAGE]
    return tuple((a, b) for a, b in dict.fromkeys(pairs) if a not in OUTSIDE)


def _module(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> int | None:
    """The place of a module: that of the longest name in the plan that it begins with."""
    name = module.removeprefix(f"{PACKAGE}.")
    found = [layer for layer in LAYERS if name == layer or name.startswith(f"{layer}.")]
    return LAYERS.index(max(found, key=len)) if found else None


def violations(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The imports against the plan."""
    return [(a, b) for a, b in pairs if b not in OUTSIDE and not _allowed(a, b)]


def _allowed(importer: str, imported: str) -> bool:
    a, b = layer_of(importer), layer_of(imported)
    if a is None or b is None or b > a:
        return False
    names = tuple(name.removeprefix(f"{PACKAGE}.") for name in (importer, imported))
    return not any(names[0].startswith(x) and names[1].startswith(y) for x, y in APART)


def picture() -> str:
    """The plan as SVG: a column for each step, a line for each pair of places where one imports the other."""
    places = {}
    for x, column in enumerate(COLUMNS):
        for y, name in enumerate(column):
            places[name] = (EDGE + x * (BOX[0] + GAP), EDGE + y * PITCH)
    width = 2 * EDGE + len(COLUMNS) * BOX[0] + (len(COLUMNS) - 1) * GAP
    height = 2 * EDGE + max(map(len, COLUMNS)) * PITCH
    lines = []
    for (a, b), count in sorted(_layer_pairs().items()):
        (x0, y0), (x1, y1) = places[LAYERS[a]], places[LAYERS[b]]
        start, end = (x0, y0 + BOX[1] / 2), (x1 + BOX[0], y1 + BOX[1] / 2)
        if x0 <= x1:  # the same column: around its left side
            bend = x0 - GAP / 3
            path = f"M{x0} {start[1]} C{bend} {start[1]} {bend} {end[1]} {x1} {end[1]}"
        else:
            half = (start[0] + end[0]) / 2
            path = f"M{start[0]} {start[1]} C{half} {start[1]} {half} {end[1]} {end[0]} {end[1]}"
        lines.append(f'<path d="{path}" stroke-width="{min(3.0, 0.5 + count / 12):.2f}" opacity="0.5"/>')
    boxes = []
    for name, (x, y) in places.items():
        kind = ' class="door"' if name == "pipeline" else ""
        boxes.append(
            f'<g{kind}><rect x="{x}" y="{y}" width="{BOX[0]}" height="{BOX[1]}" rx="6"/>'
            f'<text x="{x + 10}" y="{y + 19}">{escape(name)}</text>'
            f'<text class="words" x="{x + 10}" y="{y + 35}">{escape(WORDS[name])}</text></g>'
        )
    title = "The packages of sdtps; a line leads from a package to the nearest ones that it imports"
    body = "\n".join([*lines, *boxes])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n{body}\n</svg>\n"
    )


def _layer_pairs() -> dict[tuple[int, int], int]:
    """How many imports lead from one place to another; what also goes through a third place is left out."""
    found: Counter[tuple[int, int]] = Counter()
    for importer, imported in imports():
        a, b = layer_of(importer), layer_of(imported)
        if a is not None and b is not None and a != b:
            found[a, b] += 1
    between = {(a, b) for a, b in found for c in range(len(LAYERS)) if (a, c) in found and (c, b) in found}
    return {pair: count for pair, count in found.items() if pair not in between}


def main() -> None:
    """Draw, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail when the picture is not what the code says")
    options = parser.parse_args()
    if bad := violations(imports()):
        sys.exit("\n".join(f"{a} imports {b}, which stands to its right." for a, b in bad))
    if options.check:
        if not PICTURE.is_file() or PICTURE.read_text(encoding="utf-8") != picture():
            sys.exit(f"{PICTURE.name} is out of date; run: python -m scripts.floor_plan")
        return
    PICTURE.write_text(picture(), encoding="utf-8")
    print(f"written: {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
