"""The command line: one file a verb; ``main`` chooses it."""
