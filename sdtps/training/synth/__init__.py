"""Synthetic tri-modal pedestrians: aligned RGB / near-infrared / thermal triplets with identity, camera and masks.

    from sdtps.training.synth import sample
    triplet = sample(pid=7, view=2, seed=0, force={"night", "bag"})
    triplet.rgb, triplet.nir, triplet.tir      # (256, 128, 3) uint8
    triplet.person, triplet.others             # (256, 128) bool

A body is an articulated skeleton dressed in rounded parts (pose, body, carried), painted over a street (scene) into
one label map; a table of materials turns labels into reflectance and warmth (materials, identity); three sensors look
at the result (sensors) and spoil it the way real cameras do (degrade).
"""

from .generate import STYLES, edition, generate, sampler
from .identity import Identity, identity_of
from .triplet import sample
from .types import EDITION, HEIGHT, TAGS, WIDTH, SynthSample
from .writer import write_rgbnt201

__all__ = [
    "EDITION",
    "HEIGHT",
    "STYLES",
    "TAGS",
    "WIDTH",
    "Identity",
    "SynthSample",
    "edition",
    "generate",
    "identity_of",
    "sample",
    "sampler",
    "write_rgbnt201",
]
