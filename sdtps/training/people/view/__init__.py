"""Looking: surfaces, crop, light, rasteriser, and what cameras make of it."""
