"""Verbs that train, list and use models."""
