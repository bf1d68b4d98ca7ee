"""Write the example triplets of assets/examples/: generated people, one picture per modality and the person's mask.

usage: python -m scripts.make_examples
"""

import json
from pathlib import Path

import numpy as np
from PIL import Image

from sdtps.training.synth import sample

OUT = Path(__file__).resolve().parent.parent / "assets" / "examples"
# name, English and Chinese title, (seed, pid, view), forced tags
EXAMPLES = (
    ("day", "Day", "白天", (77, 102, 2), ("day",)),
    ("night", "Night", "夜晚", (78, 105, 5), ("night",)),
    ("black-rgb", "Black RGB", "可见光全黑", (81, 101, 1), ("night", "black_rgb")),
    ("glare", "Glare", "强光", (79, 104, 4), ("night", "glare")),
    ("saturated-nir", "Saturated NIR", "近红外过曝", (82, 104, 4), ("day", "saturated_nir")),
    ("flat-tir", "Flat thermal", "热红外无对比", (83, 105, 5), ("day", "flat_tir")),
    ("occluded", "Occluded", "遮挡", (84, 108, 8), ("day", "occluded")),
    ("bag", "With a bag", "携带包", (85, 107, 7), ("day", "bag")),
    ("two-people", "Two people", "两个人", (86, 106, 6), ("day", "two_people")),
    ("fog", "Fog", "雾", (80, 104, 4), ("day", "fog")),
)


def main() -> None:
    """Write all of them."""
    index = []
    for name, english, chinese, (seed, pid, view), tags in EXAMPLES:
        person = sample(pid, view, seed=seed, force=tags)
        folder = OUT / name
        folder.mkdir(parents=True, exist_ok=True)
        mask = np.where(person.person, 255, np.where(person.others, 64, 0)).astype(np.uint8)
        for stem, pixels in (("rgb", person.rgb), ("nir", person.nir), ("tir", person.tir), ("mask", mask)):
            Image.fromarray(pixels).save(folder / f"{stem}.png", optimize=True)
        index.append({"name": name, "title": {"en": english, "zh": chinese}})
    (OUT / "examples.json").write_text(json.dumps(index, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
