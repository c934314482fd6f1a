"""The tables, figures and sweeps of the VERA paper by name, as `module:attribute`. Each is imported on first
use."""

PREFIX = ""
"""Names of this paper's artifacts are not qualified: `table2` is its Table 2."""

EXTRAS, FIGURES, TABLES = "bench.paper.extras", "bench.paper.figures", "bench.paper.tables"

ARTIFACTS = {
    "drift": f"{EXTRAS}.drift:Drift",
    "ease-of-tuning": f"{EXTRAS}.ease_of_tuning:EaseOfTuning",
    "failing-settings": f"{EXTRAS}.failing_settings:FailingSettings",
    "figure1": f"{FIGURES}.figure1:Figure1",
    "figure2": f"{FIGURES}.figure2:Figure2",
    "figure3": f"{FIGURES}.figure3:Figure3",
    "figure5": f"{FIGURES}.figure5:Figure5",
    "figure6": f"{FIGURES}.figure6:Figure6",
    "figure8": f"{FIGURES}.figure8:Figure8",
    **{f"figure{number}": f"{FIGURES}.image_figures:IMAGE_FIGURES" for number in (4, 7, *range(9, 28))},
    "classes": f"{FIGURES}.image_figures:IMAGE_FIGURES",
    "gradients": f"{EXTRAS}.gradients:Gradients",
    "kept-samples": f"{EXTRAS}.kept_samples:KeptSamples",
    "mode-samples": f"{EXTRAS}.mode_samples:ModeSamples",
    "modes": f"{EXTRAS}.modes:Modes",
    "outliers": f"{EXTRAS}.outliers:Outliers",
    "reliability": f"{EXTRAS}.reliability:ReliabilityDiagram",
    "speed": f"{EXTRAS}.speed:Speed",
    "stability": f"{EXTRAS}.stability:Stability",
    "table1": f"{TABLES}.table1:Table1",
    "table2": f"{TABLES}.table2:Table2",
    "table3": f"{TABLES}.table3:Table3",
    "table4": f"{TABLES}.table4:Table4",
    "table5": f"{TABLES}.table5:Table5",
    "table6": f"{TABLES}.table6:Table6",
    "table7": f"{TABLES}.table7:Table7",
    "table8": f"{TABLES}.table8:Table8",
    "table9": f"{TABLES}.table9:Table9",
    "table10": f"{TABLES}.table10:Table10",
    "table-fid": f"{TABLES}.table_fid:TableFID",
}

UNLISTED = ("ease-of-tuning",)
"""It reads the trials of tuning grids, which are sweeps of their own."""

SWEEPS = {
    "table1-grid": "bench.paper.experiments.families:table1_grid",
    "image-weights-grid": "bench.paper.experiments.image_arms:weights_grid",
    "modes-grid": "bench.paper.experiments.modes:modes_grid",
    "table2-grid": "bench.paper.experiments.nice:table2_grid",
    "table3-grid": "bench.paper.experiments.images:table3_grid",
    "table6-grid": "bench.paper.experiments.tabular:table6_grid",
}

PAGES = "bench.paper.pages:list_pages"
"""The parts of README.md, results/README.md and docs/methods that speak about this paper."""
