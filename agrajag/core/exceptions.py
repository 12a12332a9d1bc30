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
        "EHOSTUNREACH",
        "ENETUNREACH",
        "syscall.ECONNREFUSED",
        "syscall.EHOSTUNREACH",
        "java.net.NoRouteToHostException",
        "org.apache.http.conn.HttpHostConnectException",
        "org.apache.hc.client5.http.HttpHostConnectException",
        "io.netty.channel.AbstractChannel$AnnotatedConnectException",
    ),
    "java.net.UnknownHostException": (
        "UnknownHostException",
        "socket.gaierror",
        "gaierror",
        "urllib3.exceptions.NameResolutionError",
        "aiohttp.client_exceptions.ClientConnectorDNSError",
        "ENOTFOUND",
        "net.DNSError",
        "java.nio.channels.UnresolvedAddressException",
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
        "aiohttp.client_exceptions.ServerTimeoutError",
        "aiohttp.client_exceptions.ConnectionTimeoutError",
        "aiohttp.client_exceptions.SocketTimeoutError",
        "ETIMEDOUT",
        "ESOCKETTIMEDOUT",
        "UND_ERR_CONNECT_TIMEOUT",
        "java.net.http.HttpConnectTimeoutException",
        "org.apache.http.conn.ConnectTimeoutException",
        "org.apache.hc.client5.http.ConnectTimeoutException",
        "io.netty.channel.ConnectTimeoutException",
        "io.netty.handler.timeout.ReadTimeoutException",
        "UND_ERR_HEADERS_TIMEOUT",
        "UND_ERR_BODY_TIMEOUT",
        "System.TimeoutException",
        "context.DeadlineExceeded",
    ),
    "java.net.SocketException": (
        "SocketException",
        "ConnectionResetError",
        "ConnectionAbortedError",
        "BrokenPipeError",
        "http.client.RemoteDisconnected",
        "urllib3.exceptions.ProtocolError",
        *(
            f"{client}.{kind}"
            for client in ("httpx", "httpcore", "httpx2", "httpcore2")
            for kind in ("ReadError", "WriteError", "RemoteProtocolError")
        ),
        "aiohttp.client_exceptions.ServerDisconnectedError",
        "ECONNRESET",
        "EPIPE",
        "UND_ERR_SOCKET",
        "syscall.ECONNRESET",
        "syscall.EPIPE",
        "org.apache.http.NoHttpResponseException",
        "org.apache.hc.core5.http.NoHttpResponseException",
        "reactor.netty.http.client.PrematureCloseException",
    ),
    "javax.net.ssl.SSLException": (
        "SSLException",
        "ssl.SSLError",
        "requests.exceptions.SSLError",
        "urllib3.exceptions.SSLError",
        "aiohttp.client_exceptions.ClientConnectorSSLError",
        "EPROTO",
        "ERR_SSL_WRONG_VERSION_NUMBER",
        "System.Security.Authentication.AuthenticationException",
        "tls.RecordHeaderError",
    ),
    "javax.net.ssl.SSLHandshakeException": (
        "SSLHandshakeException",
        "ssl.SSLCertVerificationError",
        "aiohttp.client_exceptions.ClientConnectorCertificateError",
        "sun.security.validator.ValidatorException",
        "sun.security.provider.certpath.SunCertPathBuilderException",
        "CERT_HAS_EXPIRED",
        "CERT_NOT_YET_VALID",
        "DEPTH_ZERO_SELF_SIGNED_CERT",
        "SELF_SIGNED_CERT_IN_CHAIN",
        "UNABLE_TO_GET_ISSUER_CERT",
        "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
        "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
        "ERR_TLS_CERT_ALTNAME_INVALID",
        "x509.UnknownAuthorityError",
        "x509.HostnameError",
        "x509.CertificateInvalidError",
        "tls.CertificateVerificationError",
    ),
    "java.nio.channels.ClosedChannelException": (
        "ClosedChannelException",
        "anyio.ClosedResourceError",
        "anyio.BrokenResourceError",
        "ERR_STREAM_DESTROYED",
        "ERR_STREAM_WRITE_AFTER_END",
        "io.ErrClosedPipe",
    ),
    "java.nio.charset.CharacterCodingException": (
        "java.nio.charset.MalformedInputException",
        "java.nio.charset.UnmappableCharacterException",
        "UnicodeDecodeError",
        "UnicodeEncodeError",
        "System.Text.DecoderFallbackException",
        "System.Text.EncoderFallbackException",
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
