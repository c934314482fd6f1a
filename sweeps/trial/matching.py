"""Matching rows to declared trials."""

TUNING_SEED = 100
"""Seeds from here on are for choosing settings; no table averages over them."""
