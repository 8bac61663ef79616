"""The paper's experiments with its rivals: data, noise, methods, runs, tables and figures.

Nothing else in the package imports this one. The command is ``labelcut experiment``.
"""
