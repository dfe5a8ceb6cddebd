"""Which steps are recorded."""

from __future__ import annotations

from .options import Options


class StepWindow:
    """Counts the steps of the program, also those that are not recorded."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._step = 0
        self._told_by_program = False

    @property
    def now(self) -> bool:
        """True when the step that runs now is to be recorded."""
        after = self._step - self._options.start_step
        steps = self._options.steps
        inside = after >= 0 and (steps is None or after < steps * self._options.every)
        return inside and after % self._options.every == 0

    def step_ended(self, *, by_program: bool) -> bool:
        """The next step begins; see `now`. Once the program ends steps itself (`by_program`),
        optimizers do not."""
        if by_program and not self._told_by_program:
            self._told_by_program, self._step = True, 0
        if by_program == self._told_by_program:
            self._step += 1
        return self.now
