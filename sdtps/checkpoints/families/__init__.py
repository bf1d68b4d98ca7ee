"""Checkpoint files of other programs: read safely, recognised by their names, planned as a model of this one.

`state_files` (with `torchscript_files`) turns any file into named tensors; `keymaps` recognises the family and makes a
`Plan`; `bodies`, `demo_keymap`, `clip`, `grid_guess` and `demo_config` are what it knows. `sdtps.checkpoints` loads.
"""
