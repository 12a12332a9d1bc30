"""Reads the addresses that an operator declares, so strictly that no two readers can take one for different hosts.

An address that is spelled unusually is refused and not interpreted: user parts, escapes in the host, hosts outside
ASCII, and numbers that some systems take for an IP address. Which IP addresses may be connected to is decided where
the host is resolved.
"""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NamedTuple

MAX_URL = 2_048
_PORTS = {"http": 80, "https": 443}
_URL = re.compile(
    r"(?P<scheme>https?)://(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9._-]{1,253}))"
    r"(?::(?P<port>[0-9]{1,5}))?(?P<rest>(?:/[!$%&'()*+,./0-9:;=@A-Z_a-z~-]*)?(?:\?[!$%&'()*+,./0-9:;=?@A-Z_a-z~\[\]-]*)?)",
    re.ASCII,
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)


class NoAddress(Exception):
    """The text is no address that may be declared; the message says why."""


class Origin(NamedTuple):
    """Whom an address speaks to; `host` in lower case, `port` always said."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def origin_of(url: str) -> Origin:
    """The origin of an http or https address. Raises NoAddress; the message holds nothing of a user part."""
    found = _URL.fullmatch(url) if len(url) <= MAX_URL else None
    if found is None:
        raise NoAddress(
            f"is no http or https address of at most {MAX_URL} plain characters, without user and fragment"
        )
    port = int(found["port"]) if found["port"] else _PORTS[found["scheme"]]
    if not 0 < port < 65_536:
        raise NoAddress(f"{port} is no port")
    host = _ipv6(found["v6"]) if found["v6"] else _name(found["name"].lower())
    return Origin(found["scheme"], host, port)


def _ipv6(text: str) -> str:
    try:
        return IPv6Address(text).compressed
    except AddressValueError:
        raise NoAddress(f"[{text}] is no IPv6 address") from None


def _name(host: str) -> str:
    labels = host.split(".")
    if any(_LABEL.fullmatch(label) is None for label in labels):
        raise NoAddress(f"{host} is no host name")
    if _NUMBER.fullmatch(labels[-1]) is not None:
        try:
            return str(IPv4Address(host))
        except AddressValueError:
            raise NoAddress(f"{host} is no IPv4 address of four plain numbers") from None
    return host
