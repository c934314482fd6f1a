"""Data files: where they belong, how they are fetched, verified and decoded."""
