"""Write the example image sets of assets/examples/: rendered people, one picture per modality and the person's mask.

usage: python -m scripts.make_examples [NAME ...]

256x512 pixels, nine samples per pixel. The same bytes again on the same machine; needs the extra `synth`.
"""

import argparse
import json
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from sdtps.resources import EXAMPLES
from sdtps.training.people import sample
from sdtps.training.people.wear.wardrobe import person_of
from sdtps.training.synth.writer import mask_image

SCALE, FINE, SHARP = 2, 3, 0.8


@dataclass(frozen=True)
class Case:
    """One example: its name, titles, seed, person and view, what must happen, and whether another wears the clothes."""

    name: str
    english: str
    chinese: str
    key: tuple[int, int, int]
    tags: tuple[str, ...]
    other_body: bool = False


CASES = (
    Case("day", "Day", "白天", (72, 102, 1), ("day",)),
    Case("night", "Night", "夜晚", (73, 103, 2), ("night",)),
    Case("black-rgb", "Black RGB", "可见光全黑", (71, 101, 0), ("night", "black_rgb")),
    Case("glare", "Glare", "强光", (92, 106, 1), ("night", "glare")),
    Case("saturated-nir", "Saturated NIR", "近红外过曝", (76, 106, 1), ("day", "saturated_nir")),
    Case("flat-tir", "Flat thermal", "热红外无对比", (74, 104, 3), ("day", "flat_tir")),
    Case("occluded", "Occluded", "遮挡", (88, 102, 1), ("day", "occluded")),
    Case("bag", "With a bag", "携带包", (75, 105, 0), ("day", "bag", "backpack")),
    Case("two-people", "Two people", "两个人", (87, 101, 0), ("day",)),
    Case("fog", "Fog", "雾", (83, 103, 2), ("day", "fog")),
    Case("cycling", "Cycling", "骑车", (89, 103, 2), ("day",)),
    Case("rain", "Rain", "雨", (84, 104, 3), ("day", "rain", "umbrella")),
    Case("same-clothes-a", "Same clothes, person A", "同衣 · 甲", (95, 109, 0), ("day",)),
    Case("same-clothes-b", "Same clothes, person B", "同衣 · 乙", (95, 109, 2), ("day",), other_body=True),
)


def write(case: Case) -> None:
    """The three pictures and the mask of one case."""
    seed, pid, view = case.key
    body = None
    if case.other_body:
        own = person_of(pid, seed).build
        heavier = 0.8 if own.weight < 0.1 else -0.7
        body = replace(own, weight=heavier, height=-own.height, muscle=-own.muscle)
    shot = sample(pid, view, seed, case.tags, SCALE, FINE, SHARP, body)
    folder = EXAMPLES / case.name
    folder.mkdir(parents=True, exist_ok=True)
    for stem, pixels in (("rgb", shot.rgb), ("nir", shot.nir), ("tir", shot.tir), ("mask", mask_image(shot))):
        # Grey pictures are stored as such; whoever reads them makes three channels of one.
        flat = pixels.ndim == 3 and bool((pixels == pixels[..., :1]).all())
        Image.fromarray(np.ascontiguousarray(pixels[..., 0]) if flat else pixels).save(
            folder / f"{stem}.png", optimize=True
        )


def main() -> None:
    """Write all of them, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    chosen = set(parser.parse_args().names)
    for case in CASES:
        if not chosen or case.name in chosen:
            write(case)
    index = [{"name": c.name, "title": {"en": c.english, "zh": c.chinese}} for c in CASES]
    text = json.dumps(index, ensure_ascii=False, indent=2) + "\n"
    (EXAMPLES / "examples.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
