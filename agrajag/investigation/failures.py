"""How an investigation fails: with a closed code, and with nothing that the model has written.

Neither the text of these errors nor what they were raised from or during quotes an answer of the model.
"""

from enum import StrEnum

from agrajag.errors import AgrajagError
from agrajag.investigation.records import ProgressSnapshot


class DraftFault(StrEnum):
    """What is wrong with an answer: first with its form, then with what it claims."""

    EMPTY = "EMPTY"
    NOT_ONE_TEXT = "NOT_ONE_TEXT"
    NOT_ENDED = "NOT_ENDED"  # cut by its length
    REFUSED = "REFUSED"
    TOO_LARGE = "TOO_LARGE"
    NOT_ONE_OBJECT = "NOT_ONE_OBJECT"  # a fence, a prefix, something after it, another kind of value
    MALFORMED = "MALFORMED"  # no JSON, or deeper or longer than any answer
    DUPLICATE_KEY = "DUPLICATE_KEY"
    SCHEMA = "SCHEMA"

    UNKNOWN_CALL = "UNKNOWN_CALL"  # cites what is no READY call of this run
    NO_EVIDENCE_AS_OBSERVATION = "NO_EVIDENCE_AS_OBSERVATION"
    NEGATIVE_WITHOUT_SCOPE = "NEGATIVE_WITHOUT_SCOPE"
    CONCLUSION_WITHOUT_EVIDENCE = "CONCLUSION_WITHOUT_EVIDENCE"
    MISSING_INFO_NOT_SAID = "MISSING_INFO_NOT_SAID"
    CHECKED_SCOPE_NOT_SAID = "CHECKED_SCOPE_NOT_SAID"
    CHECKED_SCOPE_INVENTED = "CHECKED_SCOPE_INVENTED"  # names one where no call was answered


class DiagnosisAgentError(AgrajagError):
    """The agent has failed, and there is no result. `code` is a StopReason of the harness in upper case, or a bug."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class DiagnosisAgentOutputError(AgrajagError):
    """The agent's last text is no valid draft. `snapshot`: what was checked; None where nothing was."""

    def __init__(self, code: DraftFault, snapshot: ProgressSnapshot | None) -> None:
        super().__init__(code.value)
        self.code = code
        self.snapshot = snapshot
