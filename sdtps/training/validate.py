"""mAP while training: of a folder's test split, or of generated people of worlds that training does not see."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from sdtps.checkpoints.load import ready, sha256_of_state
from sdtps.checkpoints.report import facts_of
from sdtps.datasets import open_dataset
from sdtps.models.backbone import HieraBackbone
from sdtps.models.reid import ReidModel
from sdtps.pipeline import forget
from sdtps.retrieval.evaluate import evaluate_folder, extract
from sdtps.retrieval.ranking import Retrieval, retrieval
from sdtps.runs.probe import evaluating
from sdtps.training.recipe import Recipe
from sdtps.training.sources import CachedTokens
from sdtps.types import Settings, WeightsReport

BATCH = 32
Validate = Callable[[ReidModel], Retrieval]


def scores(found: Retrieval) -> dict[str, float]:
    """What a validation is called in logs."""
    return {"mAP": found.mean_average_precision, "rank1": found.rank(1)}


@dataclass(frozen=True)
class TokenValidation:
    """Every generated picture is a query, all others its gallery; views of the same camera do not count."""

    source: CachedTokens
    settings: Settings

    def __call__(self, net: ReidModel) -> Retrieval:
        """Rank with the model as it is."""
        tokens, features = self.source.tokens, []
        device = next(net.parameters()).device
        module, backbone = net.sdtps, net.backbone
        assert isinstance(backbone, HieraBackbone)
        with evaluating(net):
            for start in range(0, len(tokens), BATCH):
                index = np.arange(start, min(start + BATCH, len(tokens)))
                encoded = net.reduce(backbone.adapt(self.source.features(net, index).to(device)))
                evidence = module.evidence(encoded.patches, encoded.global_vectors)
                features.append(net.test_feature(encoded, module.choose(evidence, self.settings)).float().cpu())
        found = torch.cat(features).numpy()
        apart = tokens.cam + 1000 * tokens.world  # cameras of different worlds are different cameras
        return retrieval(found, tokens.pid, apart, found, tokens.pid, apart)


@dataclass(frozen=True)
class FolderValidation:
    """The split of a folder by the reference protocol, through the same door as everything else."""

    folder: str
    split: str
    settings: Settings

    def __call__(self, net: ReidModel) -> Retrieval:
        """Rank with the model as it is."""
        dataset = open_dataset(self.folder)
        device = str(next(net.parameters()).device)
        wanted = [p.requires_grad for p in net.parameters()]
        with evaluating(net):
            report = WeightsReport("in training", sha256_of_state(net.state_dict()), True, 0, facts=facts_of(net))
            model = ready(net, report, device)
            try:
                found = extract(model, list(dataset.listing(self.split).records), self.settings)
            finally:
                forget(model.identity)
                for parameter, want in zip(net.parameters(), wanted, strict=True):
                    parameter.requires_grad_(want)
        return evaluate_folder(found, dataset.layout.apart)


def folder_validation(recipe: Recipe) -> FolderValidation | None:
    """The validation of a recipe that trains on a folder; None where it asks for none."""
    if recipe.validate is None or recipe.folder is None:
        return None
    return FolderValidation(recipe.folder, recipe.validate.split, recipe.trained_settings)
