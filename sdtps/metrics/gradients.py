"""What reaches the scores when the module trains: live numbers for the story of Gumbel and the decision matrix.

The numbers are autograd's, on the tokens of the triplet or on a seeded batch, with the real module; nothing is fitted.
The module is a copy: the model on show keeps its switches and gets no gradient.
"""

from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.algorithm.selection import gumbel_noise, soft_decision, straight_through
from sdtps.algorithm.trace import Trace
from sdtps.models.losses import batch_hard_triplet
from sdtps.models.reid import Encoded
from sdtps.pipeline import OpenSet
from sdtps.support.messages import Message
from sdtps.support.threads import one_thread
from sdtps.types import MODALITIES, FloatArray, Settings
from sdtps.variants import Decision, get_variant

IDENTITIES = 171  # of RGBNT201's training set
HEAD_STD = 0.001  # how the reference initialises its classifier
SMOOTHING = 0.1
IDENTITY_WEIGHT = 0.25
NOISE_TRIALS = 64
NAN = float("nan")

Loss = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Route:
    """One way to train the selection.

    Attributes:
        key: its name in results.
        variant: the variant.
        tau, clamp: of the straight-through decision, where there is one.
        gumbel: whether noise takes part in training.
    """

    key: str
    variant: str
    tau: float = 1.0
    clamp: float | None = None

    @property
    def gumbel(self) -> bool:
        """Whether noise takes part, so that two draws give two gradients."""
        return get_variant(self.variant).decision in (Decision.MASK_1E10, Decision.SOFT, Decision.TOKENS)


ROUTES = (
    Route("final", "final"),
    Route("importance", "importance"),
    Route("gumbel-tau1", "complete-gumbel"),
    Route("gumbel-tau5", "complete-gumbel", tau=5.0, clamp=5.0),
    Route("gumbel-soft", "gumbel-soft"),
    Route("ste-tokens", "ste-tokens"),
)


@dataclass(frozen=True)
class Flow:
    """The gradient of one route.

    Attributes:
        route: which.
        detached: whether the attention cosines are cut from the gradient.
        lacking: what the weights lack for it, as a sentence; None when it ran, and only then the rest is set.
        loss: value of the loss; equal for `final`, both `gumbel-tau` and `ste-tokens`, which look the same forward.
        score: modality → (B, N) |dL/ds|, the gradient that reaches each score.
        zeros_kept: share of kept scores whose gradient is exactly 0.
        norms: L2 norm of the gradient, over all modalities: at the `score`s, the `patches`, the `globals`, and the
            parameters of the `predictor` and the `aggregation`. NaN where the module has no such part.
        direction: cosine of dL/d(patches) with that of `final` at the same `detached`.
        agreement: cosine of dL/d(patches) between two noise draws; NaN without noise.
        finite: whether every gradient is a finite number.
    """

    route: Route
    detached: bool
    lacking: Message | None = None
    loss: float = NAN
    score: Mapping[str, FloatArray] = field(default_factory=dict)
    zeros_kept: float = NAN
    norms: Mapping[str, float] = field(default_factory=dict)
    direction: float = NAN
    agreement: float = NAN
    finite: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Plain values and arrays."""
        return asdict(self) | {"route": asdict(self.route) | {"gumbel": self.route.gumbel}}


@dataclass(frozen=True)
class NoiseFacts:
    """What Gumbel noise changes forward, over `trials` draws at tau.

    Attributes:
        trials: number of draws.
        changed: patches, over all draws and modalities, at which D differs from the noiseless hard mask; 0 by design.
        soft_sum, hard_sum: sum over the patches of the soft decision (1) and of the mask (K): the mismatch that makes
            the surrogate gradient small and wrong.
        soft_max: largest value of the noiseless soft decision, beside 1 / N for a uniform one.
        uniform: 1 / N.
    """

    trials: int
    changed: int
    soft_sum: float
    hard_sum: float
    soft_max: float
    uniform: float


@dataclass(frozen=True)
class Gradients:
    """All routes, with and without cut cosines, and what the noise does forward."""

    flows: tuple[Flow, ...]
    noise: NoiseFacts | None

    def flow(self, key: str, detached: bool = False) -> Flow:
        """The flow of one route."""
        return next(f for f in self.flows if f.route.key == key and f.detached is detached)

    def as_dict(self) -> dict[str, Any]:
        """Plain values and arrays."""
        return {"flows": [f.as_dict() for f in self.flows], "noise": None if self.noise is None else asdict(self.noise)}


def triplet_gradients(opened: OpenSet, settings: Settings, seed: int = 0) -> Gradients:
    """The gradients of one training step on this triplet, with the model's own weights.

    The loss is 0.25 times label-smoothed cross-entropy (0.1) of identity 0 among 171, by a bias-free classifier with
    seeded weights of standard deviation 0.001 on the L2-normalised, sqrt(3C)-scaled sdtps feature: the reference's
    identity loss at the start of training. Scaling stands in for its batch norm, which one triplet cannot feed.

    Args:
        opened: the image set.
        settings: ratios, beta and tau (for the noise facts); the variant is each route's own.
        seed: of the classifier and the noise.
    """
    # Outside inference mode: tensors made inside cannot take part in a backward pass.
    tokens = Encoded(*({m: t.clone() for m, t in part.items()} for part in opened.encode().encoded))
    module: Any = deepcopy(opened.model.net.sdtps).cpu().requires_grad_()  # another selector has none of the routes
    module.sparse_ratio, module.aggr_ratio, module.beta = settings.sparse_ratio, settings.aggr_ratio, settings.beta
    width = 3 * next(iter(tokens.global_vectors.values())).shape[-1]
    head = torch.randn(width, IDENTITIES, generator=torch.Generator().manual_seed(seed)) * HEAD_STD

    def loss(feature: Tensor) -> Tensor:
        logits = F.normalize(feature, dim=-1) * width**0.5 @ head
        target = torch.zeros(len(feature), dtype=torch.long)
        return IDENTITY_WEIGHT * F.cross_entropy(logits, target, label_smoothing=SMOOTHING)

    with one_thread(), torch.enable_grad():
        return _all_routes(module, tokens, loss, seed, settings.tau)


def reference_gradients(seed: int = 0, batch: int = 8, patches: int = 128, dim: int = 512) -> Gradients:
    """The same on a seeded batch with a freshly initialised module, whatever the triplet: the published orders.

    Eight samples of four people, clustered tokens (one direction per modality, half as much per person, a third as much
    per patch), default initialisation, sparse ratio 0.5, aggregation ratio 0.4, beta 0.25. The loss is 0.25 times
    label-smoothed cross-entropy behind a batch norm, plus the soft-margin batch-hard triplet loss.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = MultiModalSDTPS(dim, patches)
    people = torch.arange(batch) // 2
    tokens, vectors = {}, {}
    identity = torch.randn(int(people.max()) + 1, 1, dim, generator=generator)
    for m in MODALITIES:
        common = torch.randn(1, 1, dim, generator=generator)
        own = torch.randn(batch, patches, dim, generator=generator)
        tokens[str(m)] = common + 0.5 * identity[people] + own / 3
        vectors[str(m)] = tokens[str(m)].mean(1) + torch.randn(batch, dim, generator=generator)
    head = torch.randn(3 * dim, IDENTITIES, generator=generator) * HEAD_STD
    norm = nn.BatchNorm1d(3 * dim)

    def loss(feature: Tensor) -> Tensor:
        entropy = F.cross_entropy(norm(feature) @ head, people, label_smoothing=SMOOTHING)
        return IDENTITY_WEIGHT * entropy + batch_hard_triplet(feature, people)

    with one_thread(), torch.enable_grad():
        return _all_routes(module, Encoded(tokens, vectors), loss, seed, None)


def _all_routes(module: MultiModalSDTPS, tokens: Encoded, loss: Loss, seed: int, tau: float | None) -> Gradients:
    flows: list[Flow] = []
    for detached in (False, True):
        calm: Tensor | None = None
        for route in ROUTES:
            # Weights without any SDTPS can show maps, but there is nothing in them that could learn.
            if lacking := module.supports(get_variant("importance" if module.empty else route.variant)):
                flows.append(Flow(route, detached, lacking))
                continue
            flow, patches = _flow(module, route, tokens, loss, detached, seed)
            if route.key == "final":
                calm = patches
            again = _flow(module, route, tokens, loss, detached, seed + 1)[1] if route.gumbel else None
            direction = NAN if calm is None else _cosine(patches, calm)
            agreement = NAN if again is None else _cosine(patches, again)
            flows.append(replace(flow, direction=direction, agreement=agreement))
    noise = None
    if tau is not None and not module.empty and not module.supports(get_variant("final")):
        noise = _noise_facts(module, tokens, tau, seed)
    return Gradients(tuple(flows), noise)


def _flow(
    module: MultiModalSDTPS, route: Route, tokens: Encoded, loss: Loss, detached: bool, seed: int
) -> tuple[Flow, Tensor]:
    """One backward pass; also the flattened patch gradient, to compare directions."""
    patches = {m: t.detach().requires_grad_() for m, t in tokens.patches.items()}
    vectors = {m: t.detach().requires_grad_() for m, t in tokens.global_vectors.items()}
    traces = _train_step(module, route, Encoded(patches, vectors), detached, seed)
    value = loss(torch.cat([traces[m].pooled for m in MODALITIES], dim=-1))
    groups: dict[str, list[Tensor]] = {
        "score": [traces[m].score for m in MODALITIES],
        "patches": list(patches.values()),
        "globals": list(vectors.values()),
        "predictor": [p for n, p in module.named_parameters() if "_sparse" in n],
        "aggregation": [p for n, p in module.named_parameters() if "_aggr" in n],
    }
    wanted = [t for group in groups.values() for t in group]
    found = iter(torch.autograd.grad(value, wanted, allow_unused=True))
    gradients = {name: [_or_zeros(next(found), t) for t in group] for name, group in groups.items()}
    score = {str(m): g for m, g in zip(MODALITIES, gradients["score"], strict=True)}
    kept = torch.cat([score[str(m)].gather(1, traces[m].keep).flatten() for m in MODALITIES])
    flat = torch.cat([g.flatten() for g in gradients["patches"]])
    return Flow(
        route,
        detached,
        loss=float(value.detach()),
        score={m: g.abs().numpy() for m, g in score.items()},
        zeros_kept=float((kept == 0).float().mean()),
        norms={name: _norm(group) for name, group in gradients.items()},
        finite=all(bool(torch.isfinite(g).all()) for group in gradients.values() for g in group),
    ), flat


def _train_step(module: MultiModalSDTPS, route: Route, tokens: Encoded, detached: bool, seed: int) -> dict[str, Trace]:
    """The module's own forward pass in training mode, with the route's switches and seeded noise."""
    worker = copy(module)
    worker.training = True  # on the copy alone; its children have no state that training would change
    worker.variant = get_variant(route.variant)
    worker.tau, worker.noise_clamp, worker.detach_attention = route.tau, route.clamp, detached
    generator = torch.Generator().manual_seed(seed)
    uniform = {m: torch.rand(t.shape[:2], generator=generator) for m, t in tokens.patches.items()}
    traces: dict[str, Trace] = worker(tokens.patches, tokens.global_vectors, uniform)
    return traces


def _noise_facts(module: MultiModalSDTPS, tokens: Encoded, tau: float, seed: int) -> NoiseFacts:
    with torch.no_grad():
        traces = _train_step(module, ROUTES[0], tokens, False, seed)
        scores = torch.cat([traces[m].score for m in MODALITIES])  # (M, N)
        hard = torch.cat([traces[m].mask for m in MODALITIES]).float()
        draws = torch.rand(NOISE_TRIALS, *scores.shape, generator=torch.Generator().manual_seed(seed))
        changed = sum(int((straight_through(hard, scores, gumbel_noise(draw), tau) != hard).sum()) for draw in draws)
        soft = soft_decision(scores, tau)
    return NoiseFacts(
        NOISE_TRIALS,
        changed,
        float(soft.sum(1).mean()),
        float(hard.sum(1).mean()),
        float(soft.max()),
        1.0 / scores.shape[1],
    )


def _or_zeros(gradient: Tensor | None, like: Tensor) -> Tensor:
    return torch.zeros_like(like) if gradient is None else gradient


def _norm(gradients: list[Tensor]) -> float:
    return float(torch.stack([g.double().norm() for g in gradients]).norm()) if gradients else NAN


def _cosine(a: Tensor, b: Tensor) -> float:
    x, y = a.double(), b.double()
    lengths = float(x.norm() * y.norm())
    return float(np.clip(float(x @ y) / lengths, -1.0, 1.0)) if lengths > 0 else NAN
