"""The recorder in a plain loop: what it writes, whatever the model, and what is left when it is killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import sdtps
from sdtps.runs.reader import read_maps, read_run
from sdtps.runs.schema import ROUTES
from sdtps.types import MODALITIES
from tests.runs.doubles import KEYS, ReferenceModel, ours


def loop(recorder, model, steps=4, per_epoch=2, forward=None):
    """A plain training loop with the five lines."""
    forward = forward or training_logits
    optimiser = torch.optim.Adam(model.parameters(), 1e-3)
    generator = torch.Generator().manual_seed(1)
    for step in range(steps):
        images = torch.randn(3, 4, 3, 256, 128, generator=generator)
        labels = torch.tensor([0, 1, 2, 3])
        ori, selected = forward(model, images)
        loss_ori, loss_sdtps = F.cross_entropy(ori, labels), F.cross_entropy(selected, labels)
        optimiser.zero_grad()
        (loss_ori + loss_sdtps).backward()
        recorder.step(loss=loss_ori + loss_sdtps, ori=loss_ori, sdtps=loss_sdtps, acc=0.25)
        optimiser.step()
        if (step + 1) % per_epoch == 0:
            recorder.epoch(step // per_epoch, mAP=0.1 * step)


def training_logits(model, images):
    encoded = model.encode(images)
    traces = model.sdtps(encoded.patches, encoded.global_vectors)
    return (p.logits for p in model.predictions(encoded, traces).values())


def reference_logits(model, images):
    return model(dict(zip(KEYS, images, strict=True)))


def test_a_loop_with_five_lines_leaves_a_run_that_says_everything(tmp_path, image_sets):
    model = ours()
    with sdtps.Recorder(tmp_path / "run", model, probe=image_sets) as recorder:
        loop(recorder, model)
    run = read_run(tmp_path / "run")
    assert run.scalar("step").tolist() == [0, 1, 2, 3]
    assert run.scalar("epoch").tolist() == [0, 0, 1, 1]
    assert run.epochs["mAP"] == pytest.approx([0.1, 0.3])
    for route in ROUTES:
        assert (run.scalar(f"grad/{route}") > 0).all(), route
    assert run.probes == ("a", "b")
    assert run.classes == 5
    assert run.settings["variant"] == "final"
    assert run.watched_epochs == (0, 1)
    assert run.about["versions"]["torch"] == torch.__version__


def test_epochs_that_count_from_one_own_their_steps(tmp_path):
    """DeMo's loop begins with epoch 1."""
    with sdtps.Recorder(tmp_path / "run", ours()) as recorder:
        for epoch in (1, 2):
            for loss in (4.0, float("nan") if epoch == 1 else 3.0):
                recorder.step(loss=loss)
            recorder.epoch(epoch, mAP=0.1 * epoch)
        recorder.step(loss=2.0)
    run = read_run(tmp_path / "run")
    assert run.scalar("epoch").tolist() == [1, 1, 2, 2, 3]
    assert run.first_bad["epoch"] == 1


def test_a_loaded_model_is_a_model(tmp_path, image_sets, tiny_model):
    with sdtps.Recorder(tmp_path / "run", tiny_model, probe=image_sets[:1]) as recorder:
        recorder.epoch(0)
    assert read_run(tmp_path / "run").watched_epochs == (0,)


def test_image_sets_are_named_in_several_ways(tmp_path, image_sets):
    apart = tmp_path / "apart"
    for m, folder in zip(MODALITIES, KEYS, strict=True):
        (apart / folder).mkdir(parents=True)
        shutil.copy(image_sets[0] / f"{m}.png", apart / folder / "000001_cam1_0_00.png")
    files = {str(m): image_sets[0] / f"{m}.png" for m in MODALITIES}
    probe = [image_sets[0], apart, files, list(files.values())]
    with sdtps.Recorder(tmp_path / "run", ours(), probe=probe) as recorder:
        recorder.epoch(0)
    first, *others = (read_maps(tmp_path / "run", 0, i)["tir"].raw_self for i in range(4))
    assert all(np.array_equal(first, other) for other in others)


def test_gradient_norms_are_those_of_autograd(tmp_path):
    """By hand: the gradient at the module's own door, not what tokens get from another head."""
    model = ours().train()
    recorder = sdtps.Recorder(tmp_path / "run", model)
    images = torch.randn(3, 4, 3, 256, 128, generator=torch.Generator().manual_seed(1))
    encoded = model.encode(images)
    door = type(encoded)(*({m: t.view_as(t) for m, t in part.items()} for part in encoded))
    traces = model.sdtps(door.patches, door.global_vectors)
    predictions = model.predictions(encoded, traces)
    loss = sum(F.cross_entropy(p.logits, torch.tensor([0, 1, 2, 3])) for p in predictions.values())
    wanted = [*door.patches.values(), *door.global_vectors.values(), *(t.score for t in traces.values())]
    gradients = torch.autograd.grad(loss, wanted, retain_graph=True)
    recorder._tap.read()  # forget this backward pass; the next one counts
    loss.backward()
    recorder.step(loss=loss)
    run = read_run(tmp_path / "run")
    for i, route in enumerate(("patches", "globals", "scores")):
        by_hand = torch.stack([g.norm() for g in gradients[3 * i : 3 * i + 3]]).norm().item()
        assert run.scalar(f"grad/{route}")[0] == pytest.approx(by_hand, rel=1e-3), route
    predictor = [p.grad for n, p in model.named_parameters() if "_sparse" in n]
    assert run.scalar("grad/predictor")[0] == pytest.approx(
        torch.stack([g.norm() for g in predictor]).norm().item(), rel=1e-3
    )


def test_the_reference_module_gives_the_same_maps_as_ours(tmp_path, image_sets):
    """Same weights, another class, another call, another arithmetic: found by its parameter names."""
    first = ours().eval()
    second = ReferenceModel(first).eval()
    for name, model in (("ours", first), ("theirs", second)):
        with sdtps.Recorder(tmp_path / name, model, probe=image_sets, forward=None) as recorder:
            recorder.epoch(0)
    for number in range(2):
        a, b = (read_maps(tmp_path / name, 0, number) for name in ("ours", "theirs"))
        for m in MODALITIES:
            assert np.array_equal(a[m].kept, b[m].kept)
            for field in ("raw_self", "raw_cross", "predictor", "logits", "aggregation"):
                assert getattr(a[m], field) == pytest.approx(getattr(b[m], field), abs=1e-6), field


def test_a_reference_module_without_aggregation_gets_none(tmp_path, image_sets):
    """The first module hands kept patches on; weights that it lacks must not be made up."""
    model = ReferenceModel(ours().eval())
    for m in MODALITIES:
        delattr(model.sdtps, f"{m}_aggr")
    model.sdtps.forward = lambda *tensors: tensors[:3] * 2
    with sdtps.Recorder(tmp_path / "run", model, probe=image_sets[:1]) as recorder:
        recorder.epoch(0)
    watched = read_maps(tmp_path / "run", 0, 0)["rgb"]
    assert read_run(tmp_path / "run").settings["variant"] == "first"
    assert watched.logits is None
    assert np.array_equal(watched.aggregation > 0, watched.kept)


def test_the_reference_module_trains_with_gradients_on_record(tmp_path):
    model = ReferenceModel(ours())
    with sdtps.Recorder(tmp_path / "run", model) as recorder:
        loop(recorder, model, forward=reference_logits)
    run = read_run(tmp_path / "run")
    assert all((run.scalar(f"grad/{route}") > 0).all() for route in ROUTES)
    assert {"grad/head/ori", "grad/head/sdtps"} <= set(run.steps)


def test_recorded_maps_are_those_of_an_analysis(tmp_path, image_sets, tiny_model):
    net = tiny_model.net
    with sdtps.Recorder(tmp_path / "run", net, probe=image_sets) as recorder:
        recorder.epoch(0)
    analysis = sdtps.analyse(tiny_model, *(image_sets[1] / f"{m}.png" for m in MODALITIES))
    watched = read_maps(tmp_path / "run", 0, 1)
    for m in MODALITIES:
        assert np.array_equal(watched[m].kept, analysis[m].mask)
        assert watched[m].raw_self == pytest.approx(analysis[m].raw_self_attention, abs=1e-5)
        assert watched[m].aggregation == pytest.approx(analysis[m].aggregation_total, abs=2e-3)


def test_watching_changes_nothing(tmp_path, image_sets):
    """Weights (but for the last bits), modes and random numbers are the same with and without a recorder."""
    states = []
    for record in (False, True):
        model = ours().train()
        torch.manual_seed(4)
        recorder = sdtps.Recorder(tmp_path / "run", model, probe=image_sets) if record else Silent()
        loop(recorder, model)
        states.append((model.state_dict(), torch.get_rng_state(), model.training))
    for key, value in states[0][0].items():
        torch.testing.assert_close(states[1][0][key], value, rtol=1e-3, atol=1e-4)
    assert torch.equal(states[0][1], states[1][1])
    assert states[0][2] is states[1][2] is True


class Silent:
    def step(self, **_):
        pass

    def epoch(self, *_, **__):
        pass


def test_an_epoch_and_image_set_take_less_than_100_kb(tmp_path, image_sets):
    model = ours()
    sizes = []
    for light in (False, True):
        with sdtps.Recorder(tmp_path / f"run{light}", model, probe=image_sets, light=light) as recorder:
            loop(recorder, model)
        sizes.append(max(f.stat().st_size for f in (tmp_path / f"run{light}" / "maps").iterdir()) / 2)
    assert sizes[1] < 0.3 * sizes[0] < 30_000


def test_many_rows_leave_the_logits_out_rather_than_grow_too_large(tmp_path, image_sets):
    rows = {30: True, 400: False}
    for count, there in rows.items():
        model = ours()
        model.sdtps = sdtps.MultiModalSDTPS(model.sdtps.embed_dim, 128, rows=count)
        with sdtps.Recorder(tmp_path / str(count), model, probe=image_sets[:1]) as recorder:
            recorder.epoch(0)
        assert (tmp_path / str(count) / "maps" / "000000.npz").stat().st_size < 100_000
        assert (read_maps(tmp_path / str(count), 0, 0)["rgb"].logits is not None) is there


def test_the_first_bad_step_is_kept_with_its_batch(tmp_path):
    model = ours()
    recorder = sdtps.Recorder(tmp_path / "run", model)
    loop(recorder, model, steps=2)
    recorder.step(loss=torch.tensor(float("nan")))
    recorder.step(loss=torch.tensor(float("inf")))
    bad = json.loads((tmp_path / "run" / "first_bad.json").read_text())
    assert (bad["step"], bad["why"]) == (2, "loss is nan")
    assert bad["batch"]["batch"] == 4
    assert bad["batch"]["patches/rgb/rms"] > 0


def test_an_explosion_is_kept_though_it_is_finite(tmp_path):
    model = ours()
    recorder = sdtps.Recorder(tmp_path / "run", model)
    for loss in [4.0] * 12 + [30.0, 40.0]:
        recorder.step(loss=loss)
    bad = read_run(tmp_path / "run").first_bad
    assert bad["step"] == 12
    assert "7.5 times the median" in bad["why"]


def test_a_folder_that_holds_a_run_is_not_written_over(tmp_path):
    model = ours()
    sdtps.Recorder(tmp_path / "run", model).close()
    with pytest.raises(ValueError, match="holds a recorded run already"):
        sdtps.Recorder(tmp_path / "run", model)


def test_going_on_logs_no_step_twice(tmp_path, image_sets):
    model = ours()
    with sdtps.Recorder(tmp_path / "run", model, probe=image_sets) as recorder:
        loop(recorder, model, steps=6)
    with (tmp_path / "run" / "steps.jsonl").open("a") as stream:
        stream.write('{"step": 6, "lo')  # killed in the middle of a line
    with sdtps.Recorder(tmp_path / "run", model, probe=image_sets, resume=True, step=4) as recorder:
        recorder.step(loss=1.0)
        recorder.epoch(mAP=0.5)
    run = read_run(tmp_path / "run")
    assert run.scalar("step").tolist() == [0, 1, 2, 3, 4]
    assert run.epochs["epoch"].tolist() == [0, 1, 2]
    assert run.watched_epochs == (0, 1, 2)
    assert not run.notes


def test_a_model_without_the_module_is_refused(tmp_path):
    with pytest.raises(ValueError, match="has no selector"):
        sdtps.Recorder(tmp_path / "run", torch.nn.Linear(2, 2))


def test_a_folder_without_pictures_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="'empty' holds no pictures named rgb, nir and tir"):
        sdtps.Recorder(tmp_path / "run", ours(), probe=[tmp_path / "empty"])


KILLED = """
import sys, torch, sdtps
from tests.runs.doubles import ours
from tests.runs.test_recorder import loop
model = ours()
recorder = sdtps.Recorder(sys.argv[1], model, probe=[sys.argv[2]])
loop(recorder, model, steps=10_000)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_run_that_is_killed_opens(tmp_path, image_sets):
    folder = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", KILLED, str(folder), str(image_sets[0])]) as process:
        steps = folder / "steps.jsonl"
        deadline = time.monotonic() + 240
        while not (steps.exists() and steps.read_bytes().count(b"\n") >= 5):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    run = read_run(folder)
    count = len(run.scalar("loss"))
    assert count >= 5
    assert run.scalar("step").tolist() == list(range(count))
    assert read_maps(folder, run.watched_epochs[-1], 0)["rgb"].kept.sum() == 64


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.999])
def test_a_run_cut_off_anywhere_opens_as_far_as_it_goes(tmp_path, share):
    model = ours()
    with sdtps.Recorder(tmp_path / "run", model) as recorder:
        loop(recorder, model, steps=6)
    for name in ("steps.jsonl", "epochs.jsonl"):
        file = tmp_path / "run" / name
        content = file.read_bytes()
        file.write_bytes(content[: int(share * len(content))])
    run = read_run(tmp_path / "run")
    steps = run.scalar("step")
    assert steps.tolist() == list(range(len(steps)))
    assert "cut off" in " ".join(run.notes)
