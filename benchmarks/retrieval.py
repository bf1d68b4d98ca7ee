"""Exact search of one query in a large gallery, beside the bare product and top-k in torch that is its limit."""

from pathlib import Path

import numpy as np
import torch

from benchmarks.measure import Bar, Detail, Findings, Row, exponent, ratio, take_turns
from sdtps.datasets import Apart, Record
from sdtps.retrieval.ranking import Gallery

DIM = 1536  # of the embedded model's feature
LENGTH = 10
PEOPLE = 500
BAR = Bar(3)
NOTE = (
    "Ours finds candidates in single precision, orders them in double, and also gives average precision, the place of "
    "the first right one, and what the protocol leaves out; the bare search is one float32 product with normalised "
    "features and the ten largest. "
    "Brute force is enough, so no search library is used."
)


def gallery(size: int, seed: int = 0) -> tuple[np.ndarray, list[Record]]:
    """(G, 1536) random features and their records."""
    features = np.random.default_rng(seed).standard_normal((size, DIM), np.float32)
    paths = (Path("rgb.png"), Path("nir.png"), Path("tir.png"))
    return features, [Record(f"{i}.png", paths, i % PEOPLE, i % 7) for i in range(size)]


def search(size: int, rounds: int) -> Row:
    """One query against `size` features."""
    features, records = gallery(size)
    query = features[size // 2]
    unit = torch.nn.functional.normalize(torch.from_numpy(features), dim=1)
    bare_query = unit[size // 2]

    prepared = Gallery(features, records)  # as the bare search has its features normalised beforehand

    def ours() -> None:
        prepared.search(query, records[size // 2], Apart.CAMERA, LENGTH)

    def bare() -> None:
        torch.topk(unit @ bare_query, LENGTH)

    times = take_turns({"ours": ours, "bare": bare}, rounds, warm_up=1)
    return ratio(f"rank list of {size:,} / bare search in torch", times["ours"], times["bare"], BAR)


def run(quick: bool) -> Findings:
    """Ten thousand and a hundred thousand."""
    sizes = (2_000, 10_000) if quick else (10_000, 100_000)
    rows = [search(size, 3 if quick else 9) for size in sizes]
    slope = exponent(sizes, [row.value for row in rows])
    lines = tuple((f"{size:,}", f"{row.value:.0f}") for size, row in zip(sizes, rows, strict=True))
    note = f"{NOTE} Time grows with size^{slope:.2f}."
    return Findings(tuple(rows), (Detail("Rank list of one query", ("gallery", "ms"), lines, note),))
