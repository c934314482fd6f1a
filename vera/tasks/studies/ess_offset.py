"""The task "ess-offset": effective sample size against the offset of the proposal (Figure 6, B.6).

Target N(0, I), proposal N(m·1, I), k draws. With f the log-density of the target, the proposal's is f shifted
by m, so a draw x + m, x standard normal, has the log weight f(x + m) − f(x). Each step of the run takes one
m, from 0 to the largest, and one batch of draws. Trap: m is the offset of every coordinate. Read as a
distance between the means it would leave an ESS of 4.5 at m = 2, where the paper says that it has come down
to 1.
"""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import torch
from torch import Tensor

from vera.data.toys.gaussian import Gaussian
from vera.errors import SettingError, VeraError
from vera.evaluation import effective_sample_size
from vera.methods.contract import Method, Metrics
from vera.models import GaussianMixture
from vera.spec.registry import Registry, estimators, tasks
from vera.spec.settings import Count, Positive
from vera.spec.trial_spec import TrialSpec
from vera.tasks.build import build_dataset
from vera.tasks.contract import Measurement, Task
from vera.training.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer

FAR = 2.0
"""The offset beyond which the paper finds an ESS of about 1."""


@estimators.register("shifted-proposal")
@dataclass(eq=False)
class ShiftedProposal(Method):
    """Importance sampling of a density with its own shifted copy; `energy` is that density and stays as it
    is."""

    energy: GaussianMixture
    registry: ClassVar[Registry[Any]] = estimators
    _: KW_ONLY
    offsets: Annotated[Count, "offsets from 0 to the largest, one a step; filled in from the spec's steps"]
    k: Annotated[Count, "draws for each estimate"] = 20
    largest: Annotated[Positive, "the largest offset"] = 5.0

    def setup(self) -> None:
        self.offset = torch.linspace(0, self.largest, self.offsets)
        self.ess, self.standard_error = torch.zeros(self.offsets), torch.zeros(self.offsets)
        self.taken = 0

    @torch.no_grad()
    def step(self, x: Tensor) -> Metrics:
        log_weights = self.energy(x + self.offset[self.taken]) - self.energy(x)
        sizes = effective_sample_size(log_weights.view(self.k, -1)).double()
        self.ess[self.taken], self.standard_error[self.taken] = sizes.mean(), sizes.std() / len(sizes) ** 0.5
        self.taken += 1
        return {"loss": -sizes.mean()}


@tasks.register("ess-offset")
class EssOffsetTask(Task):
    """How fast importance sampling breaks down as the proposal moves off its target."""

    methods = estimators

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        data = build_dataset(spec.dataset, data_dir)
        if not isinstance(data, Gaussian):
            raise VeraError(f"The task 'ess-offset' has a Gaussian target, got the data set '{data.name}'.")
        settings = {key: value for key, value in spec.method.items() if key != "name"}
        with use_seed(derive_seed(spec.seed, "networks")):
            target = standard_normal(data.data_dim)
        method = estimators.create(spec.method["name"], energy=target, offsets=spec.steps, **settings)
        if spec.batch_size % method.k or spec.batch_size < 2 * method.k:
            raise SettingError(
                f"ess-offset: batch_size must be a multiple of k = {method.k}, and two of them, got {spec.batch_size}."
            )
        trainer = Trainer(
            method,
            data,
            steps=spec.steps,
            batch_size=spec.batch_size,
            seed=spec.seed,
            device=device,
            **options,
        )
        trainer.spec = spec.to_dict()
        return trainer

    def measure(self, trainer: Trainer) -> Measurement:
        method = trainer.method
        assert isinstance(method, ShiftedProposal)
        arrays = {"offset": method.offset, "ess": method.ess, "ess_se": method.standard_error}
        far = method.ess[method.offset > FAR]
        metrics = {"ess_unshifted": float(method.ess[0])} | (
            {"ess_far": float(far.amax())} if len(far) else {}
        )
        return Measurement(metrics, {name: array.cpu() for name, array in arrays.items()})


def standard_normal(dim: int) -> GaussianMixture:
    """log N(x; 0, I) as a model."""
    model = GaussianMixture(dim, components=1)
    torch.nn.init.zeros_(model.means)
    return model
