"""The store: a folder of records a project, appended to under a lock, linked by hashes, read with care."""
