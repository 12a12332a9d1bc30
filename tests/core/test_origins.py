"""Addresses that can be read in one way only, and the origin of each."""

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.origins import NoAddress, Origin, origin_of


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://example.com", ("https", "example.com", 443)),
        ("http://EXAMPLE.com:8080/a/b?c=d%20e", ("http", "example.com", 8080)),
        ("http://127.0.0.1/", ("http", "127.0.0.1", 80)),
        ("http://[::FFFF:7f00:1]:99/", ("http", "::ffff:7f00:1", 99)),
        ("https://tool_server/x", ("https", "tool_server", 443)),
    ],
)
def test_an_ordinary_address_has_an_origin(url: str, origin: tuple[str, str, int]) -> None:
    assert origin_of(url) == Origin(*origin)


@pytest.mark.parametrize(
    "url",
    [
        "", "example.com", "//example.com", "ftp://example.com", "https:/example.com", "https://", "https:///x",
        "https://u@example.com/", "https://u:p@example.com/", "https://example.com#@evil.com/",
        "https://example.com\\@evil.com/", "https://example.com/\\evil.com", "https://exam%70le.com/",
        "https://exämple.com/", "https://example.com\t/", "https://example.com/\r\nX: y", " https://example.com/",
        "https://example.com:0/", "https://example.com:65536/", "https://example.com:x/", "https://example.com./",
        "https://.example.com/", "https://a..b/", "https://-a.com/", "http://127.1/", "http://2130706433/",
        "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://127.0.0.01/", "http://1.2.3.4.5/",
        "http://256.0.0.1/", "http://0x/", "http://[::1%25lo]/", "http://[::1%lo]/", "http://[v1.x]/", "http://[:::]/",
        "http://①②⑦.0.0.1/", "http://127。0。0。1/", "https://example.com/" + "x" * 2_048,
    ],
)  # fmt: skip
def test_an_address_that_two_readers_could_read_differently_is_none(url: str) -> None:
    with pytest.raises(NoAddress):
        origin_of(url)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["{:d}", "{:#x}", "{:#o}", "0{:o}", "{:#X}", "{:08x}"]))
def test_an_ip_address_in_another_notation_is_never_an_address(number: int, notation: str) -> None:
    spelled = notation.format(number)
    try:
        assert (
            origin_of(f"http://{spelled}/").host == spelled
        )  # a name with letters, which only a resolver knows
        assert not spelled.isdigit()
    except NoAddress:
        pass
    assert origin_of(f"http://{IPv4Address(number)}/").host == str(IPv4Address(number))
