"""A small link shortener on the standard library."""
