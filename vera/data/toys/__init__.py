"""Two-dimensional toy densities and the standard normal, drawn afresh for every batch."""
