"""Write assets/gallery/: twelve rendered people seen by four cameras, in the RGBNT201 layout, with masks.

usage: python -m scripts.make_gallery

The same bytes again on the same machine; needs the extra `synth`.
"""

from sdtps.resources import GALLERY
from sdtps.training.synth import write_rgbnt201

OUT = GALLERY
PEOPLE, CAMERAS, WORLD = 12, 4, 60  # a world that training never saw


def main() -> None:
    """Write all of it."""
    write_rgbnt201(OUT, PEOPLE, CAMERAS, seed=WORLD, split="test", style="rendered")


if __name__ == "__main__":
    main()
