"""Weights from files: read safely, recognised by family, loaded whole, reported part by part."""
