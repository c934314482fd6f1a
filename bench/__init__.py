"""The paper layer: tables, figures, claims, renderers, benchmarks and the command line."""
