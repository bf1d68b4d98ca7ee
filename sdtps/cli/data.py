"""`python -m sdtps data | index | evaluate`: what is in a folder, its features, and how well it is retrieved."""

import argparse
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sdtps.support.progress import progress_bar

if TYPE_CHECKING:
    from sdtps.datasets import Dataset

SHOWN_BROKEN = 10


def add_commands(commands: Any) -> None:
    """Add the three commands to the parser."""
    data = commands.add_parser("data", help="say which data set a folder holds, its splits, and what is broken in it")
    data.add_argument("folder")
    data.add_argument("--all", action="store_true", help=f"list every broken file, not the first {SHOWN_BROKEN}")
    data.set_defaults(run=_data)

    index = commands.add_parser("index", help="compute the features of a data set once, for rank lists and evaluate")
    index.add_argument("folder", help="RGBNT201, RGBNT100, MSVR310, WMVeID863 or a plain folder; found by looking")
    index.add_argument("--split", action="append", help="a split; repeat for several (default: query and gallery)")
    _add_feature_options(index)
    index.set_defaults(run=_index)

    evaluate = commands.add_parser("evaluate", help="mAP and Rank-k of a data set by the reference protocol")
    evaluate.add_argument("folder", help="RGBNT201, RGBNT100, MSVR310, WMVeID863 or a plain folder; found by looking")
    evaluate.add_argument("--split", help="take one split as both query and gallery")
    evaluate.add_argument("--missing", action="store_true", help="with a table of missing modalities: r n t rn rt nt")
    _add_feature_options(evaluate)
    evaluate.set_defaults(run=_evaluate)


def _add_feature_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--weights", help="a checkpoint; the embedded model by default")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--sparse-ratio", type=float, default=0.3)
    parser.add_argument("--aggr-ratio", type=float, default=0.4)
    parser.add_argument("--beta", type=float, default=0.25)
    parser.add_argument("--variant", default="final")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    parser.add_argument("--cache", help="folder for features (default: $SDTPS_CACHE or ~/.cache/sdtps-lens)")


def _data(options: argparse.Namespace) -> int:
    from sdtps.datasets import UNKNOWN, open_dataset

    dataset = open_dataset(options.folder)
    print(f"{dataset.layout.name}; query {dataset.query}, gallery {dataset.gallery}")
    for split in dataset.folders:
        found = dataset.listing(split)
        people = len({r.pid for r in found.records} - {UNKNOWN})
        cameras = len({r.cam for r in found.records} - {UNKNOWN})
        print(f"{split}: {len(found.records)} triplets, {people} identities, {cameras} cameras")
        if found.broken:
            print(f"  {len(found.broken)} broken")
        for broken in found.broken[: None if options.all else SHOWN_BROKEN]:
            print(f"    {broken.name}: {broken.why}")
    return 0


def _index(options: argparse.Namespace) -> int:
    from sdtps.datasets import open_dataset

    dataset = open_dataset(options.folder)
    features = _features(options, dataset)
    outcome = {}
    for split in options.split or dict.fromkeys((dataset.query, dataset.gallery)):
        found = features(split, [frozenset()])[frozenset()]
        outcome[split] = {"triplets": len(found.records), "left_out": [b.name for b in found.broken]}
        if options.json:
            continue
        print(f"{split}: {len(found.records)} triplets indexed, {found.features.shape[1]} numbers each")
        for broken in found.broken:
            print(f"  left out {broken.name}: {broken.why}")
    if options.json:
        print(json.dumps(outcome))
    return 0


def _evaluate(options: argparse.Namespace) -> int:
    from sdtps.datasets import open_dataset
    from sdtps.retrieval.evaluate import evaluate

    dataset = open_dataset(options.folder)
    if options.split:
        dataset = dataset.narrowed(options.split)
    results, queries = evaluate(dataset, _features(options, dataset), missing_table=options.missing)
    if options.json:
        scores = {
            name or "all": {"mAP": r.mean_average_precision} | {f"rank_{k}": r.rank(k) for k in (1, 5, 10)}
            for name, r in results.items()
        }
        maps = {m: asdict(quality) for m, quality in queries.quality.items()}
        print(json.dumps({"data": dataset.layout.name, "retrieval": scores, "maps": maps}))
        return 0
    whole = results[""]
    apart = dataset.layout.apart
    print(f"{dataset.layout.name}: query {dataset.query}, gallery {dataset.gallery}")
    print(f"{whole.queries} queries, {whole.skipped} without a match under another {apart}")
    ranks = "  ".join(f"Rank-{r} {whole.rank(r):.3f}" for r in (1, 5, 10))
    print(f"mAP {whole.mean_average_precision:.3f}  {ranks}")
    if options.missing:
        print("missing    mAP  Rank-1  Rank-5  Rank-10")
        for name, result in results.items():
            ranks = "".join(f"{result.rank(r):8.3f}" for r in (1, 5, 10))
            print(f"{name or '-':<7}{result.mean_average_precision:7.3f}{ranks}")
    for m, quality in queries.quality.items():
        aucs = "  ".join(f"{name} {value:.3f}" for name, value in quality.auc.items())
        kept = f"precision of the kept {quality.precision:.3f} of at most {quality.best_precision:.3f}"
        print(f"{m.upper()}: {kept}; AUC {aucs}")
        print("     correlation " + "  ".join(f"{pair} {value:.2f}" for pair, value in quality.correlation.items()))
    return 0


def _features(options: argparse.Namespace, dataset: "Dataset") -> Any:
    """Features of a split by missing modalities, from the store or through the model, with a progress bar."""
    import sdtps
    from sdtps.retrieval.feature_store import FeatureStore

    settings = sdtps.Settings(options.sparse_ratio, options.aggr_ratio, options.beta, variant=options.variant)
    model = sdtps.load_model(options.weights, options.device)
    if lacking := model.net.sdtps.supports(sdtps.VARIANTS[settings.variant]):
        raise ValueError(lacking)
    store = FeatureStore(options.cache)

    def features(split: str, conditions: Any) -> Any:
        with progress_bar(len(dataset.listing(split).records), split) as progress:
            found = store.features(model, dataset, split, settings, conditions, batch=options.batch, progress=progress)
            progress(len(dataset.listing(split).records), 0)
        return found

    return features
