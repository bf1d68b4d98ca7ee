"""Many at once: sessions that drag sliders while others upload, against one user alone.

Every answer is compared with `sdtps.analyse()` of the same pictures and settings in this process, so that an answer
that was lost, late or meant for somebody else is found. A session sends its next move when the last one was answered,
as the page does; with so many of them the processor is shared, and the ratio says how fairly.
"""

import base64
import io
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import sdtps
from benchmarks.measure import Detail, Findings, percentile_ratio, quantile
from sdtps.datasets.examples import find_examples
from sdtps.export import payload
from sdtps.models.reid import LoadedModel
from sdtps.resources import EXAMPLES
from sdtps.types import MODALITIES
from sdtps.web.session.requests import SettingsFields
from tests.harness import serving_app
from tests.visitor import Refused, Visitor

BUSY = "server.busy"
COLUMNS = ("what", "count", "p50 ms", "p95 ms", "slowest ms")
STOPS = tuple({"sparse_ratio": 0.2 + 0.05 * i, "beta": 0.05 * (i % 8), "tau": 0.5 + 0.1 * i} for i in range(12))
Expected = dict[str, dict[str, Any]]


@dataclass
class Result:
    """What happened; times in seconds.

    Attributes:
        alone: slider moves of one user.
        crowd: slider moves of each of many.
        uploads: from the first byte of a triplet to its analysis.
        health: health checks meanwhile.
        wrong: answers that were not those of `analyse()`.
        busy: requests that were turned away in so many words.
    """

    sessions: int
    uploaders: int
    alone: list[float] = field(default_factory=list)
    crowd: list[float] = field(default_factory=list)
    uploads: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    busy: int = 0

    def findings(self) -> Findings:
        """The ratios, and what else went on."""
        name = f"slider move, {self.sessions} sessions and {self.uploaders} uploading / one user"
        crowd, alone = ([1e3 * t for t in times] for times in (self.crowd, self.alone))
        lines = {
            "slider move, one user": self.alone,
            f"slider move, {self.sessions} sessions": self.crowd,
            "upload of a triplet to its analysis, meanwhile": self.uploads,
            "health check, meanwhile": self.health,
        }
        return Findings(
            tuple(percentile_ratio(name, crowd, alone, p) for p in (50, 95)),
            (Detail("Many at once", COLUMNS, tuple(_line(*line) for line in lines.items()), self.verdict),),
            data={name: times for name, times in vars(self).items() if isinstance(times, list)},
        )

    @property
    def verdict(self) -> str:
        """Whether every answer was right, and how many were turned away."""
        return (
            f"Wrong or lost answers: {len(self.wrong)} of {len(self.crowd) + len(self.uploads)}, each compared with "
            f"`sdtps.analyse()`. Turned away as busy: {self.busy}."
        )


def _line(name: str, times: Sequence[float]) -> tuple[str, ...]:
    p50, p95 = (f"{1e3 * quantile(times, p):.0f}" for p in (50, 95))
    return name, str(len(times)), p50, p95, f"{1e3 * max(times):.0f}"


def analysed(model: LoadedModel, pictures: Sequence[Path | bytes], settings: dict[str, float]) -> sdtps.Analysis:
    """The truth: the same pictures and settings in this process."""
    rgb, nir, tir = pictures
    return sdtps.analyse(model, rgb, nir, tir, SettingsFields.parse(settings).over(model.settings))


def expected(analysis: sdtps.Analysis) -> Expected:
    """What the page must be told about an analysis, by modality."""
    return {m: payload.moving(analysis)["modalities"][m] for m in analysis.traces}


def differs(answer: dict[str, Any], wanted: Expected) -> str | None:
    """What is wrong with an answer, if anything."""
    if "error" in answer:
        return str(answer["error"].get("text"))
    for m, values in wanted.items():
        found = answer["modalities"][m]
        scores, right = (np.frombuffer(base64.b64decode(v["maps"]["score"]), "<f4") for v in (found, values))
        if scores.shape != right.shape or np.abs(scores - right).max() > 1e-4:
            return f"{m} has the scores of another triplet or setting"
    return None


def noisy_triplet(files: Sequence[Path], seed: int) -> list[bytes]:
    """PNGs of a triplet that nobody else has."""
    rng = np.random.default_rng(seed)
    contents = []
    for file in files:
        pixels = np.asarray(Image.open(file).convert("RGB"), np.float32)
        stream = io.BytesIO()
        Image.fromarray(np.clip(pixels + rng.normal(0, 25, pixels.shape), 0, 255).astype(np.uint8)).save(stream, "PNG")
        contents.append(stream.getvalue())
    return contents


class Load:
    """A crowd at a server.

    Args:
        url: the page.
        model: its weights, in this process.
        examples: its examples.
    """

    def __init__(self, url: str, model: LoadedModel, examples: Path) -> None:
        self.url, self.model = url, model
        self.first = Visitor(url)
        names = list(find_examples(examples))
        self.files = {name: [examples / name / f"{m}.png" for m in MODALITIES] for name in names}
        self.wanted = {
            (name, i): expected(analysed(model, files, stop))
            for name, files in self.files.items()
            for i, stop in enumerate(STOPS)
        }

    def drag(self, result: Result, times: list[float], number: int, moves: int) -> None:
        """One session: open an example, then move sliders."""
        name = list(self.files)[number % len(self.files)]
        with Visitor(self.url, self.first) as visitor:
            key = self._patient(result, lambda: visitor.analyse({m: {"example": name} for m in MODALITIES}))["key"]
            for i in range(moves):
                stop = (i * 5 + number) % len(STOPS)
                start = time.perf_counter()
                answer = self._patient(result, lambda stop=stop: visitor.decide(key, STOPS[stop]))  # type: ignore[misc]
                times.append(time.perf_counter() - start)
                self._judge(result, answer, self.wanted[name, stop])

    def upload(self, result: Result, number: int, triplets: int) -> None:
        """One session: send triplets that nobody else has."""
        with Visitor(self.url, self.first) as visitor:
            for i in range(triplets):
                name = list(self.files)[(number + i) % len(self.files)]
                contents = noisy_triplet(self.files[name], 1000 * number + i)
                wanted = expected(analysed(self.model, contents, {}))
                start = time.perf_counter()
                pictures = {}
                for m, content in zip(map(str, MODALITIES), contents, strict=True):
                    staged = self._patient(result, lambda m=m, c=content: visitor.stage(m, c))  # type: ignore[misc]
                    pictures[m] = {"token": staged["pictures"][m]["token"]}
                answer = self._patient(result, lambda p=pictures: visitor.analyse(p))  # type: ignore[misc]
                result.uploads.append(time.perf_counter() - start)
                self._judge(result, answer, wanted)

    def crowd(self, sessions: int, uploaders: int, moves: int, triplets: int) -> Result:
        """One user first, then all of them together."""
        result = Result(sessions, uploaders)
        self.drag(result, result.alone, 0, max(20, moves))
        over = threading.Event()
        jobs: list[Callable[[], None]] = [
            *(lambda n=n: self.drag(result, result.crowd, n, moves) for n in range(sessions)),  # type: ignore[misc]
            *(lambda n=n: self.upload(result, n, triplets) for n in range(uploaders)),  # type: ignore[misc]
        ]
        threads = [threading.Thread(target=self._guarded, args=(result, job)) for job in jobs]
        watch = threading.Thread(target=self._watch, args=(result, over))
        for thread in (watch, *threads):
            thread.start()
        for thread in threads:
            thread.join()
        over.set()
        watch.join()
        return result

    @staticmethod
    def _patient(result: Result, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Ask again when the server is busy, as its sentence says."""
        while True:
            try:
                return ask()
            except Refused as refused:
                if refused.code != BUSY:
                    raise
                result.busy += 1
                time.sleep(1)

    @staticmethod
    def _judge(result: Result, answer: dict[str, Any], wanted: Expected) -> None:
        if why := differs(answer, wanted):
            result.wrong.append(why)

    @staticmethod
    def _guarded(result: Result, job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:  # a session that was lost counts, and the others go on
            result.wrong.append(f"{type(error).__name__}: {error}")

    def _watch(self, result: Result, over: threading.Event) -> None:
        while not over.wait(0.2):
            start = time.perf_counter()
            self.first.http.get("/health").raise_for_status()
            result.health.append(time.perf_counter() - start)


def run(quick: bool) -> Findings:
    """Twenty sessions drag while five upload, on the embedded model."""
    model = sdtps.load_model(device="cpu")
    with serving_app("--device", "cpu") as url:
        crowd = Load(url, model, EXAMPLES).crowd(20, 5, moves=10 if quick else 50, triplets=2 if quick else 8)
    for why in crowd.wrong[:5]:
        print(f"wrong: {why}")
    return crowd.findings()
