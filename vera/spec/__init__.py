"""Trials as plain data: the spec, the validation of settings, and the registries of names."""
