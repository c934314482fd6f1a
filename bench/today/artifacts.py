"""The tables, figures and sweeps by name, as `module:attribute`. Each is imported on first use. Names are
qualified: `today/density`."""

EXPERIMENTS, FIGURES, TABLES = "bench.today.experiments", "bench.today.figures", "bench.today.tables"

ARTIFACTS = {
    "ablation-panels": f"{FIGURES}.ablation_panels:AblationPanels",
    "ablations": f"{TABLES}.ablations:Ablations",
    "densities": f"{FIGURES}.densities:Densities",
    "density": f"{TABLES}.density:DensityTable",
    "estimators": f"{TABLES}.estimators:Estimators",
    "few-labels": f"{TABLES}.few_labels:FewLabelsTable",
    "flow": f"{TABLES}.flow:Flow",
    "mixture": f"{TABLES}.density:MixtureDensity",
    "wall-clock": f"{FIGURES}.wall_clock:WallClock",
}

TABLES_TO_RUN = ("density", "mixture", "flow", "ablations", "estimators", "few-labels")
"""What `make reproduce-today` runs and renders; the figures show trials of these."""

SWEEPS = {
    "density-grid": f"{EXPERIMENTS}.plane:density_grid",
    "estimators-grid": f"{EXPERIMENTS}.estimators:estimators_grid",
    "few-labels-grid": f"{EXPERIMENTS}.few_labels:few_labels_grid",
    "flow-grid": f"{EXPERIMENTS}.flow:flow_grid",
    "mixture-grid": f"{EXPERIMENTS}.plane:mixture_grid",
}
