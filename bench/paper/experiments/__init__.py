"""The experiment families of the paper, each an `Experiment` with its lines and scales."""
