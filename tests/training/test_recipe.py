"""Everything that a recipe can say, each on a tiny model: what it says is what happens."""

import json
from dataclasses import replace

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import sdtps
from sdtps.models.reid import build_model
from sdtps.resources import EMBEDDED
from sdtps.runs.reader import read_run, read_tensorboard
from sdtps.runs.tensorboard import read_events
from sdtps.training.initial import new_model
from sdtps.training.optimise import backbone_layers, freeze, parameter_groups, rate_at
from sdtps.training.recipe import Optimiser, Phase, Recipe, Selection, Validation
from sdtps.training.trainer import DivergedError, Trainer, train
from tests.checkpoints.checkpoint_files import clip_shapes, demo_shapes, random_state, saved
from tests.training.small import CLIP, folder_recipe


def trainer_of(pictures, tmp_path, **changes) -> Trainer:
    return Trainer(folder_recipe(pictures, tmp_path / "run", **changes), "cpu", quiet=True)


def moved(trainer: Trainer) -> set[str]:
    """Names of the parameters that a run changes."""
    before = {n: p.detach().clone() for n, p in trainer.net.named_parameters()}
    trainer.run()
    return {n for n, p in trainer.net.named_parameters() if not torch.equal(p, before[n])}


def test_the_whole_backbone_trains_when_the_recipe_says_so(pictures, tmp_path):
    """Embeddings, norms and projection used to stay frozen."""
    trainer = trainer_of(pictures, tmp_path)
    names = {n for n, _ in trainer.net.named_parameters()}
    trained = moved(trainer)
    untouched = names - trained
    # A bias in front of the softmax has no effect, and BNNeck's bias stays at 0.
    assert {n for n in untouched if n.startswith("backbone.")} == set()
    assert "backbone.vit.head.weight" in trained
    assert "backbone.vit.pos_embed" in trained
    assert "backbone.vit.norm_pre.weight" in trained
    assert "backbone.vit.cls_token" in trained


def test_without_a_rate_the_backbone_stays_as_it_is(pictures, tmp_path):
    trained = moved(trainer_of(pictures, tmp_path, phases=(Phase(2),)))
    assert not [n for n in trained if n.startswith("backbone.vit.")]
    assert "backbone.cv_embed" in trained


def test_every_backbone_parameter_is_in_one_group_and_deeper_layers_are_slower():
    net = build_model(replace(CLIP, num_classes=3))
    phase = Phase(1, lr=1.0, backbone_lr=0.1, layer_decay=0.5)
    freeze(net, phase)
    groups = parameter_groups(net, torch.nn.Linear(1, 1), phase)
    grouped = [id(p) for g in groups for p in g["params"]]
    assert len(grouped) == len(set(grouped))
    assert {id(p) for p in net.parameters() if p.requires_grad} <= set(grouped)
    assert [g["lr"] for g in groups] == [1.0, 0.1, 0.1, 0.05, 0.025]  # heads; norm and head, two blocks, embeddings
    assert [layer.depth for layer in backbone_layers(net)] == [0, 0, 1, 2]


def test_cameras_are_used_in_training_as_in_testing(pictures, tmp_path):
    trainer = trainer_of(pictures, tmp_path)
    seen = []
    trainer.net.backbone.register_forward_pre_hook(lambda _, args: seen.append(args[1]))
    before = trainer.net.backbone.cv_embed.detach().clone()
    trainer.run()
    assert all(camera is not None for camera in seen)
    assert {int(c) for camera in seen for c in camera} <= set(range(4))
    assert not torch.equal(before, trainer.net.backbone.cv_embed)


def test_cameras_that_the_model_does_not_have_are_refused(pictures, tmp_path):
    few = replace(CLIP, backbone_options={**CLIP.backbone_options, "cameras": 2})
    with pytest.raises(ValueError, match="cameras 0 to 1, and the data has cameras 0 to 3"):
        trainer_of(pictures, tmp_path, model=few)


def clip_file(tmp_path):
    state = random_state(clip_shapes(64, 32, 2, 196))
    return state, saved(tmp_path, {f"visual.{k}": v for k, v in state.items()}, "ViT-B-16.pt")


def test_a_clip_file_is_where_the_backbone_begins(pictures, tmp_path):
    state, file = clip_file(tmp_path)
    net = new_model(folder_recipe(pictures, tmp_path, initial=str(file)), 3)
    vit = net.backbone.vit
    assert torch.equal(vit.patch_embed.proj.weight, state["conv1.weight"])
    assert torch.equal(vit.head.weight, state["proj"].t())
    assert vit.pos_embed.shape == (1, 129, 64)  # resized from 14x14


def test_a_demo_file_brings_selection_and_reductions_too(pictures, tmp_path):
    state = random_state(demo_shapes(rows=25))
    net = new_model(folder_recipe(pictures, tmp_path, initial=str(saved(tmp_path, state))), 3)
    assert torch.equal(net.sdtps.rgb_aggr.scale, state["sdtps.rgb_aggr.scale"])
    assert torch.equal(net.nir_reduce[1].weight, state["nir_reduce.1.weight"])
    assert torch.equal(net.backbone.cv_embed, state["BACKBONE.cv_embed"])
    assert net.classifier.weight.shape == (3, 96)  # heads are for other people


def test_a_timm_file_is_a_start_too(pictures, tmp_path):
    torch.manual_seed(3)
    source = build_model(CLIP).backbone.vit.state_dict()
    file = tmp_path / "vit_quickgelu.safetensors"
    save_file({k: v.contiguous() for k, v in source.items()}, file)
    net = new_model(folder_recipe(pictures, tmp_path, initial=str(file)), 3)
    assert torch.equal(net.backbone.vit.blocks[1].mlp.fc1.weight, source["blocks.1.mlp.fc1.weight"])


def test_weights_of_another_architecture_are_no_start(pictures, tmp_path):
    state = random_state(clip_shapes(128, 32, 2, 196))
    file = saved(tmp_path, {f"visual.{k}": v for k, v in state.items()}, "other.pt")
    with pytest.raises(ValueError, match=r"no start for vit_base.*it lacks backbone\.vit\.cls_token"):
        new_model(folder_recipe(pictures, tmp_path, initial=str(file)), 3)


def test_the_embedded_trunk_comes_out_of_the_shipped_file():
    recipe, *_ = Recipe.read("configs/embedded.yaml")
    shipped = {k: v.float() for k, v in load_file(EMBEDDED).items() if k.startswith("backbone.trunk.")}
    net = new_model(recipe, 0)
    state = net.state_dict()
    assert all(torch.equal(state[k], v) for k, v in shipped.items())
    assert not torch.equal(state["sdtps.rgb_sparse.score_predictor.0.weight"],
                           load_file(EMBEDDED)["sdtps.rgb_sparse.score_predictor.0.weight"].float())  # fmt: skip


def test_the_selection_is_trained_as_the_recipe_says(pictures, tmp_path):
    how = Selection("complete-gumbel", tau=5.0, noise_clamp=5.0, self_gradient=False)
    module = trainer_of(pictures, tmp_path, selection=how).net.sdtps
    assert (module.variant.name, module.tau, module.noise_clamp, module.gumbel) == ("complete-gumbel", 5.0, 5.0, True)
    assert module.detach_attention == "self"
    assert trainer_of(pictures, tmp_path, selection=Selection(gumbel=False)).net.sdtps.gumbel is False


@pytest.mark.parametrize(
    ("own", "cross", "cut"),
    [(None, None, False), (False, False, True), (True, False, "cross"), (False, True, "self"), (True, True, False)],
)
def test_self_and_cross_attention_are_cut_one_by_one(own, cross, cut):
    assert Selection(self_gradient=own, cross_gradient=cross).detached("final") == cut


def test_ratios_are_numbers_or_drawn(pictures, tmp_path):
    fixed = trainer_of(pictures, tmp_path, sparse_ratio=0.7, aggr_ratio=0.5)
    drawn = trainer_of(pictures, tmp_path, sparse_ratio=(0.2, 0.4))
    seen = []
    for trainer in (fixed, drawn):
        for step in range(4):
            trainer._prepare(0, step)
            seen.append(trainer.net.sdtps.sparse_ratio)
    assert set(seen[:4]) == {0.7}
    assert len(set(seen[4:])) == 4
    assert all(0.2 <= v <= 0.4 for v in seen[4:])


def test_while_warming_up_only_ori_counts(pictures, tmp_path):
    recipe = {"selection": Selection(warm_up_epochs=1), "phases": (Phase(4, warm_up=0.0),)}
    trainer = trainer_of(pictures, tmp_path, **recipe)
    trainer.run()
    run = read_run(trainer.out)
    assert run.scalar("grad/head/sdtps")[:2].tolist() == [0.0, 0.0]  # an epoch has two steps
    assert (run.scalar("grad/head/sdtps")[2:] > 0).all()
    assert run.scalar("loss")[0] == pytest.approx(run.scalar("loss_ori")[0], rel=1e-6)
    both = run.scalar("loss_ori") + run.scalar("loss_sdtps")
    assert run.scalar("loss")[2:] == pytest.approx(both[2:], rel=1e-5)


def test_heads_have_weights(pictures, tmp_path):
    trainer = trainer_of(pictures, tmp_path, heads={"sdtps": 2.0})
    trainer.run()
    run = read_run(trainer.out)
    assert run.scalar("loss") == pytest.approx(run.scalar("loss_ori") + 2 * run.scalar("loss_sdtps"), rel=1e-5)


@pytest.mark.parametrize(("feature", "width"), [("ori", 96), ("sdtps", 96), ("both", 192)])
def test_the_test_feature_is_stored_with_the_weights(pictures, tmp_path, feature, width):
    checkpoint = train(folder_recipe(pictures, tmp_path / "run", test_feature=feature), "cpu", quiet=True)
    net = sdtps.load_model(checkpoint, "cpu").net
    assert net(torch.zeros(3, 1, 3, 256, 128), torch.tensor([0])).shape == (1, width)


def test_ratios_and_variant_are_stored_with_the_weights(pictures, tmp_path):
    changes = {"sparse_ratio": 0.7, "aggr_ratio": 0.5, "beta": 0.1, "selection": Selection("importance")}
    checkpoint = train(folder_recipe(pictures, tmp_path / "run", **changes), "cpu", quiet=True)
    settings = sdtps.load_model(checkpoint, "cpu").settings
    assert (settings.sparse_ratio, settings.aggr_ratio, settings.beta) == (0.7, 0.5, 0.1)
    assert settings.variant == "importance"


@pytest.mark.parametrize(
    ("selection", "tau"),
    [
        (Selection("complete-gumbel", tau=5.0), 5.0),
        (Selection("gumbel-soft", tau=2.0, gumbel=False), 2.0),
        (Selection("complete-gumbel", tau=5.0, gumbel=False), None),
        (Selection("final", tau=5.0), None),
    ],
)
def test_tau_is_stored_with_the_weights_where_it_shaped_them(pictures, tmp_path, selection, tau):
    checkpoint = train(folder_recipe(pictures, tmp_path / "run", selection=selection), "cpu", quiet=True)
    model = sdtps.load_model(checkpoint, "cpu")
    assert model.weights.settings.get("tau") == tau
    assert model.settings.tau == (tau or 1.0)


def test_of_a_drawn_ratio_none_is_said_to_be_the_one(pictures, tmp_path):
    checkpoint = train(folder_recipe(pictures, tmp_path / "run", sparse_ratio=(0.1, 0.9)), "cpu", quiet=True)
    assert "sparse_ratio" not in sdtps.load_model(checkpoint, "cpu").weights.settings
    with safe_open(checkpoint, "pt") as file:
        assert json.loads(file.metadata()["trained_settings"])["sparse_ratio"] == [0.1, 0.9]


@pytest.mark.parametrize("name", ["adam", "adamw", "sgd"])
def test_optimisers(pictures, tmp_path, name):
    trainer = trainer_of(pictures, tmp_path, optimiser=Optimiser(name, bias_lr=2.0))
    assert "sdtps.rgb_aggr.weight.3.weight" in moved(trainer)
    groups = parameter_groups(trainer.net, trainer.calibration, Phase(1, lr=1.0), bias_lr=2.0)
    assert [g["lr"] for g in groups] == [1.0, 2.0]


def test_schedules():
    def rates(**options):
        return [rate_at(s, 10, Phase(10, **options), epoch_steps=2) for s in range(10)]

    assert rates(warm_up=0.0, schedule="constant") == [1.0] * 10
    assert rates(warm_up=0.0, schedule="steps", milestones=(2, 4)) == [1.0] * 4 + [0.1] * 4 + [pytest.approx(0.01)] * 2
    cosine = rates(warm_up=0.2)
    assert cosine[:3] == [0.5, 1.0, 1.0]
    assert cosine[3:] == sorted(cosine[3:], reverse=True)
    assert cosine[-1] < 0.05


def test_clipping_can_be_off(pictures, tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda *a: calls.append(a[1]))
    trainer_of(pictures, tmp_path, clip=None).run()
    assert not calls
    trainer_of(pictures, tmp_path, clip=3.0).run()
    assert calls == [3.0, 3.0]


def test_epochs_validation_best_and_last(pictures, tmp_path):
    phases = (Phase(epochs=2, lr=1e-3, warm_up=0.0),)
    recipe = folder_recipe(pictures, tmp_path / "run", phases=phases, validate=Validation(every=1))
    trainer = Trainer(recipe, "cpu", quiet=True)
    wanted = [p.requires_grad for p in trainer.net.parameters()]
    last = trainer.run()
    run = read_run(trainer.out)
    assert run.epochs["epoch"].tolist() == [0, 1]
    assert len(run.scalar("loss")) == 4
    assert ((run.epochs["mAP"] > 0) & (run.epochs["mAP"] <= 1)).all()
    assert last.name == "model.safetensors"
    assert (trainer.out / "best.safetensors").exists()
    assert sum(wanted) >= sum(p.requires_grad for p in trainer.net.parameters()) > 0
    assert {"acc_ori", "acc_sdtps"} <= set(run.steps)


def test_workers_change_nothing(pictures, tmp_path):
    states = [
        load_file(train(folder_recipe(pictures, tmp_path / str(n), workers=n), "cpu", quiet=True)) for n in (0, 2)
    ]
    assert all(torch.equal(states[0][k], states[1][k]) for k in states[0])


def test_tensorboard_stands_beside_the_table(pictures, tmp_path):
    recipe = folder_recipe(pictures, tmp_path / "run", tensorboard=True)
    train(recipe, "cpu", quiet=True)
    run = read_tensorboard(sorted((tmp_path / "run").glob("*tfevents*")), "x")
    assert run.scalar("loss") == pytest.approx(read_run(tmp_path / "run").scalar("loss"), rel=1e-6)


def test_an_interrupted_run_ends_with_the_same_weights(pictures, tmp_path):
    """Optimiser, random numbers, place: all of it goes on; no step is logged twice."""
    phases = (Phase(6, lr=1e-3, backbone_lr=1e-4),)
    options = {"optimiser": Optimiser("adam"), "checkpoint_every": 2, "tensorboard": True}
    recipe = folder_recipe(pictures, tmp_path / "whole", phases=phases, **options)
    whole = load_file(train(recipe, "cpu", quiet=True))
    recipe = replace(recipe, out=str(tmp_path / "cut"))

    class Cut(Trainer):
        def _prepare(self, number, place):
            if place == 5:  # one step after the last checkpoint
                raise KeyboardInterrupt
            super()._prepare(number, place)

    with pytest.raises(KeyboardInterrupt):
        Cut(recipe, "cpu", quiet=True).run()
    assert len(read_run(tmp_path / "cut").scalar("step")) == 5
    again = load_file(train(recipe, "cpu", resume=True, quiet=True))
    assert all(torch.equal(whole[k], again[k]) for k in whole)
    for out in ("whole", "cut"):
        lines = (tmp_path / out / "log.csv").read_text().splitlines()[1:]
        assert [int(line.split(",")[0]) for line in lines] == list(range(6))
        events = [e for file in (tmp_path / out).glob("*tfevents*") for e in read_events(file)]
        assert sorted(step for step, tag, _ in events if tag == "total") == list(range(6))
    runs = [read_run(tmp_path / out) for out in ("whole", "cut")]
    assert runs[0].scalar("loss").tolist() == runs[1].scalar("loss").tolist()
    assert runs[1].scalar("step").tolist() == list(range(6))


def test_a_loss_that_is_no_number_ends_training_in_a_sentence(pictures, tmp_path):
    trainer = trainer_of(
        pictures, tmp_path, phases=(Phase(6, lr=1e18, warm_up=0.0),), optimiser=Optimiser("sgd"), clip=None
    )
    with pytest.raises(DivergedError, match=r"The loss is nan at step \d; first_bad.json"):
        trainer.run()
    assert read_run(trainer.out).first_bad is not None


def test_a_rate_for_a_backbone_that_cannot_train_is_refused():
    recipe, *_ = Recipe.read("configs/embedded.yaml")
    net = build_model(recipe.model)
    with pytest.raises(ValueError, match="set trainable_blocks"):
        freeze(net, Phase(1, backbone_lr=1e-4))
