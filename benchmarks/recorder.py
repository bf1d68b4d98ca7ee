"""A training step with the recorder in it, against the same step without."""

import tempfile
from collections.abc import Callable
from dataclasses import replace

import torch
import torch.nn.functional as F

from benchmarks.measure import Bar, Findings, Row, compare
from benchmarks.subjects import VIT_B16
from sdtps.models.reid import ReidModel, build_model
from sdtps.runs.recorder import Recorder

BAR = Bar(1.03)
PEOPLE, BATCH = 20, 2  # the smallest batch that has a triplet; a larger one hides the recorder better


def training_step(net: ReidModel, record: Callable[..., None]) -> Callable[[], None]:
    """Forward, backward, record, and Adam's update."""
    images = torch.randn(3, BATCH, 3, *net.backbone.input_size, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(BATCH)
    optimiser = torch.optim.Adam(net.parameters(), 1e-5)

    def step() -> None:
        encoded = net.encode(images)
        traces = net.sdtps(encoded.patches, encoded.global_vectors)
        losses = [F.cross_entropy(p.logits, labels) for p in net.predictions(encoded, traces).values()]
        loss = torch.stack(losses).sum()
        optimiser.zero_grad()
        loss.backward()
        record(loss=loss, ori=losses[0], sdtps=losses[1], acc=0.5)
        optimiser.step()

    return step


def run(quick: bool) -> Findings:
    """The whole of ViT-B/16 trains, so every gradient norm is taken."""
    config = replace(VIT_B16, num_classes=PEOPLE)
    plain, recorded = build_model(config).train(), build_model(config).train()
    with tempfile.TemporaryDirectory() as folder, Recorder(folder, recorded) as recorder:
        ours, bare = training_step(recorded, recorder.step), training_step(plain, lambda **_: None)
        row: Row = compare("training step with recorder / without, ViT-B/16", ours, bare, BAR, 3 if quick else 15)
    return Findings((row,))
