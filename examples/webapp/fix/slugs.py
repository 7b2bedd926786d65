"""Short names of links: which are allowed, and new ones from a number."""

import re

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""No 0 and o, no 1, i and l: people read slugs aloud."""

SHORTEST = 3
RESERVED = {"links"}


def encode(number):
    """Return the slug of a number from 0 on: 0 is ``222``, 1 is ``223``."""
    digits = ""
    while number:
        number, rest = divmod(number, len(ALPHABET))
        digits = ALPHABET[rest] + digits
    return digits.rjust(SHORTEST, ALPHABET[0])


def is_slug(text):
    """Say whether a person may choose ``text`` as a slug."""
    return isinstance(text, str) and text not in RESERVED and bool(re.fullmatch(r"[a-z0-9-]{2,20}", text))
