"""What is measured unless somebody asks for something else; apart, because the command line shows it before it loads."""

RATIOS = (0.25, 0.5, 0.75)
SEEDS = 10
