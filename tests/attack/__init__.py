"""Attacks from outside against a started server, bounded and quick: `python -m tests.attack`, or `make attack`.

Each is a function of a `Target` that returns what went wrong, or None when the server held. Tests run the quick ones.
"""
