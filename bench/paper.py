"""Every table and figure that is declared so far. Importing this registers them, as artifacts and as sweeps; it loads no torch."""

from bench import figure1, figure2, figure3, figure5, figure6, figure8, reliability, table2, table6, table8, table9, table10

__all__ = [
    "figure1",
    "figure2",
    "figure3",
    "figure5",
    "figure6",
    "figure8",
    "reliability",
    "table2",
    "table6",
    "table8",
    "table9",
    "table10",
]
