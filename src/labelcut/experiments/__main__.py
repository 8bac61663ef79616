"""``python -m labelcut.experiments`` is ``labelcut experiment``."""

import sys

from labelcut.cli import main

main(["experiment", *sys.argv[1:]])
