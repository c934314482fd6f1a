"""The task "ess-offset": effective sample size against the offset of the proposal (Figure 6, B.6).

The target is N(0, I), the proposal N(m·1, I), with k draws. Let f be the log-density of the target; that of
the proposal is f shifted by m, so a draw x + m with x standard normal has the log weight f(x + m) − f(x).
Each step of the run uses one m, from 0 to the largest, and one batch of draws. Trap: m is the offset of every
coordinate. As the distance between the means, m = 2 would give an ESS of 4.5, where the paper reports about
1.
"""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import torch
from torch import Tensor

from vera.data.toys import Gaussian
from vera.errors import SettingError, VeraError
from vera.evaluation import effective_sample_size
from vera.methods.contract import Method, Metrics
from vera.models import GaussianMixture
from vera.spec.registry import Registry, estimators, tasks
from vera.spec.settings import Count, Positive
from vera.spec.trial_spec import TrialSpec, split_component
from vera.tasks.build import assemble_trainer, build_dataset
from vera.tasks.contract import Measurement, Task
from vera.training.state.random_state import derive_seed, use_seed
from vera.training.trainer import Trainer

FAR = 2.0
"""The offset beyond which the paper reports an ESS of about 1."""


@estimators.register("shifted-proposal")
@dataclass(eq=False)
class ShiftedProposal(Method):
    """Importance sampling of a density from a shifted copy of it. `energy` is the density; it is not
    trained."""

    energy: GaussianMixture
    registry: ClassVar[Registry[Any]] = estimators
    has_fixed_length = True
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
    """Measures how the effective sample size falls as the proposal moves away from the target."""

    methods = estimators
    trains_model = False

    def build(
        self, spec: TrialSpec, *, data_dir: str | Path | None = None, device: str = "cpu", **options: Any
    ) -> Trainer:
        data = build_dataset(spec.dataset, data_dir)
        if not isinstance(data, Gaussian):
            raise VeraError(f"The task 'ess-offset' needs the data set 'gaussian', got '{data.name}'.")
        name, settings = split_component(spec.method)
        with use_seed(derive_seed(spec.seed, "networks")):
            target = make_standard_normal(data.data_dim)
        method = estimators.create(name, energy=target, offsets=spec.steps, **settings)
        if spec.batch_size % method.k or spec.batch_size < 2 * method.k:
            raise SettingError(
                f"ess-offset: batch_size must be a multiple of k = {method.k} and at least {2 * method.k}, "
                f"got {spec.batch_size}."
            )
        return assemble_trainer(spec, method, data, device=device, **options)

    def measure(self, trainer: Trainer) -> Measurement:
        method = trainer.method
        assert isinstance(method, ShiftedProposal)
        arrays = {"offset": method.offset, "ess": method.ess, "ess_se": method.standard_error}
        far = method.ess[method.offset > FAR]
        metrics = {"ess_unshifted": float(method.ess[0])}
        if len(far):
            metrics["ess_far"] = float(far.amax())
        return Measurement(metrics, {name: array.cpu() for name, array in arrays.items()})


def make_standard_normal(dim: int) -> GaussianMixture:
    """A model with the log-density log N(x; 0, I)."""
    model = GaussianMixture(dim, components=1)
    torch.nn.init.zeros_(model.means)
    return model
