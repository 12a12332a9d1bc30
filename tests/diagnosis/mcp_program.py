"""An MCP server as a program, in order or not: `python mcp_program.py <behaviour> [<file>]`.

It imports nothing of ours, and the SDK only where it is in order: a program that misbehaves shall begin at once.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def healthy() -> None:
    """Serves two tools with the SDK."""
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("sirius", log_level="CRITICAL")

    @server.tool()
    def search(q: str) -> str:
        return f"nothing about {q}"

    @server.tool()
    def environment() -> str:
        return " ".join(sorted(f"{name}={value}" for name, value in os.environ.items()))

    server.run("stdio")


def noisy() -> None:
    """Prints a banner where only messages belong, and then serves."""
    print("Sirius Cybernetics, share and enjoy", flush=True)
    healthy()


def chatter() -> None:
    """Prints what is no message, for ever."""
    while True:
        print("starting up ...", flush=True)
        time.sleep(0.01)


def dies() -> None:
    """Ends with a complaint before it has answered."""
    sys.stdin.readline()
    sys.exit("no licence for Sirius")


def tells() -> None:
    """Writes a file to standard output or error, with its credential in place of each `$TOKEN`, and ends."""
    sys.stdin.readline()
    text = Path(sys.argv[3]).read_text().replace("$TOKEN", os.environ.get("TOKEN", ""))
    os.write({"stdout": 1, "stderr": 2}[sys.argv[2]], text.encode())
    sys.exit(1)


def mute() -> None:
    """Reads all and says nothing."""
    sys.stdin.read()


def stubborn() -> None:
    """Neither answers nor ends, and has a child of the same kind; writes both numbers into the file."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, __file__, "child"], stdin=subprocess.DEVNULL)
    Path(sys.argv[2]).write_text(f"{os.getpid()} {child.pid}\n")
    while True:
        time.sleep(1)


def child() -> None:
    """Ignores what a stubborn parent ignores."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)


def giant() -> None:
    """Says one line without an end."""
    while True:
        os.write(1, b"a" * 65_536)


def torrent() -> None:
    """Says lines of some size without end."""
    while True:
        os.write(1, b"a" * 65_535 + b"\n")


def pings() -> None:
    """Asks instead of answering, without end."""
    for number in range(1_000_000):
        print(f'{{"jsonrpc":"2.0","id":{number},"method":"ping"}}', flush=True)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
