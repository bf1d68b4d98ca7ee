"""What is measured unless one asks for something else; apart, because --help shows it and must not load the rest."""

RATIOS = (0.25, 0.5, 0.75)
SEEDS = 10
