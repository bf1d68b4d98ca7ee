"""What this costs beside the limit and beside other tools, as ratios of medians in one run: `make bench`."""
