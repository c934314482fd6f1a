"""The table and the figure of searches, by name."""

PREFIX = ""

ARTIFACTS = {
    "search-figures": "bench.searches.search_figure:SearchFigures",
    "searches": "bench.searches.search_table:Searches",
}
