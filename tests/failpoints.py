"""Failpoints at which a process of a test ends itself."""

import os
import signal
from collections.abc import Callable


def dying(at: str, after: int) -> Callable[[str], None]:
    """Kills the process, with no chance to clean up, once it has passed the failpoint `at` more than `after` times."""
    passed = 0

    def failpoint(name: str) -> None:
        nonlocal passed
        if name == at:
            passed += 1
            if passed > after:
                os.kill(os.getpid(), signal.SIGKILL)

    return failpoint
