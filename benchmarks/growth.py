"""Time and memory against size: patches, sessions, triplets of a folder; with the fitted exponent."""

import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.measure import Detail, Findings, exponent, timed
from benchmarks.processes import peak_megabytes, probe
from benchmarks.subjects import small
from sdtps import Settings, pipeline
from sdtps.datasets import read_rgbnt201
from sdtps.export import payload
from sdtps.export.batch import ResultFolder, Task, items_of, run_local
from sdtps.export.batch.summary import write_summary
from sdtps.images.read import Prepared
from sdtps.pipeline import OpenSet
from sdtps.web.session.backend import PageBackend

SIZES = {128: (256, 128), 196: (224, 224), 512: (512, 256), 1024: (512, 512)}  # patches → height and width
SESSIONS = (1, 3, 10, 50)
FOLDERS = (10, 100, 1000)
MOVES = 10
MODEL = "a ViT of two blocks and 48 channels, random weights, so that the backbone does not hide the rest"
PATCHES_NOTE = (
    "The forward pass and the weights of the aggregation (N_c x K, both shares of N) are quadratic by their equations; "
    "what the page is sent is linear."
)


def noise(size: tuple[int, int], seed: int) -> Prepared:
    """A triplet of noise at a model's size."""
    rng = np.random.default_rng(seed)
    return Prepared({m: rng.integers(0, 256, (*size, 3), dtype=np.uint8) for m in ("rgb", "nir", "tir")})


def best(work: Callable[[], object], repeats: int) -> float:
    """Milliseconds of the quickest of some runs: growth is about the work, not about the machine's other work."""
    work()
    return 1e3 * min(timed(work) for _ in range(repeats))


def patches(repeats: int) -> Detail:
    """First analysis, slider move and payload against the number of patches."""
    first, move, sent = [], [], []
    for size in SIZES.values():
        model = small(size)
        prepared = noise(size, 0)
        opened = OpenSet(model, prepared)

        def analyse(opened: OpenSet = opened) -> None:
            pipeline.forget()
            opened.analyse(Settings())

        def move_slider(opened: OpenSet = opened) -> None:
            opened.analyse(Settings())

        first.append(best(analyse, repeats))
        move.append(best(move_slider, repeats))
        shown = payload.moving(opened.analyse(Settings()))
        sent.append(sum(len(m or "") for part in shown["modalities"].values() for m in part["maps"].values()))
    lines = zip(SIZES, first, move, sent, strict=True)
    rows: list[tuple[str, ...]] = [(str(n), f"{a:.1f}", f"{b:.2f}", f"{c / 1024:.1f}") for n, a, b, c in lines]
    rows.append(("exponent", *(f"{exponent(list(SIZES), values):.2f}" for values in (first, move, sent))))
    columns = ("patches", "first analysis ms", "slider move ms", "sent per move kB")
    return Detail("Patches", columns, tuple(rows), f"With {MODEL}. {PATCHES_NOTE}")


def session_run(count: int) -> dict[str, float]:
    """Sessions that each open a triplet of their own and move a slider, all at the same time, through the backend."""
    model = small()
    bench = PageBackend([model], {})
    before = peak_megabytes()

    def visit(seed: int) -> None:
        key = bench.hold(OpenSet(model, noise((256, 128), seed)), None)
        for step in range(MOVES):
            answer = bench.decide({"key": key, "settings": {"sparse_ratio": 0.2 + 0.05 * step}})
            assert "error" not in answer, answer

    visit(0)
    threads = [threading.Thread(target=visit, args=(seed,)) for seed in range(1, count + 1)]

    def all_at_once() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return {"milliseconds": 1e3 * timed(all_at_once), "megabytes": peak_megabytes() - before}


def write_noise_folder(folder: Path, count: int) -> None:
    """A folder in the RGBNT201 layout with small pictures of noise."""
    rng = np.random.default_rng(0)
    for m in ("RGB", "NI", "TI"):
        (folder / "test" / m).mkdir(parents=True)
        for i in range(count):
            pixels = rng.integers(0, 256, (64, 32, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / "test" / m / f"{i // 2:06d}_cam{i % 2 + 1}_0_{i}.jpg")


def folder_run(count: int) -> dict[str, float]:
    """A whole batch with its summary."""
    model = small()
    task = Task(Settings())
    with tempfile.TemporaryDirectory() as place:
        data = Path(place) / "data"
        write_noise_folder(data, count)
        before = peak_megabytes()

        def batch() -> None:
            items = items_of(read_rgbnt201(data, "test"))
            folder = ResultFolder(Path(place) / "out")
            folder.begin(task, model.weights, model.net.backbone.grid)
            failures = run_local(model, items, task, folder)
            assert not failures, failures
            assert len(items) == count
            write_summary(folder, items, model.net.backbone.grid, {})

        return {"milliseconds": 1e3 * timed(batch), "megabytes": peak_megabytes() - before}


def table(title: str, column: str, found: Mapping[int, Mapping[str, float]], note: str) -> Detail:
    """One line per size, and the exponent of the time."""
    rows = [(f"{size:,}", f"{f['milliseconds']:.0f}", f"{f['megabytes']:.0f}") for size, f in found.items()]
    slope = exponent(list(found), [f["milliseconds"] for f in found.values()])
    return Detail(title, (column, "ms", "MB above the start"), (*rows, ("exponent", f"{slope:.2f}", "")), note)


def run(quick: bool) -> Findings:
    """All three; sessions and folders each in a process of its own, so that peaks do not mix."""
    sessions = {n: probe("benchmarks.growth:session_run", n) for n in (SESSIONS[::2] if quick else SESSIONS)}
    folders = {n: probe("benchmarks.growth:folder_run", n) for n in (FOLDERS[:2] if quick else FOLDERS)}
    note = f"Each opens its own triplet and moves a slider {MOVES} times, in threads of one server. With {MODEL}."
    return Findings(
        details=(
            patches(3 if quick else 15),
            table("Sessions at the same time", "sessions", sessions, note),
            table("Triplets of a folder", "triplets", folders, f"`batch` with its summary. With {MODEL}."),
        ),
        data={"sessions": sessions, "folders": folders},
    )
