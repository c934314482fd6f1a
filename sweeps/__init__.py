"""The sweep layer: trial identity, the store, and running the trials that are missing in it."""
