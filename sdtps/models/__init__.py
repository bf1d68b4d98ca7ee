"""Networks around SDTPS: backbones, adapters, and the re-identification model."""
