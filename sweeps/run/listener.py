"""Events of a run. Imports neither ray nor torch, so a display does not need them."""

from sweeps.store.row import Row


class TrialListener:
    """Receives the events of a run; the progress display is one."""

    def on_note(self, note: str) -> None:
        """A message before the first trial starts."""

    def on_start(self, trial_id: str) -> None:
        """The trial starts."""

    def on_resume(self, trial_id: str, step: int) -> None:
        """The trial resumes from a checkpoint at this step; sent once, before it advances."""

    def on_advance(self, trial_id: str, step: int) -> None:
        """The trial has reached this step."""

    def on_end(self, row: Row) -> None:
        """The trial has ended with this row."""
