"""Methods that contrast data with Langevin chains: PCD, CD and short-run training."""
