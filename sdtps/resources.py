"""Where the files lie that are shipped beside the code: weights, examples, the program that starts the page."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
CHECKPOINTS = PROJECT / "checkpoints"
EMBEDDED = CHECKPOINTS / "sdtps-lens-hiera-tiny.safetensors"
EXAMPLES = PROJECT / "assets" / "examples"
GALLERY = PROJECT / "assets" / "gallery"
LAB = PROJECT / "assets" / "lab"
