"""How often the 95 % interval of `sdtps.matters` holds the truth, on generated worlds with a planted effect.

A world has identities that differ in how visible they are, cameras with a background of their own, and image sets of
patches of which some show the person. One selector finds those patches with some noise; the other is the same one made
worse by a known share of swapped scores, or an equally good one where there is no effect. The truth is the mean
difference in mAP over many further worlds of the same kind.

python -m scripts.interval_coverage                   # 400 repetitions of each world
python -m scripts.interval_coverage --repetitions 50  # a quick look
"""

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdtps.matters.interval import Interval, identity_weights, interval
from sdtps.matters.judged import Judged, Labelled, judge

PATCHES, KEPT, PERSON, CHANNELS = 24, 8, 10, 12
TRUTH_WORLDS = 5  # further worlds per repetition, from which the truth is known


@dataclass(frozen=True)
class World:
    """What a world is like; `worse` is the share of scores that are swapped, None for two equally good selectors."""

    identities: int = 30
    cameras: int = 4
    signal: float = 0.5
    noise: float = 0.7
    worse: float | None = 0.4

    @property
    def name(self) -> str:
        """In a few words."""
        effect = "no effect" if self.worse is None else f"{self.worse:.0%} of the scores swapped"
        return f"{self.identities} identities, {self.cameras} cameras, signal {self.signal:g}, {effect}"


WORLDS = (
    World(),
    World(signal=0.9, noise=0.5, worse=0.3),
    World(worse=None),
    World(identities=12),
    World(cameras=10, signal=0.4, worse=0.3),
)


def draw(world: World, rng: np.random.Generator) -> tuple[Judged, Judged]:
    """One world: the rank lists of both selectors."""
    pid = np.repeat(np.arange(world.identities), world.cameras)
    camera = np.tile(np.arange(world.cameras), world.identities)
    visible = world.signal * np.exp(0.4 * rng.normal(size=world.identities))
    looks = rng.normal(size=(world.identities, CHANNELS)) * visible[:, None]
    tokens = rng.normal(size=(len(pid), PATCHES, CHANNELS))
    tokens[:, :PERSON] += looks[pid][:, None]
    tokens[:, PERSON:] += 0.8 * rng.normal(size=(world.cameras, CHANNELS))[camera][:, None]
    person = (np.arange(PATCHES) < PERSON).astype(np.float64)
    first = person + world.noise * rng.normal(size=tokens.shape[:2])
    if world.worse is None:
        second = person + world.noise * rng.normal(size=tokens.shape[:2])
    else:
        swapped = rng.random(first.shape) < world.worse
        second = np.where(swapped, rng.permuted(first, axis=1), first)
    return _judged(tokens, first, pid, camera), _judged(tokens, second, pid, camera)


def _judged(
    tokens: NDArray[np.float64], score: NDArray[np.float64], pid: NDArray[np.int64], camera: NDArray[np.int64]
) -> Judged:
    keep = np.argsort(-score, axis=1)[:, :KEPT]
    features = np.take_along_axis(tokens, keep[..., None], axis=1).mean(1).astype(np.float32)
    sets = Labelled(features, pid, camera)
    return judge(sets, sets)


def difference(pair: tuple[Judged, Judged], seed: int = 0) -> Interval:
    """The interval of the difference in mAP, as the report makes it."""
    weights = identity_weights(len(pair[0].identities), seed=seed)
    sums = pair[0].sums(weights)[:, 0] - pair[1].sums(weights)[:, 0]
    return interval(sums, pair[0].counts, weights)


def truth_of(world: World, worlds: int, rng: np.random.Generator) -> float:
    """The mean difference in mAP over many worlds; 0 by construction where both selectors are equally good."""
    if world.worse is None:
        return 0.0
    pairs = (draw(world, rng) for _ in range(worlds))
    return float(np.mean([a.scores()[0, 0] - b.scores()[0, 0] for a, b in pairs]))


def coverage(world: World, repetitions: int, seed: int = 0) -> tuple[float, float, float]:
    """The truth, the share of intervals that hold it, and the share that lie wholly on one side of 0."""
    rng = np.random.default_rng(seed)
    truth = truth_of(world, TRUTH_WORLDS * repetitions, rng)
    found = [difference(draw(world, rng), seed=i) for i in range(repetitions)]
    held = np.mean([one.low <= truth <= one.high for one in found])
    claimed = np.mean([one.low > 0 or one.high < 0 for one in found])
    return truth, float(held), float(claimed)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=400)
    options = parser.parse_args()
    print("| world | true difference in mAP | interval holds it | an effect is claimed |")
    print("|---|---|---|---|")
    for i, world in enumerate(WORLDS):
        truth, held, claimed = coverage(world, options.repetitions, seed=100 + i)
        print(f"| {world.name} | {100 * truth:+.1f} | {held:.1%} | {claimed:.1%} |", flush=True)


if __name__ == "__main__":
    main()
