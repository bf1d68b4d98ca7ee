"""Any checkpoint file to a flat dict of tensors; nothing in a file is ever executed."""
