"""Signal checkpoints: DeMo's backbone under other names, and the selective interaction below `SIM.`."""

import re
from dataclasses import replace

from sdtps.checkpoints.families.demo import demo_plan
from sdtps.checkpoints.families.plan import Hints, Plan
from sdtps.checkpoints.readers.state_files import StateFile

SIGNAL_BASE = "clip_vision_encoder.base."
NAMES = (("clip_vision_encoder.", "BACKBONE."), ("SIM.", "sdtps."))


def signal_plan(file: StateFile, hints: Hints) -> Plan:
    """Read it as DeMo would be read, and call everything by its own names again."""
    renamed = {_swap(k, 0): v for k, v in file.tensors.items()}
    plan = demo_plan(StateFile(file.name, renamed, file.metadata), hints, "signal")
    return replace(
        plan,
        theirs=lambda name: _swap(plan.theirs(name), 1),
        unused={_swap(k, 1): part for k, part in plan.unused.items()},
        unexpected={_swap(k, 1): part for k, part in plan.unexpected.items()},
    )


def _swap(name: str, given: int) -> str:
    """A name with its first part as the other program writes it; `given` is the column that it comes from."""
    for pair in NAMES:
        if name.startswith(pair[given]):
            return re.sub(f"^{re.escape(pair[given])}", pair[1 - given], name)
    return name
