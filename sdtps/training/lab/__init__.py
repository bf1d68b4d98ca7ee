"""The notes' experiments again, on generated people, with everything on record."""

from sdtps.training.lab.experiments import EXPERIMENTS, Experiment
from sdtps.training.lab.runner import run_lab

__all__ = ["EXPERIMENTS", "Experiment", "run_lab"]
