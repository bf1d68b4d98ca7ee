"""What a step is minimised by, put together by hand."""

import torch

from sdtps.models.reid import build_model
from sdtps.training.losses import head_loss
from sdtps.training.maps import CosineCalibration
from sdtps.training.objective import outcome_of
from sdtps.training.recipe import LossWeights
from sdtps.training.sources import Batch
from tests.conftest import tiny_vit_config


def test_a_modality_is_not_asked_who_is_in_a_picture_that_shows_nothing():
    torch.manual_seed(0)
    net = build_model(tiny_vit_config(num_classes=3, direct=False)).eval()
    tokens = net.backbone(torch.randn(3, 6, 3, 256, 128))
    pid = torch.tensor([0, 0, 1, 1, 2, 2])
    shown = torch.ones(3, 6, dtype=torch.bool)
    shown[0, [0, 3]] = False  # two black RGB pictures
    shown[2] = False  # and no thermal picture shows anything: then all are asked, for the loss needs somebody
    weight = LossWeights()
    encoded = net.reduce(tokens)
    said = net.predictions(encoded, net.sdtps(encoded.patches, encoded.global_vectors))
    rest = [1, 2, 4, 5]
    asked = {**said, "_r": said["_r"]._replace(logits=said["_r"].logits[rest], feature=said["_r"].feature[rest])}
    want = sum(head_loss(a, pid[rest] if s == "_r" else pid, weight.cross_entropy) for s, a in asked.items())
    found = outcome_of(net, CosineCalibration(), Batch(tokens, pid, None, shown), weight)
    torch.testing.assert_close(found.losses["identity"], want)
    everybody = outcome_of(net, CosineCalibration(), Batch(tokens, pid, None), weight)
    assert not torch.isclose(found.losses["identity"], everybody.losses["identity"])
