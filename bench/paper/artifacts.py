"""Every table and figure that is declared so far. Importing this registers them, as artifacts and as sweeps;
it loads no torch."""

from bench.paper.extras import drift, modes, outliers, reliability, speed, stability
from bench.paper.figures import figure1, figure2, figure3, figure5, figure6, figure8
from bench.paper.figures import image_figures as figures_images
from bench.paper.tables import table2, table3, table4, table5, table6, table8, table9, table10, table_fid
from bench.searches import search_figure, search_table

__all__ = [
    "drift",
    "figure1",
    "figure2",
    "figure3",
    "figure5",
    "figure6",
    "figure8",
    "figures_images",
    "modes",
    "outliers",
    "reliability",
    "search_figure",
    "search_table",
    "speed",
    "stability",
    "table2",
    "table3",
    "table4",
    "table5",
    "table6",
    "table8",
    "table9",
    "table10",
    "table_fid",
]
