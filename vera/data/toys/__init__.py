"""Two-dimensional toy densities and the standard normal, with new points in every batch."""
