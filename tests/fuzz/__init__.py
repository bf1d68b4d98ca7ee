"""Random changes to good files and requests: every one must end in an answer or in one plain sentence.

`python -m tests.fuzz --seconds 60` (or `make fuzz`) runs all targets and prints a table.
"""
