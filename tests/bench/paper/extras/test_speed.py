"""Speed: the claim and the paper's value from made-up rows, and a smoke trial."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from toys_helpers import check_claim, record_of, results_of

from bench.catalogue import catalogue
from sweeps.run.attempt import run_trial
from vera.models.sngan import SNGANGenerator
from vera.models.wrn import WideResNet
from vera.spec.trial_spec import split_component

SPEED = catalogue.artifact("speed")


@pytest.mark.parametrize(
    ("level", "judgement"), [(2.8, "supported"), (0.5, "refuted"), (1.0, "undetermined")]
)
def test_ratio_is_judged_and_shown_with_the_paper_value(tmp_path, level, judgement):
    made = [
        record_of(trial, seed, ratio=level + 0.001 * seed, vera_seconds=1.0, jem_seconds=level, spread=0.1)
        for trial in SPEED.trials("paper")
        for seed in (0, 1, 2)
    ]
    results = results_of(tmp_path, made, "paper")
    assert check_claim(SPEED, "vera-is-faster", results).judgement == judgement
    (entry,) = SPEED.render(results).lines
    assert (entry["classifier"], entry["ratio"].paper, entry["ratio"].mean) == (
        "WRN-28-10",
        2.8,
        pytest.approx(level + 0.001),
    )


def test_the_last_pair_at_laptop_has_the_papers_share_of_the_generator():
    """By multiply-adds of a forward pass: of WRN-28-10 and 256 maps, and of the pair that stands for them."""
    trials = {trial.label: trial.spec.networks for trial in (*SPEED.trials("laptop"), *SPEED.trials("paper"))}
    last = list(SPEED.trials("laptop"))[-1].label
    paper, ours = (count_share(trials[label]) for label in ("WRN-28-10", last))
    assert ours == pytest.approx(paper, rel=0.15)


def count_share(networks):
    """Operations of a pass of the generator in those of a pass of the classifier."""
    (_, energy), (_, generator) = (split_component(networks[role]) for role in ("energy", "generator"))
    with torch.device("meta"):
        classifier = WideResNet(classes=10, **energy)
        own = SNGANGenerator(**generator)
        x, z = torch.zeros(2, 3, 32, 32), torch.zeros(2, generator.get("latent_dim", 128))
        passes = (lambda: classifier.logits(x), lambda: own(z))
        pass_of_energy, pass_of_generator = map(count_operations, passes)
    return pass_of_generator / pass_of_energy


def count_operations(run):
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def test_smoke_trial_times_both_methods(tmp_path):
    (trial,) = SPEED.trials("smoke")
    record = run_trial(trial)
    assert record.row.outcome == "ok"
    (entry,) = SPEED.render(results_of(tmp_path, [record], "smoke")).lines
    assert min(entry[key].mean for key in ("vera_seconds", "jem_seconds", "ratio")) > 0
