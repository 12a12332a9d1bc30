"""What one investigation may use. Limits that contradict each other are refused at the start, all of them at once."""

from dataclasses import dataclass, fields

from agrajag.errors import ConfigError
from agrajag.harness import Budgets
from agrajag.investigation.progress import ProgressLimits
from agrajag.investigation.projection import MIN_BYTES

_KIB = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes are UTF-8 bytes. `run_text_bytes` bounds the accepted input and the answer of a run together.

    `observation_bytes` bounds what the model is shown of one tool call. Rounds must suffice for every tool attempt, for
    the call that meets the stop, and for the answer.
    """

    query_bytes: int = 8 * _KIB
    previous_turn_bytes: int = 16 * _KIB
    input_bytes: int = 32 * _KIB
    draft_bytes: int = 16 * _KIB
    run_text_bytes: int = 64 * _KIB
    observation_bytes: int = 8 * _KIB
    tool_attempts: int = 8
    no_gains: int = 3
    model_calls: int = 10
    tokens: int = 150_000
    reply_tokens: int = 6_000
    run_seconds: float = 180.0
    tool_seconds: float = 15.0

    def __post_init__(self) -> None:
        problems = [
            f"investigation {field.name}: {getattr(self, field.name)} is not above 0"
            for field in fields(self)
            if getattr(self, field.name) <= 0
        ]
        rounds, text_bytes = self.tool_attempts + 2, self.input_bytes + self.draft_bytes
        if self.model_calls < rounds:
            problems.append(f"investigation model_calls: {self.model_calls} < tool_attempts + 2 = {rounds}")
        if self.run_text_bytes < text_bytes:
            problems.append(
                f"investigation run_text_bytes: {self.run_text_bytes} < input_bytes + draft_bytes = {text_bytes}"
            )
        if 0 < self.observation_bytes < MIN_BYTES:
            problems.append(
                f"investigation observation_bytes: {self.observation_bytes} is less than {MIN_BYTES}"
            )
        if problems:
            raise ConfigError(*problems)

    @property
    def progress(self) -> ProgressLimits:
        """What bounds the collecting."""
        return ProgressLimits(self.tool_attempts, self.no_gains)

    @property
    def budgets(self) -> Budgets:
        """What bounds the run.

        Attempts are counted where calls are judged, so the budget of tool calls here is one more than can be run; and
        each observation has its bound, so all of them together have the sum.
        """
        return Budgets(
            model_calls=self.model_calls,
            tokens=self.tokens,
            tool_calls=self.tool_attempts + 1,
            text_bytes=self.run_text_bytes,
            observation_bytes=self.tool_attempts * self.observation_bytes + 1,
        )
