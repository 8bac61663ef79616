"""``python -m labelcut.experiments`` is ``labelcut experiment``."""

from labelcut.experiments.command import experiment

experiment(prog_name="labelcut experiment")
