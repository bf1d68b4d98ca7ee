import pytest
import torch

from sdtps.models.feature import FusionConfig
from sdtps.models.reid import ModelConfig, build_model, pick_device
from tests.conftest import tiny_vit_config


def images(batch=2):
    return torch.randn(3, batch, 3, 256, 128, generator=torch.Generator().manual_seed(0))


def test_test_feature_is_ori_then_sdtps():
    net = build_model(tiny_vit_config()).eval()
    encoded = net.encode(images())
    traces = net.sdtps(encoded.patches, encoded.global_vectors)
    feature = net(images())
    ori = torch.cat([encoded.global_vectors[m] for m in ("rgb", "nir", "tir")], -1)
    sdtps = torch.cat([traces[m].tokens.mean(1) for m in ("rgb", "nir", "tir")], -1)
    torch.testing.assert_close(feature, torch.cat([ori, sdtps], -1))


@pytest.mark.parametrize("direct", [True, False])
def test_channels_left_out_are_neither_compared_nor_asked_for_a_name(direct):
    whole = build_model(tiny_vit_config(num_classes=7, direct=direct)).eval()
    net = build_model(tiny_vit_config(num_classes=7, direct=direct, fusion=FusionConfig(left_out=8))).eval()
    net.load_state_dict({k: v for k, v in whole.state_dict().items() if v.shape == net.state_dict()[k].shape}, False)
    feature = net(images())
    torch.testing.assert_close(feature, whole(images()).unflatten(1, (6, 48))[..., :40].flatten(1))
    assert net.part_slices == {"ori": slice(0, 120), "sdtps": slice(120, 240)}
    encoded = net.encode(images())
    predictions = net.predictions(encoded, net.sdtps(encoded.patches, encoded.global_vectors))
    torch.testing.assert_close(predictions["_sdtps"].feature, feature[:, 120:])
    torch.testing.assert_close(predictions["" if direct else "_r"].feature[:, :40], feature[:, :40])


def test_global_local_reduces_global_and_mean_patch():
    net = build_model(tiny_vit_config(global_local=True)).eval()
    tokens = net.backbone(images())
    got = net.reduce(tokens).global_vectors["nir"]
    norm, linear, _ = net.nir_reduce
    x = linear(norm(torch.cat([tokens.global_vectors[1], tokens.patches[1].mean(1)], -1)))
    torch.testing.assert_close(got, x * torch.sigmoid(1.702 * x))


@pytest.mark.parametrize(("direct", "heads"), [(True, ["", "_sdtps"]), (False, ["_r", "_n", "_t", "_sdtps"])])
def test_training_output_has_a_pair_per_head(direct, heads):
    net = build_model(tiny_vit_config(num_classes=7, direct=direct)).train()
    encoded = net.encode(images(4))
    predictions = net.predictions(encoded, net.sdtps(encoded.patches, encoded.global_vectors))
    assert list(predictions) == heads
    assert all(p.logits.shape == (4, 7) for p in predictions.values())


def test_bnneck_bias_is_frozen_and_classifier_has_none():
    net = build_model(tiny_vit_config(num_classes=7))
    assert not net.bottleneck.bias.requires_grad
    assert net.classifier_sdtps.bias is None
    assert net.classifier_sdtps.weight.shape == (7, 3 * 48)


def test_three_modalities_go_through_the_backbone_as_one_batch():
    net = build_model(tiny_vit_config()).eval()
    sizes = []
    net.backbone.vit.blocks[0].register_forward_hook(lambda _m, inputs, _o: sizes.append(len(inputs[0])))
    net(images(5))
    assert sizes == [15]


def test_config_survives_a_trip_through_json():
    import json

    config = tiny_vit_config(num_classes=3)
    assert ModelConfig.from_dict(json.loads(json.dumps(config.as_dict()))) == config


def test_device_names():
    assert pick_device("cpu").type == "cpu"
    assert pick_device().type in ("cpu", "cuda", "mps")
