"""Folders of triplets on disk: RGBNT201, RGBNT100, MSVR310, WMVeID863 and plain folders, found by looking."""

from sdtps.datasets.dataset import LAYOUTS, Dataset, open_dataset, read_rgbnt201
from sdtps.datasets.records import UNKNOWN, Apart, Broken, Layout, Listing, Record

__all__ = [
    "LAYOUTS",
    "UNKNOWN",
    "Apart",
    "Broken",
    "Dataset",
    "Layout",
    "Listing",
    "Record",
    "open_dataset",
    "read_rgbnt201",
]
