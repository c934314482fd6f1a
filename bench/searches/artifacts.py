"""The artifacts of searches by name."""

PREFIX = ""

ARTIFACTS = {
    "search-figures": "bench.searches.search_figure:SearchFigure",
    "searches": "bench.searches.search_table:SearchTable",
}

UNLISTED = ("search-figures", "searches")
"""They are not sweeps, because the trials of a search are not known in advance."""
