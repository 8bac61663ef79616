"""``python -m labelcut``: the command, where its own name is not on the path."""

from labelcut.cli import main

if __name__ == "__main__":
    main()
