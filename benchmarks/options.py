"""int8 and `torch.compile` on the embedded backbone: an option only if it pays at the same features.

Both are tried on a copy of the backbone with the same triplet, beside the bare forward. To pay, one must be clearly
quicker and keep the cosine of the features at 0.999; what cannot run here is told with its reason.
"""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.measure import Findings, Row, ratio, take_turns
from benchmarks.subjects import embedded, input_tensor

COSINE = 0.999
WORTH = 0.9  # of the bare forward's time: less gain is not worth an option


def int8(backbone: nn.Module) -> nn.Module:
    """Dynamic quantisation of every linear layer."""
    from torch.ao.quantization import quantize_dynamic

    return quantize_dynamic(backbone, {nn.Linear}, dtype=torch.qint8)


def compiled(backbone: nn.Module) -> Callable[..., Any]:
    """Inductor, in its default mode."""
    return torch.compile(backbone)


ATTEMPTS: dict[str, Callable[[nn.Module], Callable[..., Any]]] = {"int8 linear layers": int8, "torch.compile": compiled}


def features(backbone: Callable[..., Any], images: Tensor) -> Tensor:
    """Everything a backbone gives, as one vector."""
    with torch.inference_mode():
        return torch.cat([part.flatten() for part in backbone(images)])


def verdict(row: Row, cosine: float) -> str:
    """One sentence: whether it pays."""
    if cosine < COSINE:
        reason = f"changes the features (cosine {cosine:.5f}, at least {COSINE} is asked)"
    elif row.ratio > WORTH:
        reason = f"takes {row.ratio:.2f} of the bare forward's time at a cosine of {cosine:.5f}: not worth an option"
    else:
        reason = f"takes {row.ratio:.2f} of the bare forward's time at a cosine of {cosine:.5f}: it would pay here"
    return f"{row.name.partition(' / ')[0]} {reason}."


def attempt(name: str, backbone: nn.Module, images: Tensor, rounds: int) -> tuple[Row | None, str]:
    """A row and a sentence; without a row where it cannot run."""
    try:
        changed = ATTEMPTS[name](copy.deepcopy(backbone))
        found = features(changed, images)
    except Exception as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        return None, f"{name} cannot run here: {reason[:200]}"
    cosine = float(torch.nn.functional.cosine_similarity(found, features(backbone, images), dim=0))
    contenders = {"changed": lambda: features(changed, images), "bare": lambda: features(backbone, images)}
    times = take_turns(contenders, rounds, warm_up=1)
    row = ratio(f"{name} / bare forward, embedded", times["changed"], times["bare"])
    return row, verdict(row, cosine)


def run(quick: bool) -> Findings:
    """Both, where there is time: compiling takes a minute, so a quick run leaves it out."""
    backbone, images = embedded().net.backbone, input_tensor(embedded())
    names = [name for name in ATTEMPTS if not (quick and name == "torch.compile")]
    found = [attempt(name, backbone, images, 4 if quick else 15) for name in names]
    return Findings(tuple(row for row, _ in found if row is not None), notes=tuple(text for _, text in found))
