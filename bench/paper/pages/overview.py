"""The README's table of all tables and figures: one entry per line, with the value that it quotes."""

from bench.paper.extras.speed import LIKE_PAPER
from bench.paper.figures import figure6
from bench.paper.values import PAPER
from bench.publishing.overview import OverviewEntry
from bench.publishing.quotes import TableQuote, TrialQuote

MOONS = TableQuote("λ = 1, moons", {"method": "VERA λ=1", "dataset": "moons"}, "best_of_either", 2)
DENSITY = TrialQuote("λ = 1, nats", "VERA λ=1", "grid_log_likelihood", 2)
BIAS = TrialQuote("RMS bias of importance sampling", "IS, k = 20", "rms_bias", 2)
ESS = TrialQuote(
    "ESS of 20 draws",
    "IS, k = 20",
    "posterior_ess",
    2,
    PAPER.read_value(figure6.TEXT, dataset=figure6.MODELS[0], method=figure6.OWN),
)
ACCURACY = TableQuote("α = 100, %", {"method": "VERA α=100"}, "test_accuracy", 1)
ENTRIES = (
    OverviewEntry(["table1"], "the paper's marks for families of methods, with measurements"),
    OverviewEntry(
        ["table2"],
        "a flow trained eleven ways: exact likelihood",
        TableQuote("λ = 1, nats", {"method": "VERA λ=1"}, "test_log_likelihood", 1),
        TableQuote("λ = 1, nats", {"method": "VERA λ=1"}, "test_log_likelihood", 1),
    ),
    OverviewEntry(
        ["table3", "stability"], "image classifiers: accuracy, calibration, divergence", ACCURACY, ACCURACY
    ),
    OverviewEntry(
        ["table4", "table-fid"],
        "image samples: Fréchet distance (FID) and scores",
        TableQuote("α = 100, FID of a digit classifier", {"method": "VERA α=100"}, "fid", 0),
    ),
    OverviewEntry(
        ["table5", "outliers"],
        "outlier detection with f: AUROC and histograms",
        TableQuote("α = 100, against photographs", {"method": "VERA α=100", "unseen": "photos"}, "f", 2),
    ),
    OverviewEntry(
        ["table6", "reliability"],
        "ten labels a class: accuracy, reliability of probabilities",
        TableQuote(
            "VERA, 8 × 8 digits, %", {"method": "VERA", "dataset": "digits 8 × 8"}, "test_accuracy", 1
        ),
        TableQuote("VERA, HUMAN, %", {"method": "VERA", "dataset": "HUMAN"}, "test_accuracy", 1),
    ),
    OverviewEntry(["table7", "table8", "table9"], "settings and data sets of Tables 3 and 6"),
    OverviewEntry(["table10"], "a mixture on three toys: exact likelihood", MOONS, MOONS),
    OverviewEntry(["drift"], "likelihood of that mixture during training"),
    OverviewEntry(["failing-settings"], "PCD and CoopNet with settings that fail in the paper"),
    OverviewEntry(["gradients"], "sequential gradients in a training step, counted"),
    OverviewEntry(["figure1"], "density and samples of an MLP on moons", DENSITY, DENSITY),
    OverviewEntry(["figure2"], "samples of the flows of Table 2"),
    OverviewEntry(["figure3", "figure5"], "bias and variance of score estimators", BIAS, BIAS),
    OverviewEntry(["kept-samples"], "bias of HMC by the number of kept samples"),
    OverviewEntry(["figure6"], "effective sample size (ESS) of proposals", ESS, ESS),
    OverviewEntry(["figure8"], "digits of the model of Table 6, and after MALA"),
    OverviewEntry(
        ["figure4", "figure7", *(f"figure{n}" for n in range(9, 28)), "classes"],
        "image samples: unconditional, in chains, by class",
        listed="`figure4`, `figure7`, `figure9` … `figure27`, `classes`",
    ),
    OverviewEntry(
        ["modes", "mode-samples"],
        "how many of 1,000 modes a generator finds",
        TableQuote("VERA", {"method": "VERA"}, "modes", 1),
    ),
    OverviewEntry(
        ["speed"],
        "time of a step: JEM / VERA, on a Wide ResNet",
        TableQuote("a generator as large as the paper's", {"classifier": LIKE_PAPER.label}, "ratio", 2),
    ),
)
