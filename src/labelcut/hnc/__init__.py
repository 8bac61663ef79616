"""A matrix and its labels -> classes, probabilities and flags: one file per step of the method."""
