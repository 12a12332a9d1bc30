"""Decides which IP addresses a probe may connect to.

What is judged is the address that is connected to, never a name. Some are refused whatever an operator says: a probe
must not reach the metadata of the machine it runs on. Those of the machine and its own networks are only permitted
where the operator has said so. An IPv6 address that carries an IPv4 address is judged by both.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

_NEVER: tuple[IPv4Network | IPv6Network, ...] = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8",  # this host, unspecified
            "169.254.0.0/16",  # link-local, and the metadata of most clouds
            "100.100.100.200/32",  # metadata
            "192.0.0.192/32",  # metadata
            "168.63.129.16/32",  # metadata
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, broadcast
            "::/128",
            "fe80::/10",
            "fec0::/10",
            "fd00:ec2::/32",  # metadata
            "fd20:ce::254/128",  # metadata
            "ff00::/8",
        ),
    )
)
_PRIVATE: tuple[IPv4Network | IPv6Network, ...] = tuple(
    map(
        ip_network,
        (
            "127.0.0.0/8",
            "10.0.0.0/8",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "100.64.0.0/10",
            "::1/128",
            "fc00::/7",
        ),
    )
)
_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_CARRIERS = (IPv6Network("::/96"), *_NAT64)
_NEVER_NAMES = ("metadata", "instance-data", "metadata.google.internal", "metadata.goog")


@dataclass(frozen=True, slots=True)
class AddressRules:
    """What an operator permits. `private_addresses`: those of the machine itself and of private networks too."""

    private_addresses: bool = False

    def permits(self, address: str) -> bool:
        """Whether this IP address may be connected to; False for what is no IP address."""
        try:
            ip = ip_address(address)
        except ValueError:
            return False
        return all(self._permits(one) for one in (ip, *_carried(ip)))

    def permits_name(self, host: str) -> bool:
        """Whether a host may be looked up at all."""
        return host.rstrip(".").lower() not in _NEVER_NAMES

    def _permits(self, ip: IPv4Address | IPv6Address) -> bool:
        if any(ip in network for network in _NEVER):
            return False
        if any(ip in network for network in _PRIVATE):
            return self.private_addresses
        return ip.is_global or bool(_carried(ip))


def _carried(ip: IPv4Address | IPv6Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that an IPv6 address stands for, where a gateway or the system may go on to them."""
    if isinstance(ip, IPv4Address) or int(ip) <= 1:
        return ()
    if (mapped := ip.ipv4_mapped) is not None:
        return (mapped,)
    if (behind := ip.sixtofour) is not None:
        return (behind,)
    if (tunnelled := ip.teredo) is not None:
        return tunnelled
    if any(ip in network for network in _CARRIERS):
        return (IPv4Address(int(ip) & 0xFFFFFFFF),)
    return ()
