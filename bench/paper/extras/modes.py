"""Mode counting: how many of StackedMNIST's 1,000 triples of digits a generator makes (Sec. 5.2, B.5): VERA,
VERA-HMC, and λ = 0.

`paper` is DCGAN at 64 × 64, 17 epochs in batches of 100, 10,000 samples. The paper gives neither λ nor the
rates for it; Table 7's for large images are taken, λ = 10⁻⁴ and 1e-4, 2e-4, 2e-4. `laptop` is a narrow DCGAN
at 32 × 32 on the embedded digits.

Trap: a count depends on the classifier and on the number of samples. The count on held-out data, as many
images, stands beside it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from bench.artifact import Artifact, Column, Sheet, Value
from bench.judging.cell import Cell
from bench.judging.claims import Claim, Finding, at_most
from bench.judging.results import Results
from bench.paper.values import paper_values
from bench.render.caption import caption_tail
from sweeps.trial.identity import Profile, Trial
from vera.spec.trial_spec import Component, TrialSpec

SOURCE = "Text Sec 5.2 (App. B.5)"
RATES = {"lr": 1e-4, "generator_lr": 2e-4, "gamma": 0.1}
PUBLISHED_HMC = "VERA-HMC, prior-only force"
LINES: Mapping[str, tuple[Component, Mapping[str, str] | None]] = {
    "VERA": (
        {"name": "vera", "entropy_weight": 1e-4, "posterior_lr": 2e-4, **RATES},
        {"method": "VERA", "variant": ""},
    ),
    PUBLISHED_HMC: (
        {"name": "vera-hmc", "force": "prior_only", "entropy_weight": 1e-4, **RATES},
        {"method": "VERA-HMC", "variant": ""},
    ),
    "VERA-HMC, full force": ({"name": "vera-hmc", "force": "full", "entropy_weight": 1e-4, **RATES}, None),
    "VERA λ=0": (
        {"name": "vera", "entropy_weight": 0.0, "posterior_lr": 2e-4, **RATES},
        {"method": "VERA", "variant": "lambda=0"},
    ),
}
"""By label: the published settings, and how the paper's value is found; HMC with the full force is ours
alone."""
GFLOP = {"VERA": 835.0, PUBLISHED_HMC: 560.0, "VERA-HMC, full force": 1_420.0, "VERA λ=0": 415.0}
"""Of one step at the `paper` profile. Half of VERA's is the generator's pass over k = 20; HMC with the full
force has 21 gradients of it instead, with the prior's alone seven passes."""
FEWER = 10.0
"""Modes by which one generator may fall behind another and still be called as good."""


@dataclass(frozen=True)
class Size:
    """What all lines share at one profile."""

    about: str
    dataset: Component
    width: int
    steps: int
    batch_size: int
    task: Component
    laptop: Component


SIZES: Mapping[Profile, Size] = {
    "smoke": Size("6 steps of tiny networks: shows that everything runs, and nothing else",
                  {"name": "stacked-mnist", "source": "mnist5k", "side": 32}, 4, 6, 16,
                  {"name": "modes", "samples": 60, "batch": 60, "epochs": 1}, {}),
    "laptop": Size("DCGAN of width 16 at 32 × 32, 400 steps of 50, digits of the embedded part of MNIST",
                   {"name": "stacked-mnist", "source": "mnist5k", "side": 32}, 16, 400, 50,
                   {"name": "modes", "samples": 4_000, "batch": 1_000, "epochs": 3}, {"lr": 5e-4, "generator_lr": 1e-3}),
    "paper": Size("DCGAN of width 64 at 64 × 64, 17 epochs in batches of 100",
                  {"name": "stacked-mnist", "source": "mnist", "side": 64}, 64, 10_200, 100,
                  {"name": "modes", "samples": 10_000, "batch": 10_000, "epochs": 14}, {}),
}  # fmt: skip


def trial_of(label: str, profile: Profile) -> Trial:
    size, (method, _) = SIZES[profile], LINES[label]
    networks = {
        "energy": {"name": "dcgan", "width": size.width},
        "generator": {"name": "dcgan-generator", "width": size.width},
    }
    return Trial(
        TrialSpec(size.dataset, networks, {**method, **size.laptop}, size.steps, size.batch_size, task=size.task),
        profile, label=label,
    )  # fmt: skip


def paper_modes(label: str) -> float | None:
    way = LINES[label][1]
    if way is None:
        return None
    wanted = {"artifact": SOURCE, "metric": "modes_of_1000", **way}
    (found,) = [float(row["value"]) for row in paper_values() if wanted.items() <= row.items()]
    return found


def as_many(results: Results) -> Finding:
    """As importance sampling, HMC finds: the paper has 999 of both, of HMC with the force of its code."""
    vera, hmc = (results.cell(trial_of(label, results.profile), "modes") for label in ("VERA", PUBLISHED_HMC))
    return at_most("VERA-HMC − VERA", hmc, vera, FEWER)


def nearly_all(results: Results) -> Finding:
    """Against as many held-out images, for the classifier errs and a sample is finite."""
    trial = trial_of("VERA", results.profile)
    data, own = (results.cell(trial, metric) for metric in ("data_modes", "modes"))
    return at_most("modes of held-out data − modes of VERA", data, own, FEWER)


class Modes(Artifact):
    name = "modes"
    title = "Mode counting: StackedMNIST's 1,000 modes"
    seeds: ClassVar[Mapping[Profile, tuple[int, ...]]] = {"smoke": (0,), "laptop": (0, 1), "paper": (0, 1, 2)}
    claims = (
        Claim("nearly-all", f"VERA's generator finds all modes that held-out data show, to within {FEWER:.0f}.", "Sec. 5.2",
              nearly_all),
        Claim("as-many-as-hmc", f"VERA finds as many modes as VERA-HMC, to within {FEWER:.0f}.", "Sec. 5.2", as_many),
    )  # fmt: skip
    columns = (
        Column("method", "method"),
        Column("modes", "modes", 1),
        Column("data_modes", "of held-out data", 0),
        Column("mode_divergence", "KL(q‖p)", 3),
        Column("data_mode_divergence", "KL of held-out data", 3),
        Column("classifier_accuracy", "accuracy of the classifier", 3),
    )

    def trials(self, profile: Profile) -> Iterator[Trial]:
        return (trial_of(label, profile) for label in LINES)

    def flop(self, trial: Trial) -> float | None:
        """Of a whole trial at the `paper` profile."""
        return 1e9 * GFLOP[trial.label] * trial.spec.steps if trial.profile == "paper" else None

    def render(self, results: Results) -> Sheet:
        lines = tuple(self.entry(results, trial) for trial in self.trials(results.profile))
        size, rows = SIZES[results.profile], results.rows_of(self.trials(results.profile))
        caption = (
            f"Triples of digits among {size.task['samples']:,} samples of the generator, of 1,000, higher is better; {size.about}. "
            f"{caption_tail(rows)}"
        )
        notes = (
            "Of held-out data: as many images, by the same classifier. Of a perfect generator, KL(q‖p) is about 999 / 2n.",
            "Neither λ nor the learning rates of this experiment are in the paper. Its VERA-HMC has the prior-only force.",
        )
        return Sheet(
            self.name, self.title, caption, self.columns, lines, results.profile, (*notes, *results.notes)
        )

    def entry(self, results: Results, trial: Trial) -> dict[str, Value]:
        cells: dict[str, Cell] = {column.key: results.cell(trial, column.key) for column in self.columns[1:]}
        return {
            "method": trial.label,
            **cells,
            "modes": results.cell(trial, "modes", paper_modes(trial.label)),
        }
