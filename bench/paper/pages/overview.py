"""The README's tables of all tables and figures: one entry per artifact, with the value that it quotes."""

from collections.abc import Mapping

from bench.paper.extras.speed import LIKE_PAPER
from bench.paper.figures import figure6
from bench.paper.values import PAPER
from bench.publishing.overview import OverviewEntry
from bench.publishing.quotes import Quote, TableQuote, TrialQuote

MOONS = TableQuote(
    "VERA λ = 1 on moons, by nearly the paper's rule",
    {"method": "VERA λ=1", "dataset": "moons"},
    "best_of_either",
    2,
)
ENTRIES = (
    OverviewEntry(
        "table1",
        "48, and those of Tables 2 and 10",
        "the paper's marks for four families of methods, and what was measured: cost of a step, divergence, "
        "nats to maximum likelihood, networks, architectures",
    ),
    OverviewEntry(
        "table2",
        "36",
        "the flow's likelihood under eleven ways to train it, and a control",
        quote=TableQuote("VERA λ = 1, nats", {"method": "VERA λ=1"}, "test_log_likelihood", 1),
    ),
    OverviewEntry(
        "table3",
        "21",
        "accuracy and calibration of a classifier of images that is an energy model too: VERA, JEM, HDGE, a "
        "plain classifier",
        quote=TableQuote("VERA α = 100 on MNIST 5k, %", {"method": "VERA α=100"}, "test_accuracy", 1),
    ),
    OverviewEntry(
        "table4",
        "15 of Table 3's, 3 more",
        "Fréchet distance and score of samples, refined by MALA and not",
        ", `table-fid`",
        TableQuote("VERA α = 100, a digit classifier's distance", {"method": "VERA α=100"}, "fid", 0),
        ["table-fid"],
    ),
    OverviewEntry(
        "table5",
        "18 of Table 3's",
        "telling held-out images from unseen ones by three scores, and histograms of f",
        ", `outliers`",
        TableQuote("VERA α = 100, against photographs", {"method": "VERA α=100", "unseen": "photos"}, "f", 2),
        ["outliers"],
    ),
    OverviewEntry(
        "table6",
        "120",
        "accuracy with ten labels a class on tables of numbers: VERA against VAT, MEG, JEM, the supervised "
        "baseline",
        quote=TableQuote(
            "VERA on 8 × 8 digits, %", {"method": "VERA", "dataset": "digits 8 × 8"}, "test_accuracy", 1
        ),
    ),
    OverviewEntry("table7", "none", "the recommended settings of VERA beside those of Tables 3 and 6"),
    OverviewEntry("table8", "4", "the data sets of Table 6"),
    OverviewEntry("table9", "none", "the settings of those trials, read off their specifications"),
    OverviewEntry(
        "table10",
        "60",
        "likelihood of a 100-component mixture on three toys: on 100,000 points, as the best of ten batches "
        "of 200, and beside it that of the true density",
        quote=MOONS,
    ),
    OverviewEntry(
        "drift", "36", "the same mixture's likelihood while it trains, by maximum likelihood and by PCD"
    ),
    OverviewEntry(
        "failing-settings",
        "12",
        "settings with which PCD and CoopNet fail in the paper, on the flow of Table 2",
    ),
    OverviewEntry(
        "gradients",
        "7",
        "sequential gradients in a training step, counted by hooks",
    ),
    OverviewEntry(
        "kept-samples",
        "16, 4 of them Figure 3's",
        "bias of HMC by the number of posterior samples that it keeps",
    ),
    OverviewEntry("figure1", "16", "an MLP's density and samples on moons: VERA against PCD"),
    OverviewEntry("figure2", "6 of Table 2's", "samples of the flows, and those they were trained with"),
    OverviewEntry("figure3", "52", "bias and deviation of the score estimators on the PCA of digits"),
    OverviewEntry("figure5", "2 of Figure 3's", "samples of that linear generator"),
    OverviewEntry(
        "figure6", "4, 2 of them Figure 3's", "effective sample size against the proposal's offset"
    ),
    OverviewEntry("figure8", "1 of Table 6's", "digits from the semi-supervised model, and after MALA"),
    OverviewEntry(
        "figure4",
        "1 of Table 3's, 1 more",
        "samples: unconditional, chain by chain, before and after MALA, by class",
        ", `7`, `9` … `27`, `classes`",
        also=["figure7", *(f"figure{n}" for n in range(9, 28)), "classes"],
    ),
    OverviewEntry(
        "modes",
        "12",
        "how many of 1,000 triples of digits a generator finds: VERA, VERA-HMC with two forces, λ = 0; its "
        "samples",
        ", `mode-samples`",
        TableQuote("VERA", {"method": "VERA"}, "modes", 1),
        ["mode-samples"],
    ),
    OverviewEntry(
        "speed",
        "6",
        "a training step of VERA against one of JEM on the same Wide ResNet, timed alternately",
        quote=TableQuote(
            "JEM / VERA, WRN-28-2 and a generator as large for it as the paper's",
            {"classifier": LIKE_PAPER.label},
            "ratio",
            2,
        ),
    ),
    OverviewEntry("stability", "Table 3's", "trials that diverged or began again"),
    OverviewEntry("reliability", "Table 6's", "how far the probabilities of its classifiers can be trusted"),
)


PAPER_QUOTES: Mapping[str, Quote | None] = {
    "table6": TableQuote(
        "VERA on HUMAN (columns 266–561 recomputed), %",
        {"method": "VERA", "dataset": "HUMAN"},
        "test_accuracy",
        1,
    ),
    "table8": None,
    "table10": MOONS,
    "drift": None,
    "figure1": TrialQuote("VERA λ = 1, nats", "VERA λ=1", "grid_log_likelihood", 2),
    "figure3": TrialQuote("root-mean-square bias of importance sampling", "IS, k = 20", "rms_bias", 2),
    "figure6": TrialQuote(
        "effective sample size of 20 draws",
        "IS, k = 20",
        "posterior_ess",
        2,
        PAPER.read_value(figure6.TEXT, dataset=figure6.MODELS[0], method=figure6.OWN),
    ),
}
"""Artifacts whose trials were run at `paper` on CPUs, each with a value to quote."""
