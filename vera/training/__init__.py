"""The training loop and everything it keeps: journal, checkpoints, optimisers, schedules, random state."""
