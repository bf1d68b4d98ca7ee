"""Speed, as ratios of medians in one run: `make bench`."""
