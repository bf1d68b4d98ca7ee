"""What a checkpoint does not say, or says wrongly: refusals, the grid, the training configuration."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import sdtps
from sdtps.checkpoints.families.grid_guess import grid_of_table, possible_grids
from sdtps.checkpoints.load import MismatchError, load_checkpoint
from sdtps.types import Grid
from tests.checkpoints.checkpoint_files import (
    demo_shapes,
    direct_analysis,
    random_state,
    saved,
)


def test_a_file_that_fits_in_part_is_refused_by_name_unless_one_insists(tmp_path, photos):
    state = random_state(demo_shapes(rows=25))
    del state["sdtps.nir_aggr.weight.1.weight"], state["sdtps.tir_sparse.score_predictor.2.bias"]
    state["rgb_reduce.1.weight"] = torch.zeros(32, 60)
    state["BACKBONE.base.stranger"] = torch.zeros(3)
    path = saved(tmp_path, state)
    with pytest.raises(MismatchError) as refused:
        sdtps.load_model(path)
    sentence = str(refused.value)
    assert "sdtps.nir_aggr.weight.1.weight is missing" in sentence
    assert "rgb_reduce.1.weight is 32x60, not 32x64" in sentence
    assert sentence.endswith('and 1 more. Press "Load it anyway" on the page, or use --force.')
    model = sdtps.load_model(path, "cpu", force=True)
    assert len(model.weights.missing) == 3
    assert model.weights.unexpected == ("BACKBONE.base.stranger",)
    assert model.weights.absent == ("predictor", "aggregation")
    assert not model.weights.complete
    again = sdtps.load_model(path, "cpu", force=True)
    a, b = (sdtps.analyse(m, *photos.values())["rgb"].score for m in (model, again))
    assert np.array_equal(a, b)


def test_parts_that_change_the_patches_before_selection_are_not_passed_over(tmp_path):
    state = random_state(demo_shapes(rows=25)) | {"sacr.conv.weight": torch.ones(3)}
    with pytest.raises(sdtps.CheckpointError, match=r"sacr\.conv\.weight.*changes the patches before SDTPS"):
        load_checkpoint(saved(tmp_path, state))


def test_heads_play_no_part_in_what_is_shown(tmp_path):
    state = {k: v for k, v in random_state(demo_shapes(rows=25)).items() if not k.startswith("classifier")}
    report = load_checkpoint(saved(tmp_path, state))[1]
    assert report.complete
    assert all(name.startswith("bottleneck") for name in report.unused)


def test_a_checkpoint_of_no_training_step_says_so(tmp_path):
    state = random_state(demo_shapes(rows=25))
    state |= {k: torch.tensor(0) for k in state if k.endswith("num_batches_tracked")}
    assert not load_checkpoint(saved(tmp_path, state))[1].trained


def test_an_unknown_kind_is_named_by_its_first_tensors(tmp_path):
    with pytest.raises(sdtps.CheckpointError, match=r"no kind that is known here .* it begins with conv1\.weight, fc"):
        load_checkpoint(saved(tmp_path, {"conv1.weight": torch.ones(2), "fc.bias": torch.ones(2)}))


@pytest.mark.parametrize("grid", [Grid(16, 8), Grid(8, 16)])
def test_a_smooth_table_tells_its_own_grid(grid, tmp_path):
    coarse = torch.randn(1, 64, 7, 7, generator=torch.Generator().manual_seed(3))
    image = F.interpolate(coarse, size=tuple(grid), mode="bilinear", align_corners=False)
    table = image[0].flatten(1).T
    assert grid_of_table(table, possible_grids(128)) == grid
    state = random_state(demo_shapes(classes=9))
    state["BACKBONE.base.positional_embedding"][1:] = table
    report = load_checkpoint(saved(tmp_path, state))[1]
    assert report.facts["grid"] == list(grid)
    assert any("neighbours in the position table are alike" in note for note in report.assumed)


def test_a_random_table_tells_nothing_and_the_rest_decides(tmp_path):
    state = random_state(demo_shapes(classes=9))
    path = saved(tmp_path, state)
    report = load_checkpoint(path)[1]
    assert report.facts["grid"] == [16, 8]
    assert any("nothing says which" in note for note in report.assumed)
    (tmp_path / "MSVR310").mkdir()
    by_folder = load_checkpoint(saved(tmp_path / "MSVR310", state))[1]
    assert by_folder.facts["grid"] == [8, 16]
    told = load_checkpoint(path, size=(128, 256))[1]
    assert told.facts["grid"] == [8, 16]
    assert not any("is assumed" in note for note in told.assumed)
    with pytest.raises(sdtps.CheckpointError, match=r"Pictures of 224x224 have 196 patches, but .* for 128"):
        load_checkpoint(path, size=(224, 224))
    odd = random_state(demo_shapes(classes=9, patches=211))
    with pytest.raises(sdtps.CheckpointError, match="position table of 211 patches; say the size"):
        load_checkpoint(saved(tmp_path, odd))


def test_the_training_configuration_gives_ratios_size_and_factor(tmp_path, photos):
    config = tmp_path / "DeMo.yml"
    config.write_text(
        "MODEL:\n  SDTPS_SPARSE_RATIO: 0.7\n  SDTPS_AGGR_RATIO: 0.5\n  SDTPS_BETA: 0.3\n  SIE_COE: 2.0\n"
        'INPUT:\n  SIZE_TRAIN: [256, 128]\n  SIZE_TEST: "[128, 256]"\n  PIXEL_MEAN: [0.4, 0.4, 0.4]\n'
        "  PIXEL_STD: [0.3, 0.3, 0.3]\n"
    )
    model = sdtps.load_model(saved(tmp_path, random_state(demo_shapes(rows=44))), "cpu", config=config)
    assert model.weights.settings == {"sparse_ratio": 0.7, "aggr_ratio": 0.5, "beta": 0.3}
    assert model.net.backbone.sie_coefficient == 2.0
    assert model.net.backbone.mean == (0.4, 0.4, 0.4)
    analysis = sdtps.analyse(model, *photos.values())
    assert (analysis.settings.sparse_ratio, analysis.settings.beta) == (0.7, 0.3)
    assert (analysis["rgb"].kept, len(analysis["rgb"].aggregation_weights)) == (90, 44)
    assert tuple(analysis.grid) == (8, 16)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("- a list", "not a DeMo configuration"), ("a: [", "not a DeMo configuration"),
     ("MODEL: {SDTPS_BETA: 0.9}", "sets SDTPS_BETA to 0.9"), ("MODEL: {SDTPS_BETA: much}", "sets SDTPS_BETA to much"),
     ("INPUT: {SIZE_TEST: [1]}", "sets SIZE_TEST"), ("x: !!python/object/apply:os.getcwd []", "not a DeMo")],
)  # fmt: skip
def test_a_wrong_configuration_is_one_sentence(text, sentence, tmp_path):
    config = tmp_path / "c.yml"
    config.write_text(text)
    with pytest.raises(sdtps.CheckpointError, match=sentence):
        load_checkpoint(saved(tmp_path, random_state(demo_shapes(rows=25))), config=config)


def test_the_same_file_read_in_two_ways_is_not_mixed_up(tmp_path):
    grey = np.full((256, 128, 3), 90, np.uint8)  # the same bytes at either size
    path = saved(tmp_path, random_state(demo_shapes(rows=25)))
    upright, lying = (sdtps.load_model(path, "cpu", size=s) for s in ((256, 128), (128, 256)))
    first = sdtps.analyse(upright, grey, grey, grey)
    second = sdtps.analyse(lying, grey, grey, grey)
    assert first.weights.sha256 == second.weights.sha256
    assert (tuple(first.grid), tuple(second.grid)) == ((16, 8), (8, 16))
    state = torch.load(path, weights_only=True)
    want, _ = direct_analysis(state, torch.full((3, 1, 3, 128, 256), 90 / 255 * 2 - 1), 1, sdtps.Settings())
    np.testing.assert_allclose(second["rgb"].raw_self_attention, want["rgb"]["raw_self"], atol=1e-4)
