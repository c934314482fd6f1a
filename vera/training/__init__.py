"""The training loop and its state: journal, checkpoints, optimisers, schedules, random state."""
