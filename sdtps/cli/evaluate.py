"""`evaluate`: how well a data set is retrieved, by the reference protocol."""

import argparse
from dataclasses import asdict

from sdtps.cli import options as shared
from sdtps.cli import work
from sdtps.cli.weights import not_run

EXAMPLES = """
    evaluate RGBNT201 --weights DeMobest.pth --config DeMo_SDTPS.yml
    evaluate RGBNT201 --sparse-ratio 0.5 --missing
    evaluate RGBNT201 --split test --json
"""


def add_command(commands: shared.Subparsers) -> None:
    """Describe the command."""
    short = "mAP and Rank-k of a data set by the reference protocol"
    parser = shared.add_command(commands, "evaluate", short, EXAMPLES)
    work.add_searched(parser)
    parser.add_argument("--missing", action="store_true", help="with a table of missing modalities: r n t rn rt nt")
    work.add_measuring(parser, run)


def run(options: argparse.Namespace) -> int:
    """Search, judge and print."""
    from sdtps.retrieval.evaluate import evaluate

    dataset = work.searched(options)
    model = shared.load(options)
    results, queries = evaluate(dataset, work.feature_reader(options, model, dataset), missing_table=options.missing)
    facts = model.weights.facts
    if options.json:
        scores = {
            name or "all": {"mAP": r.mean_average_precision} | {f"rank_{k}": r.rank(k) for k in (1, 5, 10)}
            for name, r in results.items()
        }
        maps = {m: asdict(quality) for m, quality in queries.quality.items()}
        feature = {"feature": list(facts["feature"]), "not_run": list(facts.get("not_run", ()))}
        shared.print_json({"data": dataset.layout.name, "retrieval": scores, "maps": maps} | feature)
        return 0
    whole = results[""]
    apart = dataset.layout.apart
    print(f"{dataset.layout.name}: query {dataset.query}, gallery {dataset.gallery}")
    print(f"test feature [{', '.join(facts['feature'])}]{not_run(model.weights)}")
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
