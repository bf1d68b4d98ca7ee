"""`bundle` and `supplement`: one analysis as a zip that opens again, or as a page that needs no server."""

import argparse

from tqdm import tqdm

from sdtps.cli import options as commands
from sdtps.cli.figure import add_look, look_from
from sdtps.export.bundle import write_bundle
from sdtps.support.files import write_whole


def add_commands(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Describe both commands."""
    bundle = subparsers.add_parser(
        "bundle",
        help="write a zip with figure, inputs, every array and where they come from",
        description="The zip opens again on the page and in every command that takes pictures: the same numbers, to "
        "the bit. README.txt inside names the arrays.",
    )
    commands.add_triplet(bundle)
    bundle.add_argument("--out", required=True, help="the .zip")
    add_look(bundle)
    commands.add_model(bundle)
    commands.add_settings(bundle)
    bundle.set_defaults(run=run_bundle)

    supplement = subparsers.add_parser(
        "supplement",
        help="write one HTML file with the interactive grid, for supplementary material",
        description="The page needs no server and no network. The sparse ratio moves freely; beta, aggregation and tau "
        "move over values that are computed now and put into the file, which stays below 3 MB.",
    )
    commands.add_triplet(supplement)
    supplement.add_argument("--out", required=True, help="the .html")
    commands.add_model(supplement)
    commands.add_settings(supplement)
    supplement.set_defaults(run=run_supplement)


def run_bundle(options: argparse.Namespace) -> int:
    """Analyse and pack."""
    look = look_from(options)
    opened = commands.open_triplet(options)
    content = write_bundle(opened.analysis, opened.pixels, look, opened.sources)
    write_whole(options.out, content)
    print(f"written: {options.out} ({len(content) / 2**20:.1f} MB)")
    return 0


def run_supplement(options: argparse.Namespace) -> int:
    """Compute all steps and write the page."""
    from sdtps.export.supplement import write_supplement

    opened = commands.open_triplet(options)
    model = commands.load(options)
    if model.weights.sha256 != opened.weights_sha256:
        raise ValueError("A supplement needs the weights of its bundle; give them with --weights.")
    with tqdm(unit="step") as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        page = write_supplement(model, opened.analysis, opened.pixels, progress)
    write_whole(options.out, page.encode())
    print(f"written: {options.out} ({len(page.encode()) / 2**20:.1f} MB)")
    return 0
