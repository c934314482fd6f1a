"""Grids of settings from Python and notebooks: run them, read their results, load the trained models."""
