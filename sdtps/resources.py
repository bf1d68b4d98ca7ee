"""Where the files lie that are shipped with the code: weights, examples, gallery, recorded trainings, recipes.

In a source tree they stand beside the package, in an installed wheel inside it; nothing else needs to know.
"""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
PROJECT = PACKAGE.parent
SHIPPED = PACKAGE / "_shipped"  # only a wheel has it
_HOME = SHIPPED if SHIPPED.is_dir() else PROJECT

CHECKPOINTS = _HOME / "checkpoints"
EMBEDDED = CHECKPOINTS / "sdtps-lens-hiera-tiny.safetensors"
ASSETS = _HOME / "assets"
EXAMPLES = ASSETS / "examples"
GALLERY = ASSETS / "gallery"
LAB = ASSETS / "lab"
ENVIRONMENTS = ASSETS / "environments"
CONFIGS = _HOME / "configs"
