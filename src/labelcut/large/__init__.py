"""Tables larger than memory: rows are judged where they lie, the graph is gathered and cut in one place."""
