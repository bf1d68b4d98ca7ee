"""Trainings on record: written by `Recorder`, read back, compared, and judged in words."""
