"""Data files: locations, downloads, checksums and formats."""
