"""The progress of a grid as one bar, in a terminal or a notebook."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

from sweeps.run.progress import TrialListener
from sweeps.store.row import Row
from sweeps.trial.identity import Trial
from vera.training.progress import is_interactive, make_progress_bar


class ProgressBar(TrialListener):
    """Counts the steps of all trials. Use it as a context manager."""

    def __init__(self, name: str, trials: Sequence[Trial], shown: bool | None = None) -> None:
        self.steps = {trial.id: trial.spec.steps for trial in trials}
        self.reached: dict[str, int] = {}
        """The last step of each trial."""
        self.outcomes: dict[str, str] = {}
        shown = is_interactive() if shown is None else shown
        self.bar: Any = make_progress_bar(name, total=sum(self.steps.values()), initial=0, shown=shown)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.close()

    def on_note(self, note: str) -> None:
        if not self.bar.disable:
            self.bar.write(note)

    def on_advance(self, trial_id: str, step: int) -> None:
        self.bar.update(step - self.reached.get(trial_id, 0))
        self.reached[trial_id] = step

    def on_end(self, row: Row) -> None:
        """A trial that ended early still counts with all its steps, so that a full bar means done."""
        self.on_advance(row.trial_id, self.steps.get(row.trial_id, 0))
        self.outcomes[row.trial_id] = row.outcome
        counts = Counter(self.outcomes.values())
        words = [f"{count} {outcome.replace('_', ' ')}" for outcome, count in sorted(counts.items())]
        self.bar.set_postfix_str(f"{len(self.outcomes)}/{len(self.steps)} trials: {', '.join(words)}")
