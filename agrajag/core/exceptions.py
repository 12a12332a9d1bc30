"""Which exception classes of Python, Node, .NET and Go mean the same as the Java classes that rule files name.

Rule files keep the Java names of the specification; a report from another runtime carries that runtime's own. Only
names that leave no doubt are listed, each as its runtime prints it.
"""

JAVA_EQUIVALENTS: dict[str, tuple[str, ...]] = {
    "java.net.ConnectException": (
        "ConnectException",
        "ConnectionRefusedError",
        "urllib3.exceptions.NewConnectionError",
        "httpx.ConnectError",
        "httpcore.ConnectError",
        "httpx2.ConnectError",
        "httpcore2.ConnectError",
        "aiohttp.ClientConnectorError",
        "aiohttp.client_exceptions.ClientConnectorError",
        "ECONNREFUSED",
        "syscall.ECONNREFUSED",
        "java.net.NoRouteToHostException",
    ),
    "java.net.UnknownHostException": (
        "UnknownHostException",
        "socket.gaierror",
        "gaierror",
        "urllib3.exceptions.NameResolutionError",
        "aiohttp.client_exceptions.ClientConnectorDNSError",
        "ENOTFOUND",
        "net.DNSError",
    ),
    "java.net.SocketTimeoutException": (
        "SocketTimeoutException",
        "java.util.concurrent.TimeoutException",
        "java.net.http.HttpTimeoutException",
        "TimeoutError",
        "asyncio.TimeoutError",
        "asyncio.exceptions.TimeoutError",
        "socket.timeout",
        "concurrent.futures.TimeoutError",
        "requests.exceptions.Timeout",
        "requests.exceptions.ReadTimeout",
        "requests.exceptions.ConnectTimeout",
        "urllib3.exceptions.ReadTimeoutError",
        "urllib3.exceptions.ConnectTimeoutError",
        "httpx.ReadTimeout",
        "httpx.ConnectTimeout",
        "httpx.PoolTimeout",
        "httpx.WriteTimeout",
        "httpx.TimeoutException",
        "httpcore.ReadTimeout",
        "httpcore.ConnectTimeout",
        *(
            f"{client}.{kind}"
            for client in ("httpx2", "httpcore2")
            for kind in ("ReadTimeout", "ConnectTimeout", "PoolTimeout", "WriteTimeout", "TimeoutException")
        ),
        "ETIMEDOUT",
        "ESOCKETTIMEDOUT",
        "UND_ERR_HEADERS_TIMEOUT",
        "UND_ERR_BODY_TIMEOUT",
        "System.TimeoutException",
        "context.DeadlineExceeded",
    ),
    "ToolException": ("mcp.server.fastmcp.exceptions.ToolError", "fastmcp.exceptions.ToolError"),
}

_NO_ANSWER = frozenset(
    {
        "java.net.ConnectException",
        "java.net.UnknownHostException",
        "java.net.SocketTimeoutException",
        "java.net.SocketException",
        "ConnectionResetError",
        "ConnectionAbortedError",
        "ConnectError",
        "ReadError",
        "WriteError",
        "RemoteProtocolError",
        "SSLException",
        "SSLHandshakeException",
        "SSLError",
        "SSLCertVerificationError",
        "SSLEOFError",
        "SSLZeroReturnError",
        "ECONNRESET",
    }
)

_CANONICAL = {alias: java for java, aliases in JAVA_EQUIVALENTS.items() for alias in aliases}


def class_names(names: tuple[str, ...]) -> frozenset[str]:
    """Every name under which a rule may call these exceptions: as reported, without its package, and in Java."""
    found: set[str] = set()
    for reported in names:
        name = reported.removeprefix("builtins.")
        found.add(reported)
        found.add(name.rpartition(".")[2])
        if name in _CANONICAL:
            found.add(_CANONICAL[name])
    return frozenset(found)


def is_no_answer(names: tuple[str, ...]) -> bool:
    """Whether these exceptions say that no whole answer came: no connection, no name, no TLS, or no time left."""
    return not _NO_ANSWER.isdisjoint(class_names(names))
