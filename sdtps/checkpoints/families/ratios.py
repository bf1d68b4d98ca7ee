"""The ratios of a training from the number of tokens in its weights, and a check of what a YAML file says."""

from collections.abc import Mapping

from sdtps.algorithm.aggregation import aggregated_count
from sdtps.support.errors import CheckpointError
from sdtps.support.messages import Message

# Sparse and aggregation ratio, most often published first: logged runs, notes and configurations of the public fork.
PUBLISHED = ((0.7, 0.5), (0.5, 0.4), (0.6, 0.4), (0.6, 0.5), (0.8, 0.5), (0.75, 0.5), (0.9, 0.5), (0.5, 0.5),
             (0.7, 0.4), (0.8, 0.4), (0.7, 0.3), (0.7, 0.6), (0.6, 0.6), (0.5, 0.3))  # fmt: skip
USUAL = 0.7  # sparse ratio of most logged runs


def trained_ratios(
    name: str, patches: int, rows: int, told: Mapping[str, float], force: bool
) -> tuple[dict[str, float], list[Message]]:
    """Sparse and aggregation ratio of a training, and what to say about where they come from.

    Args:
        name: of the checkpoint.
        patches: N.
        rows: N_c, which the weights have.
        told: what the training's YAML file says, as far as it does.
        force: take the weights' word where the YAML file contradicts them, instead of refusing.
    """
    asked = {k: told[k] for k in ("sparse_ratio", "aggr_ratio") if k in told}
    if len(asked) == 2:
        made = aggregated_count(patches, asked["aggr_ratio"], asked["sparse_ratio"])
        if made == rows:
            return asked, []
        text = (
            "The YAML file says sparse ratio {sparse} and aggregation ratio {aggr}, which make {made} tokens, but "
            "{name!r} was trained with {rows}; give the file of this training, or none."
        )
        values = {"sparse": asked["sparse_ratio"], "aggr": asked["aggr_ratio"], "made": made, "rows": rows}
        if not force:
            raise CheckpointError("config.contradicts", text, name=name, **values)
        asked = {}
    fitting = [
        {"sparse_ratio": sparse, "aggr_ratio": aggr}
        for sparse, aggr in PUBLISHED
        if aggregated_count(patches, aggr, sparse) == rows
    ]
    fitting = [pair for pair in fitting if all(pair[k] == v for k, v in asked.items())] or fitting
    if fitting:
        text = (
            "The weights make {rows} tokens of {patches} patches, as the published pair of sparse ratio {sparse} and "
            "aggregation ratio {aggr} does; it is taken."
        )
        code, pair = "weights.assumed.pair", fitting[0]
    else:
        text = (
            "No published pair makes {rows} tokens of {patches} patches; sparse ratio {sparse} is taken, and "
            "aggregation ratio {aggr}, which does."
        )
        code, pair = "weights.assumed.no_pair", _own_pair(patches, rows, asked)
    values = {"rows": rows, "patches": patches, "sparse": pair["sparse_ratio"], "aggr": pair["aggr_ratio"]}
    return pair, [Message(code, text, **values)]


def _own_pair(patches: int, rows: int, asked: Mapping[str, float]) -> dict[str, float]:
    """A pair that makes so many tokens, as near to the usual one as can be."""
    sparse = asked.get("sparse_ratio", max(USUAL, min(1.0, (rows + 0.5) / patches)))
    return {"sparse_ratio": sparse, "aggr_ratio": min(1.0, round((rows + 0.5) / (patches * sparse), 4))}
