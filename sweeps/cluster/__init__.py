"""Everything that imports Ray: connecting, executing trials and searches, preflight, GPU packing."""
