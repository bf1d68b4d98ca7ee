"""What tests of training share: a forward pass of random tokens, and a folder of pictures."""

import pytest
import torch

from sdtps.models.reid import Encoded
from sdtps.training.synth import write_rgbnt201
from tests.conftest import random_tokens, shaken_module


@pytest.fixture
def forward():
    """Traces, tokens and identities of four triplets."""
    module = shaken_module(32, 64, dtype=torch.float32).train()
    patches, vectors = random_tokens(4, 64, 32, dtype=torch.float32)
    return module(patches, vectors), Encoded(patches, vectors), torch.tensor([5, 5, 9, 9])


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    for split, seed in (("train_171", 5), ("test", 6)):
        write_rgbnt201(folder, ids=3, views=4, seed=seed, split=split, workers=1)
    return folder
