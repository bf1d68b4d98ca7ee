"""SDTPS itself, equation by equation: scores, selection, aggregation, and the record of what happened. Torch only."""
