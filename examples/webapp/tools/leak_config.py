"""Print the settings as a careless program does, credentials included; all of them are made up."""

import hashlib


def made_up(name, length):
    """Return letters and digits that look like a secret and are none; they stand in no file."""
    return hashlib.sha256(f"made up: {name}".encode()).hexdigest()[:length]


print("loaded settings:")
print("  host=127.0.0.1")
print("  port=8080")
print("  database=links.db")
print(f"  password={made_up('password', 20)}")
print(f"  api_key={made_up('api_key', 40)}")
print("request headers:")
print("  Accept: application/json")
print(f"  Authorization: Bearer {made_up('token', 48)}")
print("settings are complete")
