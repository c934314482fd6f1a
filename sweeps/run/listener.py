"""What a run tells of its trials while they run. Loads neither Ray nor torch, so that whatever shows it need
not."""

from sweeps.store.row import Row


class Listener:
    """What happens to trials as they run; the progress display is one."""

    def noted(self, note: str) -> None:
        """Something to know before the first of them starts."""

    def started(self, trial_id: str) -> None: ...

    def resumed(self, trial_id: str, step: int) -> None:
        """It goes on from a checkpoint; told once, before it advances."""

    def advanced(self, trial_id: str, step: int) -> None: ...

    def ended(self, row: Row) -> None: ...
