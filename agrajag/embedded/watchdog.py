"""Ends a server when the process that started it has ended, in whatever way, kill -9 included.

Run as a script by agrajag.embedded.child, beside the server, with a pipe as standard input whose other end
only the parent holds. The kernel closes that end when the parent dies, so this works on every POSIX system
and from every thread. (Linux's parent-death signal is bound to the *thread* that forked and would end a
server that `asyncio.to_thread` has started as soon as that thread goes.)
"""

import os
import signal
import sys
import time

TERM_GRACE_SECONDS = 5.0
_POLL_SECONDS = 0.05


def end_process(pid: int, grace_seconds: float) -> None:
    """Sends SIGTERM, and SIGKILL to what is still there after the grace."""
    try:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + grace_seconds
        while time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
            os.kill(pid, 0)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def main() -> None:
    """Reads the server's pid from the pipe, waits for the pipe to close, and ends the server."""
    line = sys.stdin.readline()
    if not line:
        return  # the parent ended before it had started the server
    sys.stdin.read()
    end_process(int(line), TERM_GRACE_SECONDS)


if __name__ == "__main__":
    main()
