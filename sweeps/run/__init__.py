"""One attempt at a trial and what surrounds it: checkpoints, restarts, provenance, progress. No Ray."""
