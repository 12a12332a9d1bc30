"""Every exception Agrajag raises on purpose, one branch per thing a caller can do about it.

    AgrajagError
    ├─ ConfigError      a setting, rule file or environment is wrong  -> stop at the start, exit code 2
    ├─ InputError       this one record is bad                        -> dead letter, never retried
    ├─ TransientError   it may work later                             -> retry with backoff
    └─ PermanentError   answered, and the answer is no                -> record it, do not retry

Cooling down, unclassified and over budget are values, not errors. Messages name the thing and the value that is
wrong, and never hold payloads, credentials or prompts.
"""


class AgrajagError(Exception):
    """The root: catching it catches everything Agrajag raises on purpose and no bug."""


class ConfigError(AgrajagError):
    """The start must stop: `problems` has one line for each thing that is wrong, ready to be shown."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class InputError(AgrajagError):
    """One record cannot be used. `reason` is a closed code for headers and metrics; the text is for people."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class TransientError(AgrajagError):
    """The other side is away or busy; the same call may succeed later."""


class PermanentError(AgrajagError):
    """The other side has understood and refused; the same call will be refused again."""
