"""Which IP addresses a probe may connect to, in whatever notation they come."""

import ipaddress
from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.diagnosis.addresses import AddressRules

_STRICT, _WIDE = AddressRules(), AddressRules(private_addresses=True)

_NEVER = (
    "0.0.0.0", "0.1.2.3", "169.254.169.254", "169.254.0.1", "100.100.100.200", "192.0.0.192", "168.63.129.16",  # noqa: S104
    "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "::",
    "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
    "fd00:ec2::254", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::169.254.169.254", "64:ff9b::169.254.169.254",
    "64:ff9b:1::a9fe:a9fe", "2002:a9fe:a9fe::1", "2001:0:a9fe:a9fe::1", "::ffff:0.0.0.0", "::ffff:224.0.0.1",
    "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "2001:db8::1",
)  # fmt: skip
_PRIVATE = (
    "127.0.0.1", "127.8.9.1", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "::1", "fd12::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::",
)  # fmt: skip
_PUBLIC = ("8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8")


@pytest.mark.parametrize("address", _NEVER)
def test_some_addresses_are_refused_whatever_an_operator_says(address: str) -> None:
    assert (_STRICT.permits(address), _WIDE.permits(address)) == (False, False)


@pytest.mark.parametrize("address", _PRIVATE)
def test_private_addresses_are_permitted_only_where_the_operator_says_so(address: str) -> None:
    assert (_STRICT.permits(address), _WIDE.permits(address)) == (False, True)


@pytest.mark.parametrize("address", _PUBLIC)
def test_public_addresses_are_permitted(address: str) -> None:
    assert (_STRICT.permits(address), _WIDE.permits(address)) == (True, True)


@pytest.mark.parametrize(
    "text", ["", "localhost", "0x7f000001", "2130706433", "127.1", "0177.0.0.1", "1.2.3.4.5"]
)
def test_what_is_no_ip_address_is_never_permitted(text: str) -> None:
    assert not _WIDE.permits(text)


@pytest.mark.parametrize("name", ["metadata.google.internal", "METADATA.google.internal.", "metadata"])
def test_hosts_of_metadata_are_not_even_looked_up(name: str) -> None:
    assert not _WIDE.permits_name(name)
    assert _WIDE.permits_name("metadata.example.com")


_REFUSED_V4 = [
    ip_network(text)
    for text in ("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "100.100.100.200/32")
]
_PRIVATE_V4 = [ip_network(text) for text in ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]


def _members(networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> st.SearchStrategy[IPv4Address]:
    return st.sampled_from(networks).flatmap(
        lambda network: st.integers(int(network[0]), int(network[-1])).map(IPv4Address)
    )


def _notations(ip: IPv4Address) -> list[str]:
    number = int(ip)
    carried = [
        (0xFFFF << 32) | number, number, (0x64FF9B << 96) | number, (0x64FF9B0001 << 80) | number,
        (0x2002 << 112) | (number << 80) | 1, (0x20010000 << 96) | (number << 64) | 0xF7F7,
    ]  # fmt: skip
    return [
        str(ip),
        *(spelled for one in carried for spelled in (str(IPv6Address(one)), IPv6Address(one).exploded)),
    ]


@given(_members(_REFUSED_V4))
def test_no_notation_of_a_refused_address_is_ever_permitted(ip: IPv4Address) -> None:
    assert [
        text
        for text in _notations(ip)
        if _WIDE.permits(text) and text not in ("::1", IPv6Address(1).exploded)
    ] == []


@given(_members(_PRIVATE_V4))
def test_no_notation_of_a_private_address_is_ever_permitted_by_default(ip: IPv4Address) -> None:
    assert [text for text in _notations(ip) if _STRICT.permits(text)] == []


@given(st.integers(0, 2**128 - 1).map(IPv6Address) | st.integers(0, 2**32 - 1).map(IPv4Address))
def test_whatever_is_permitted_by_default_is_a_public_address(ip: IPv4Address | IPv6Address) -> None:
    if _STRICT.permits(str(ip)):
        assert (ip.is_link_local, ip.is_multicast, ip.is_unspecified, ip.is_loopback) == (False,) * 4
        assert not ip.is_private or (isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None)
        assert _WIDE.permits(str(ip))
