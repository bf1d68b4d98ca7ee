"""`Recorder`: a training on record in five lines, in anybody's loop.

recorder = sdtps.Recorder("runs/mine", model, probe=["a/", "b/"])
loss.backward(); recorder.step(loss=loss, ori=loss_ori, sdtps=loss_sdtps, acc=acc)   # before optimiser.step()
recorder.epoch(epoch, mAP=..., rank1=...)
"""

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sdtps.models.reid import LoadedModel
from sdtps.runs.probe import Source, default_forward, pack, read_probe, settings_of, watch, write_pictures
from sdtps.runs.schema import ABOUT, EPOCHS, FIRST_BAD, GRADIENT, MAPS, SCHEMA, STEPS
from sdtps.runs.taps import Tap
from sdtps.support.errors import LensError
from sdtps.support.files import whole_file, write_whole
from sdtps.types import Settings

WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
DIGITS, GRADIENT_DIGITS = 9, 5  # significant digits: of numbers that are compared to the bit, and of the others
LAG = 10  # steps that wait on another device than the CPU before they are written, so that nothing is held up
REMEMBERED = 50  # steps whose median says what is usual
ENOUGH = 10
LOSS_EXPLODES, GRADIENT_EXPLODES = 5.0, 1e4  # times the median
HALF = (0.5, 0.5, 0.5)


class Recorder:
    """Writes down a training: scalars, gradient norms by route, and maps of a few watched image sets.

    Args:
        folder: where to; a folder that holds a run already is refused unless `resume`.
        model: any model with a selector (SDTPS, soft SDTPS, SIM), ours, loaded or not, or the reference's.
        probe: image sets to watch: folders with rgb, nir and tir pictures, triplets, or three pictures each.
        settings: ratios, beta, tau and variant of the selection; read from the module by default.
        about: whatever else was set (learning rate, seed, a configuration); runs are compared by it.
        classes: identities that the heads tell apart; read from the classifier by default.
        forward: takes (M, B, 3, H, W) pictures; by default our model's call, or DeMo's.
        size, mean, std: of those pictures; those of our model, else 256x128 and 0.5.
        light: keep maps in half precision and no aggregation logits: about 4 kB per epoch and image set instead of 25,
            and the replay's aggregation stays at the recorded ratios.
        resume: go on with a run; from `step` on, what was written before is dropped.
        step: number of the next step.
    """

    def __init__(  # noqa: PLR0913 - each stands for itself
        self,
        folder: str | os.PathLike[str],
        model: nn.Module | LoadedModel,
        probe: Iterable[Source] = (),
        *,
        settings: Settings | None = None,
        about: Mapping[str, Any] | None = None,
        classes: int | None = None,
        forward: Callable[[Tensor], Any] | None = None,
        size: tuple[int, int] | None = None,
        mean: tuple[float, float, float] | None = None,
        std: tuple[float, float, float] | None = None,
        light: bool = False,
        resume: bool = False,
        step: int | None = None,
    ) -> None:
        self.folder = Path(folder)
        model = model.net if isinstance(model, LoadedModel) else model
        self._model, self._tap = model, Tap(model)
        self.settings = settings or settings_of(self._tap.module)
        backbone = getattr(model, "backbone", None)
        self._size: tuple[int, int] = size or getattr(backbone, "input_size", None) or (256, 128)
        self._run = forward or default_forward(model)
        self._light = light
        self._probes = [read_probe(p, self._size) for p in probe]
        mean, std = (given or getattr(backbone, key, HALF) for given, key in ((mean, "mean"), (std, "std")))
        self._images = None
        if self._probes:
            self._images = torch.stack([p.prepared.tensor(mean, std) for p in self._probes], dim=1)
        self._waiting: list[dict[str, Any]] = []
        self._recent: dict[str, list[float]] = {"loss": [], "gradient": []}
        self._step, self._epoch = 0, 0
        self._begin(resume, step)
        self._describe(dict(about or {}), classes)
        self._started = time.monotonic()
        self._steps = (self.folder / STEPS).open("a", encoding="utf-8")

    def _begin(self, resume: bool, step: int | None) -> None:
        there = (self.folder / ABOUT).exists()
        if there and not resume:
            text = "{folder!r} holds a recorded run already; choose another folder, or pass resume=True."
            raise LensError("recorder.taken", text, folder=self.folder.name)
        (self.folder / MAPS).mkdir(parents=True, exist_ok=True)
        if there:
            self._go_on(step)

    def _go_on(self, step: int | None) -> None:
        """Drop half lines, and everything from the step on that will be done again."""
        steps = [row for row in read_lines(self.folder / STEPS) if step is None or row["step"] < step]
        self._step = (steps[-1]["step"] + 1 if steps else 0) if step is None else step
        epochs = [row for row in read_lines(self.folder / EPOCHS) if row["step"] <= self._step]
        self._epoch = int(epochs[-1]["epoch"]) + 1 if epochs else 0
        for name, rows in ((STEPS, steps), (EPOCHS, epochs)):
            write_whole(self.folder / name, "".join(_line(row) for row in rows).encode())
        for file in (self.folder / MAPS).glob("*.npz"):
            if int(file.stem) >= self._epoch:
                file.unlink()
        bad = self.folder / FIRST_BAD
        if bad.exists() and json.loads(bad.read_text(encoding="utf-8"))["step"] >= self._step:
            bad.unlink()

    def _describe(self, about: dict[str, Any], classes: int | None) -> None:
        import sdtps

        if classes is None:
            heads = [p for n, p in self._model.named_parameters() if "classifier" in n and n.endswith("weight")]
            classes = len(heads[0]) if heads else None
        patch = 16
        grid = getattr(getattr(self._model, "backbone", None), "grid", None)
        rows, cols = grid if grid is not None else (self._size[0] // patch, self._size[1] // patch)
        described = {
            "schema": SCHEMA,
            "versions": {"sdtps": sdtps.__version__, "torch": torch.__version__, "python": sys.version.split()[0]},
            "settings": {**self.settings.as_dict(), **about},
            "classes": classes,
            "grid": [rows, cols],
            "size": list(self._size),
            "probes": [{"name": p.name} for p in self._probes],
            "light": self._light,
        }
        write_whole(self.folder / ABOUT, json.dumps(described, indent=1, default=str).encode())
        write_pictures(self._probes, self.folder)

    def step(self, *, scale: float = 1.0, **scalars: Tensor | float | None) -> None:
        """Record a step; call it between `loss.backward()` and `optimiser.step()`.

        Args:
            scale: by which the loss was multiplied, where a GradScaler is used and nothing was unscaled yet.
            scalars: `loss`, and whatever else belongs to the step, such as losses and accuracies by head.
        """
        row: dict[str, Any] = {"step": self._step, "epoch": self._epoch}
        row |= {k: v.detach() if isinstance(v, Tensor) else v for k, v in scalars.items() if v is not None}
        row |= self._tap.read(scale)
        row["seconds"] = round(time.monotonic() - self._started, 2)
        self._waiting.append({"row": row, "facts": self._tap.facts()})
        self._step += 1
        slow = any(isinstance(v, Tensor) and v.device.type != "cpu" for v in row.values())
        if len(self._waiting) >= (LAG if slow else 1):
            self._flush()

    def epoch(self, epoch: int | None = None, **scalars: float | None) -> None:
        """Record the end of an epoch: its scores, and what the selection does now on the watched image sets."""
        self._flush()
        number = self._epoch if epoch is None else int(epoch)
        if self._images is not None:
            device = next(self._model.parameters()).device
            found = watch(self._model, self._tap, self._run, self._images.to(device), self.settings)
            with whole_file(self.folder / MAPS / f"{number:06d}.npz") as partial, partial.open("wb") as stream:
                np.savez_compressed(stream, **pack(found, self._light))  # type: ignore[arg-type]
        row = {"epoch": number, "step": self._step, **{k: v for k, v in scalars.items() if v is not None}}
        with (self.folder / EPOCHS).open("a", encoding="utf-8") as stream:
            stream.write(_line(_plain(row)))
        self._epoch = number + 1

    def close(self) -> None:
        """Write what waits and stop listening; the folder can be read at any time before, too."""
        self._flush()
        self._steps.close()
        self._tap.remove()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _flush(self) -> None:
        for item in self._waiting:
            row = _plain(item["row"])
            self._steps.write(_line(row))
            self._look_for_trouble(row, item["facts"])
        self._waiting = []
        self._steps.flush()

    def _look_for_trouble(self, row: dict[str, Any], facts: Mapping[str, Tensor]) -> None:
        """Keep the first step that is not finite, or many times what is usual, with its batch's statistics."""
        gradients = [v for k, v in row.items() if k.startswith(GRADIENT)]
        numbers = {"loss": row.get("loss"), "gradient": math.hypot(*gradients) if gradients else None}
        why = next((f"{k} is {v}" for k, v in row.items() if isinstance(v, float) and not math.isfinite(v)), None)
        for kind, limit in (("loss", LOSS_EXPLODES), ("gradient", GRADIENT_EXPLODES)):
            value, recent = numbers[kind], self._recent[kind]
            if value is None or not math.isfinite(value):
                continue
            if why is None and len(recent) >= ENOUGH and value > limit * median(recent) > 0:
                why = f"{kind} {value:.4g} is {value / median(recent):.3g} times the median of the steps before"
            recent.append(value)
            del recent[:-REMEMBERED]
        target = self.folder / FIRST_BAD
        if why is not None and not target.exists():
            found = {"step": row["step"], "epoch": row["epoch"], "why": why, "scalars": row, "batch": _plain(facts)}
            write_whole(target, json.dumps(_spelled(found), indent=1).encode())


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The whole lines of a file of JSON lines; a last line that was cut off is left out."""
    rows = []
    if path.exists():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                rows.append({k: WORDS.get(v, v) if isinstance(v, str) else v for k, v in row.items()})
    return rows


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {k: _number(v, GRADIENT_DIGITS if "/" in k else DIGITS) for k, v in values.items()}


def _number(value: Any, digits: int) -> Any:
    if isinstance(value, Tensor):
        value = float(value)
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(_spelled(row), separators=(",", ":")) + "\n"


def _spelled(value: Any) -> Any:
    """The same with words for numbers that JSON has none for."""
    if isinstance(value, Mapping):
        return {k: _spelled(v) for k, v in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
