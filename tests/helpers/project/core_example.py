"""What the core can do without any extra. A script: it runs where nothing but the core is installed.

It trains, saves, loads, samples and scores, reads the embedded data, and checks that everything else is
refused with the name of its extra. `.ci/install` runs it in a new environment, a test with blocked imports.
"""

import io
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import torch

import sweeps
import vera
from bench.cli.main import main
from vera.errors import MissingExtra
from vera.spec.registry import datasets, unseen_sets

EMBEDDED = ("mnist5k-logit", "mnist5k-pixels", "mnist5k-table", "digits32", "digits-table", "wine")
REFUSED = {
    "run toy-demo --profile smoke": "vera[sweeps]",
    "search moons --profile smoke": "vera[sweeps]",
    "render table2": "vera[render]",
    "report": "vera[render]",
    "sample {folder}/mine.safetensors -o {folder}/samples.png": "vera[render]",
    "models": "vera[sweeps]",
    "data fetch cifar10 --data-dir {folder}": "vera[images]",
}
ANSWERED = (
    "data list",
    "data check mnist5k",
    "train {folder}/mine.csv --steps 20 -o {folder}/trained",
    "sample {folder}/mine.safetensors -n 4 -o {folder}/samples.csv",
    "score {folder}/mine.safetensors {folder}/mine.csv",
)


def run_the_short_example(folder: Path) -> None:
    x = vera.data.load(folder / "mine.csv")
    model = vera.train(x, steps=20, progress=False)
    assert model.sample(4, refine=2).shape == (4, 2)
    model.save(folder / "mine.safetensors")
    points = np.zeros((5, 2), np.float32)
    assert np.array_equal(vera.load_model(folder / "mine.safetensors").score(points), model.score(points))
    check_refused(model.plot, "vera[render]")


def train_chosen_networks() -> None:
    x = torch.randn(200, 2, generator=torch.Generator().manual_seed(0))
    energy, network = vera.models.MLP(2), vera.models.MLPGenerator(latent_dim=2, data_dim=2)
    trainer = vera.Trainer(vera.methods.VERA(energy, vera.Generator(network)), x, steps=20)
    assert trainer.run().outcome == "ok"
    assert vera.SavedModel.from_trainer(trainer).score(x).shape == (200,)
    check_refused(lambda: vera.plot.plot_samples(x), "vera[render]")


def train_from_a_spec_and_load(folder: Path) -> None:
    spec = vera.TrialSpec(
        dataset={"name": "mnist5k-logit", "side": 14},
        networks={"energy": {"name": "mlp"}, "generator": {"name": "mlp-generator"}},
        method={"name": "vera"},
        steps=2,
        batch_size=20,
    )
    trainer = vera.build_trainer(spec)
    assert trainer.run().outcome == "ok"
    saved = vera.SavedModel.from_trainer(trainer)
    saved.save(folder / "model.safetensors")
    loaded = vera.load_model(folder / "model.safetensors")
    x = loaded.sample(4, refine=2)
    assert x.shape == (4, 196)
    assert torch.equal(loaded.score(x), saved.score(x))


def read_embedded_data() -> None:
    assert all(datasets.get(name).locate().is_dir() for name in EMBEDDED)
    assert vera.data.Wine().split(0).train.shape == (143, 13)
    split = vera.data.Digits32().split(0)
    check_refused(lambda: unseen_sets.create("photos", split=split).images, "vera[images]")


def run_commands(folder: Path) -> None:
    for command, extra in REFUSED.items():
        code, message = run_command(command.format(folder=folder))
        assert (code, message.count("\n"), extra in message) == (2, 1, True), (command, code, message)
    check_refused(lambda: sweeps.grid, "vera[sweeps]")
    for command in ANSWERED:
        code, message = run_command(command.format(folder=folder))
        assert (code, message) == (0, ""), (command, code, message)


def run_command(command: str) -> tuple[int, str]:
    """The exit code and what was printed to stderr."""
    with redirect_stderr(io.StringIO()) as errors, redirect_stdout(io.StringIO()):
        return main(command.split()), errors.getvalue()


def check_refused(call: Callable[[], object], extra: str) -> None:
    message = "nothing was refused"
    try:
        call()
    except MissingExtra as error:
        message = str(error)
    assert f"pip install '{extra}'" in message, message


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        np.savetxt(
            Path(work) / "mine.csv",
            np.random.default_rng(0).normal(size=(200, 2)),
            delimiter=",",
            header="a,b",
            comments="",
        )
        run_the_short_example(Path(work))
        train_chosen_networks()
        train_from_a_spec_and_load(Path(work))
        read_embedded_data()
        run_commands(Path(work))
    print("The core works alone.")
