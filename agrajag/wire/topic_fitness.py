"""Decides on which topics a role must not start: those that are missing, or otherwise than it can do with.

A topic that does not take what the role writes would end it at the first record that is too large, and again at every
start after that.
"""

from collections.abc import Collection, Sequence

from agrajag.errors import ConfigError
from agrajag.wire.topic_admin import Finding

_SIZE = "max.message.bytes"


def refuse_unfit(findings: Sequence[Finding], *, settings: Collection[str], written: Collection[str]) -> None:
    """Raises ConfigError, one line for each finding that the role cannot do with.

    These are missing topics, differences in one of `settings`, and too small a limit on a topic in `written`.
    """
    unfit = [
        finding
        for finding in findings
        if finding.found is None
        or finding.setting in settings
        or (finding.setting == _SIZE and finding.topic in written)
    ]
    if unfit:
        missing = any(finding.found is None for finding in unfit)
        advice = ("create the topics first: agrajag topics create",) if missing else ()
        raise ConfigError(*map(str, unfit), *advice)
