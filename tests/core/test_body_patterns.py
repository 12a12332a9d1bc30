"""Patterns on text: RE2's, bounded, never on the empty text; and what text must hold for one to match."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.body_patterns import BadPattern, BodyPattern
from agrajag.core.match import RuleSet
from agrajag.core.response_conditions import BodyMatches
from tests.builders import a_rule, features_of


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(", r"is no RE2 pattern: missing \)"),
        (r"(a)\1", "is no RE2 pattern: invalid escape"),
        ("(?=a)", "is no RE2 pattern"),
        ("a*", "matches the empty text"),
        ("^", "matches the empty text"),
        ("a|", "matches the empty text"),
        ("(?-i)ABC", "upper case from lower"),
        ("a(?s-i:BC)", "upper case from lower"),
        ("[[:upper:]]bc", "upper case from lower"),
        (r"\p{Lu}bc", "upper case from lower"),
        ("(a{100}){10}" * 5, "is no RE2 pattern|compiles to"),
    ],
)
def test_what_is_no_usable_pattern_is_told(text: str, reason: str) -> None:
    with pytest.raises(BadPattern, match=reason):
        BodyPattern(text)


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("try again in ([0-9.]+)s", ("try again in ",)),
        ("Foo|BarBaz", ("foo", "barbaz")),
        (r"(a|b)?bar\.x", ("bar.x",)),
        ("a{2,5}hello", ("hello",)),
        ("hello?", ("hell",)),
        ("hell+o", ("hel",)),
        (r"[^\]abc]wxyz", ("wxyz",)),
        ("[[:alpha:]]wxyz", ("wxyz",)),
        ("(?P<n>abc)defg", ("defg",)),
        ("straße weg", ("e weg",)),
        ("(abc|defg)", ("abc", "defg")),
        ("(abc|defg)?x", ()),
        ("(abc|defg)+x", ()),
        ("(abc|d) wxyz", (" wxyz",)),
        ("(?:authenti(?:cation|cated)|login) (?:is )?x", ("authenti", "login")),
        ("ab(?:cde|(?:fgh|ijk)l?) m", ("cde", "fgh", "ijk")),
        ("abc|d", ()),
        (r"\x41bcd", ()),
        (r"\p{Greek}", ()),
        (r"\Qabc\E", ()),
        ("(?s)abcd", ()),
    ],
)
def test_what_a_text_must_contain_is_read_off_where_it_is_plain(text: str, literals: tuple[str, ...]) -> None:
    assert BodyPattern(text).literals == literals


_PIECES = st.sampled_from(
    [
    "ab", "c", "X", "[bc]", "[^a]", "a?", "b*", "c+", "a{1,2}", "(a|bc)", "(?:ab)?",
    "(abc|Xcc)", "(?:cab|(abs|cKs))", r"\d", r"\.", ".", "|", "s", "K",
    ]
)  # fmt: skip


@given(st.lists(_PIECES, min_size=1, max_size=8).map("".join), st.text("abcABCxXsSkK.1ſK", max_size=20))
def test_a_pattern_never_matches_text_without_one_of_its_plain_texts_and_always_what_python_says(
    text: str, body: str
) -> None:
    try:
        pattern = BodyPattern(text)
    except BadPattern:
        return
    features = features_of(body=body)
    is_found = pattern.search(features.searched) is not None
    assert is_found == (
        re.search(text, features.searched.decode(), re.IGNORECASE | re.ASCII | re.MULTILINE) is not None
    )
    if is_found and pattern.literals:
        assert any(literal in features.text for literal in pattern.literals)


def test_message_and_body_each_begin_a_line() -> None:
    starts, ends = BodyPattern("^quota"), BodyPattern("spent$")
    for fitting in (
        {"body": "quota spent"},
        {"message": "quota spent"},
        {"message": "no", "body": "Quota spent"},
    ):
        assert starts.search(features_of(**fitting).searched) is not None
        assert ends.search(features_of(**fitting).searched) is not None
    rules = RuleSet([a_rule("r", conditions=(BodyMatches((BodyPattern("^[a-z]{5} spent$"),)),))])
    assert rules.first_match(features_of(message="no", body="quota spent")) is not None
    assert rules.first_match(features_of(message="no", body="a quota spent")) is None


def test_case_does_not_matter_and_only_the_beginning_is_searched() -> None:
    rules = RuleSet([a_rule("r", conditions=(BodyMatches((BodyPattern("Quota [A-Z]+"),)),))])
    assert rules.first_match(features_of(body="QUOTA exceeded")) is not None
    assert rules.first_match(features_of(body="x" * 16_000 + " quota exceeded")) is not None
    assert rules.first_match(features_of(body="x" * 17_000 + " quota exceeded")) is None
