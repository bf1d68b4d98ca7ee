"""A folder of triplets → a folder of results: arrays and overlays of each, one summary of all.

maps/NAME.npz       every array of the triplet (names: `sdtps.records`)
overlays/NAME.jpg   per modality: photograph, score, kept patches
rows/NAME.json      its numbers in short; written last, so that what has a row is complete
summary.csv         all rows (and summary.parquet where pyarrow is installed)
frequency.npz       how often each patch is kept, per modality, (rows, cols)
index.html          contact sheet
batch.json          settings, weights, versions
"""

from sdtps.export.batch.folder import ResultFolder
from sdtps.export.batch.run import run_local
from sdtps.export.batch.summary import write_summary
from sdtps.export.batch.work import Item, Task, items_of

__all__ = ["Item", "ResultFolder", "Task", "items_of", "run_local", "write_summary"]
