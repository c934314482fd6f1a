"""Trials: identity, sweeps that enumerate trials, filters, matching of stored rows, and plans."""
