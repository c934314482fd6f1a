"""Score matching: sliced, denoising and by curvature propagation."""
