"""The VERA paper: its values, experiments, tables and figures. Nothing outside this folder names an artifact
of it."""
