"""What a run needs to go on bit-identically: its state, checkpoints, random state and identity."""
