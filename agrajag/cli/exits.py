"""What the program ends with, so that a script can tell what has happened."""

from enum import IntEnum
from typing import TYPE_CHECKING

from agrajag.model.enums import Status

if TYPE_CHECKING:
    from collections.abc import Iterable


class Exit(IntEnum):
    """FAILED: it was refused, or something is wrong. WRONG_SETUP: the usage or a setting. UNREACHABLE: a service is
    away, or nobody has answered in time. DEGRADED, DOWN: the worst that was shown of tools."""

    FINE = 0
    FAILED = 1
    WRONG_SETUP = 2
    UNREACHABLE = 3
    DEGRADED = 4
    DOWN = 5


_OF_STATUS = {Status.OK: Exit.FINE, Status.DEGRADED: Exit.DEGRADED, Status.DOWN: Exit.DOWN}


def exit_of(statuses: "Iterable[Status]") -> Exit:
    """By the worst of them; FINE where there is none."""
    return max((_OF_STATUS[status] for status in statuses), default=Exit.FINE)
