"""The paper's figures, one file each."""
