"""What tests of losses share: a forward pass of random tokens."""

import pytest
import torch

from sdtps.models.reid import Encoded
from tests.conftest import random_tokens, shaken_module


@pytest.fixture
def forward():
    """Traces, tokens and identities of four triplets."""
    module = shaken_module(32, 64, dtype=torch.float32).train()
    patches, vectors = random_tokens(4, 64, 32, dtype=torch.float32)
    return module(patches, vectors), Encoded(patches, vectors), torch.tensor([5, 5, 9, 9])
