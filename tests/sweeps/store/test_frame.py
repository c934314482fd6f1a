"""The wide table: a column for every metric and setting, and no value filled in."""

import json

import pandas as pd
import pytest
from store_helpers import make_row

from sweeps.store.frame import COLUMNS, build_frame


def make_trained_row(trial_id, metrics, method, **components):
    spec = {
        "dataset": {"name": "moons", "noise": 0.1},
        "method": {"name": "vera", **method},
        "networks": {
            "energy": {"name": "mlp", "widths": [100, 100]},
            "generator": {"name": "mlp-generator", "latent_dim": 2},
        },
        "seed": 3,
        "steps": 10,
        **components,
    }
    return make_row(trial_id, metrics=json.dumps(metrics), spec=json.dumps(spec), method="vera")


def test_metrics_and_settings_become_columns():
    table = build_frame([make_trained_row("a", {"nll": 1.5, "ess": 0.25}, {"lr": 0.001, "eta": 0.2})])
    line = table.iloc[0]
    assert (line["metric.nll"], line["metric.ess"]) == (1.5, 0.25)
    assert (line["method.lr"], line["method.eta"]) == (0.001, 0.2)
    assert (line["dataset.noise"], line["generator.latent_dim"]) == (0.1, 2)
    assert list(table.columns[: len(COLUMNS)]) == COLUMNS


def test_the_name_of_a_method_has_one_column():
    table = build_frame([make_trained_row("a", {}, {})])
    assert table["method"].tolist() == ["vera"]
    assert "method.name" not in table
    assert table["generator.name"].tolist() == ["mlp-generator"]


def test_an_entry_that_a_row_lacks_is_missing_and_never_a_default():
    rows = [make_trained_row("a", {"nll": 1.5}, {"lr": 0.001}), make_trained_row("b", {}, {"k": 10})]
    table = build_frame(rows).set_index("trial_id")
    assert pd.isna(table.loc["b", "metric.nll"])
    assert pd.isna(table.loc["b", "method.lr"])
    assert pd.isna(table.loc["a", "method.k"])
    assert table["metric.nll"].mean() == 1.5


def test_tables_can_be_grouped_by_lists():
    table = build_frame([make_trained_row("a", {"nll": 1.0}, {}), make_trained_row("b", {"nll": 3.0}, {})])
    assert table.groupby("energy.widths")["metric.nll"].mean().to_dict() == {"[100, 100]": 2.0}


def test_a_spec_without_networks_and_an_empty_list_of_rows():
    assert "energy.widths" not in build_frame([make_trained_row("a", {}, {}, networks={})])
    empty = build_frame([])
    assert list(empty.columns) == COLUMNS
    assert len(empty) == 0


@pytest.mark.parametrize("value", [1e-300, 0.1 + 0.2, -0.0, 123456789012345678])
def test_numbers_keep_every_bit(value):
    table = build_frame([make_trained_row("a", {"nll": value}, {})])
    assert repr(table["metric.nll"].tolist()[0]) == repr(value)
