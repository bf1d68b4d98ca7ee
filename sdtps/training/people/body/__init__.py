"""Bodies: data, shapes, bones and poses."""
