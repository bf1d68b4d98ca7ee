"""An analysis as plain arrays and plain facts, and back, to the bit. Bundles, batches and the HTTP API all use it.

Names of the arrays, for each modality `rgb`, `nir`, `tir` (N patches, K kept, N_c aggregated tokens, C channels):

    rgb.self_attention            (N,)      cosine with the own global vector, min-max normalised
    rgb.cross_attention.nir       (N,)      the same with the global vector of another modality
    rgb.raw_self_attention        (N,)      the cosine itself
    rgb.raw_cross_attention.nir   (N,)      the cosine itself
    rgb.predictor                 (N,)      learned score; absent where the weights have none
    rgb.score                     (N,)      fused score
    rgb.keep, rgb.drop            (K,), (N-K,)  patch numbers, best first; numbered row by row
    rgb.mask                      (N,)      True where kept
    rgb.soft_mask                 (N,)      softmax(score / tau); absent where the selector has no tau
    rgb.selection_frequency       (N,)      share of Gumbel top-K draws that keep the patch; likewise
    rgb.aggregation_weights       (N_c, K)  columns follow keep
    rgb.dense_keep, rgb.dense_aggregation_weights   second branch, in variants that have one
    rgb.extra_weights             (N-K,)    weights of the extra token, follow drop
    rgb.token_norm                (N,)      L2 norm of the patch tokens
    rgb.pooled                    (C,)      mean of the final tokens
    rgb.weights                   (N,)      mask of a soft selector, which drops nothing; keep is then only a guide
    rgb.groups                    (N,)      why a patch is kept: 1 own modality, 2 another, 3 both, 4 filled up
    rgb.maps.NAME                 (N,)      maps that the selector names besides
    rgb.numbers.NAME              (...)     what the selector says about the modality
    fusion.NAME                   (...)     expert weights, gates and attention of the fusion
    feature                       (D,)      the test feature, not normalised; the weights' facts name its parts
"""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.checkpoints.about import checked_about
from sdtps.support.errors import InputError
from sdtps.support.messages import Message, as_note, plain
from sdtps.types import MODALITIES, Analysis, Grid, ModalityTrace, Settings, WeightsGroup, WeightsReport

Arrays = dict[str, NDArray[Any]]
Facts = dict[str, Any]

MAX_ARRAYS = 256
MAX_CAMERAS = 10_000
MAX_ARRAY_BYTES = 64 * 2**20
NPY_HEADER = 2**14
FIELDS = tuple(f.name for f in fields(ModalityTrace) if f.name != "missing")
NAMED = ("maps", "numbers")  # of a selector, under names that it gives
OPTIONAL = frozenset({"predictor", "aggregation_weights", "dense_keep", "dense_aggregation_weights", "soft_mask",
                      "selection_frequency", "weights", "groups"})  # fmt: skip


def arrays_of(analysis: Analysis) -> Arrays:
    """Every array of an analysis by its documented name."""
    arrays: Arrays = {}
    for m, trace in analysis.traces.items():
        for name in FIELDS:
            value = getattr(trace, name)
            if isinstance(value, Mapping):
                arrays |= {f"{m}.{name}.{other}": array for other, array in value.items()}
            elif value is not None:
                arrays[f"{m}.{name}"] = value
    return (
        arrays | {f"fusion.{name}": values for name, values in analysis.fusion.items()} | {"feature": analysis.feature}
    )


def facts_of(analysis: Analysis) -> Facts:
    """Everything else, as JSON can hold it."""
    return {
        "grid": {"rows": analysis.grid.rows, "cols": analysis.grid.cols},
        "settings": analysis.settings.as_dict(),
        "weights": weights_facts(analysis.weights),
        "camera": analysis.camera,
        "missing": [m for m, trace in analysis.traces.items() if trace.missing],
        "notes": [as_note(n) for n in analysis.notes],
    }


def as_json(analysis: Analysis) -> Facts:
    """Facts and arrays in one; a float32 as JSON is read back to the same bits."""
    return facts_of(analysis) | {"arrays": {name: array.tolist() for name, array in arrays_of(analysis).items()}}


def weights_facts(report: WeightsReport) -> Facts:
    """A report on weights as plain values; sentences with their codes."""
    return report.as_dict() | {
        "notes": [as_note(n) for n in report.notes],
        "assumed": [as_note(n) for n in report.assumed],
    }


def analysis_from(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Analysis:
    """The inverse of `arrays_of` and `facts_of`; raises KeyError, TypeError or ValueError on anything odd."""
    grid = Grid(int(facts["grid"]["rows"]), int(facts["grid"]["cols"]))
    missing = set(facts["missing"])
    analysis = Analysis(
        traces={str(m): _trace(arrays, str(m), m in missing) for m in MODALITIES},
        grid=grid,
        settings=Settings(**facts["settings"]),
        feature=arrays["feature"],
        weights=_report(facts["weights"]),
        notes=tuple(_note(n) for n in facts["notes"]),
        camera=_camera(facts.get("camera")),  # the first bundles did not hold it
        fusion=_below(arrays, "fusion"),
    )
    for trace in analysis.traces.values():
        _check(trace, grid.patches)
    feature = analysis.feature
    if feature.ndim != 1 or not len(feature) or feature.dtype.kind != "f" or not np.isfinite(feature).all():
        raise ValueError("feature")
    return analysis


def pack_npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The arrays as one `.npz`; the same arrays are the same bytes."""
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def unpack_npz(content: bytes) -> Arrays:
    """The arrays of an `.npz` that may come from anyone: no pickles, and no more memory than its size promises."""
    arrays: Arrays = {}
    if content.count(b"PK\x01\x02") > MAX_ARRAYS:  # before the reader makes an object of each
        raise ValueError("too large")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        if len(members) > MAX_ARRAYS or sum(m.file_size for m in members) > MAX_ARRAY_BYTES:
            raise ValueError("too large")
        for member in members:
            with archive.open(member) as stream:
                arrays[member.filename.removesuffix(".npy")] = _array(stream.read(MAX_ARRAY_BYTES + 1))
    return arrays


def _array(content: bytes) -> NDArray[Any]:
    """One `.npy`: the header is read before anything is allocated."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError("version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream, max_header_size=NPY_HEADER)
    if dtype.kind not in "fib" or fortran or len(content) - stream.tell() != int(np.prod(shape)) * dtype.itemsize:
        raise ValueError("array")
    return np.frombuffer(content, dtype, offset=stream.tell()).reshape(shape).copy()


def _trace(arrays: Mapping[str, NDArray[Any]], modality: str, missing: bool) -> ModalityTrace:
    values: dict[str, Any] = {"missing": missing}
    for name in FIELDS:
        key = f"{modality}.{name}"
        if "cross_attention" in name:
            values[name] = {str(o): arrays[f"{key}.{o}"] for o in MODALITIES if o != modality}
        elif name in NAMED:
            values[name] = _below(arrays, key)
        else:
            values[name] = arrays.get(key) if name in OPTIONAL else arrays[key]
    return ModalityTrace(**values)


def _below(arrays: Mapping[str, NDArray[Any]], start: str) -> Arrays:
    """The arrays under a common name."""
    return {k.removeprefix(f"{start}."): v for k, v in arrays.items() if k.startswith(f"{start}.")}


def _check(trace: ModalityTrace, patches: int) -> None:
    """Kinds and shapes fit together, every number is one, and keep and drop are the patches, each once."""
    maps = [trace.self_attention, trace.raw_self_attention, trace.score, trace.token_norm]
    maps += [*trace.cross_attention.values(), *trace.raw_cross_attention.values(), *trace.maps.values()]
    optional = (trace.predictor, trace.soft_mask, trace.selection_frequency, trace.weights)
    maps += [values for values in optional if values is not None]
    weights = [(trace.aggregation_weights, trace.keep), (trace.dense_aggregation_weights, trace.dense_keep)]
    branches = [(w, k) for w, k in weights if w is not None and k is not None]
    orders = [trace.keep, trace.drop, *([] if trace.dense_keep is None else [trace.dense_keep])]
    numbers = [*maps, trace.extra_weights, trace.pooled, *(w for w, _ in branches), *trace.numbers.values()]
    sound = (
        all(m.shape == (patches,) for m in (*maps, trace.mask))
        and trace.mask.dtype == np.bool_
        and all(o.ndim == 1 and o.dtype.kind == "i" for o in orders)
        and (len(trace.keep) > 0 or trace.groups is not None)
        and (trace.groups is None or (trace.groups.shape == (patches,) and trace.groups.dtype.kind == "i"))
        and np.array_equal(np.sort(np.concatenate([trace.keep, trace.drop])), np.arange(patches))
        and (trace.dense_keep is None or np.isin(trace.dense_keep, np.arange(patches)).all())
        and trace.extra_weights.shape == trace.drop.shape
        and all(w.ndim == 2 and w.shape[1:] == k.shape for w, k in branches)
        and all(n.dtype.kind == "f" and np.isfinite(n).all() for n in numbers)
    )
    if not sound:
        raise ValueError("shapes")


def _report(values: Mapping[str, Any]) -> WeightsReport:
    """What this version knows of a report."""
    chosen: dict[str, Any] = {f.name: values[f.name] for f in fields(WeightsReport) if f.name in values}
    for name, value in chosen.items():
        if name in ("notes", "assumed"):
            chosen[name] = tuple(_note(n) for n in value)
        elif name == "about":
            chosen[name] = checked_about(value)
        elif name == "groups":
            chosen[name] = tuple(_group(g) for g in value)
        elif isinstance(value, list):
            chosen[name] = tuple(value)
        elif isinstance(value, str):
            chosen[name] = plain(value)
    report = WeightsReport(**chosen)
    texts = (report.name, report.sha256, report.family, *report.missing, *report.unexpected, *report.unused)
    if not all(isinstance(t, str) for t in texts) or not isinstance(report.loaded, int):
        raise ValueError("weights")
    return report


def _camera(label: Any) -> int | None:
    if label is not None and (not isinstance(label, int) or isinstance(label, bool) or not 0 <= label < MAX_CAMERAS):
        raise ValueError("camera")
    return label


def _group(values: Mapping[str, Any]) -> WeightsGroup:
    lists = {k: tuple(v) for k, v in values.items() if isinstance(v, list)}
    return WeightsGroup(**{**values, **lists})


def _note(note: Mapping[str, Any]) -> str:
    text = str(note["text"])
    if note.get("code") is None:
        return plain(text)
    values = {k: _note(v) if isinstance(v, Mapping) else v for k, v in note["values"].items()}  # a note may hold a note
    return Message.restored(str(note["code"]), text, values)


def refuse_damaged(what: str) -> InputError:
    """The answer to a file whose inside is not what it should be."""
    return InputError("bundle.damaged", "{what} is damaged or was changed; export it again.", what=what)
