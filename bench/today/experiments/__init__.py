"""The experiment families, each an `Experiment` with its lines and scales."""
