"""A credential is taken out of what repeats it, also where the text was cut through the middle of it."""

import base64
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.secret_shapes import MARKER
from agrajag.diagnosis.adapter import MAX_FAILURE_MESSAGE, RawOutcome, Secret, failed
from agrajag.diagnosis.echoes import Echoes
from agrajag.diagnosis.reading import as_error, shown
from tests.diagnosis.probe_cases import a_request, a_target

_SECRETS = st.text(
    st.characters(min_codepoint=0x21, exclude_characters="~", codec="utf-8"), min_size=1, max_size=40
)
_TARGET = a_target("https://search.example.com/")


def _spellings(secret: str) -> list[str]:
    coded = base64.b64encode(secret.encode()).decode()
    return [secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1], coded]


_CASES = _SECRETS.flatmap(
    lambda secret: st.tuples(st.just(secret), st.sampled_from(_spellings(secret)), st.integers(min_value=1))
)


@given(_CASES)
def test_whatever_part_of_it_stands_at_an_edge_never_stays(case: tuple[str, str, int]) -> None:
    secret, spelling, at = case
    size = at % len(spelling) + 1
    echoes = Echoes(Secret(secret))
    assert echoes.removed(f"~{spelling[:size]}", cut_after=True).replace(MARKER, "") == "~"
    assert echoes.removed(f"{spelling[-size:]}~", cut_before=True).replace(MARKER, "") == "~"


@given(_CASES)
def test_a_cut_through_a_character_of_it_leaves_nothing_either(case: tuple[str, str, int]) -> None:
    secret, spelling, at = case
    whole = spelling.encode()
    size = at % len(whole) + 1
    echoes = Echoes(Secret(secret))
    assert echoes.longest_bytes >= len(whole)
    assert echoes.text_of(b"~" + whole[:size], cut_after=True).replace(MARKER, "") == "~"
    assert echoes.text_of(whole[-size:] + b"~", cut_before=True).replace(MARKER, "") == "~"


def test_where_nothing_was_cut_the_start_of_it_is_a_word_like_others() -> None:
    assert Echoes(Secret("share-and-enjoy")).removed("enjoy what you share") == "enjoy what you share"
    assert Echoes(None).removed("share", cut_before=True, cut_after=True) == "share"


def test_a_form_that_holds_another_is_taken_out_as_a_whole() -> None:
    assert Echoes(Secret("ab:b")).removed("x ab:b x b") == f"x {MARKER} x {MARKER}"


@pytest.mark.parametrize("before", [970, 990, MAX_FAILURE_MESSAGE - 10])
def test_the_text_of_an_exception_is_not_cut_through_it(before: int) -> None:
    token = "sirius-token-0123456789-abcdefghijklmn"
    raw = failed(RuntimeError("." * before + token))
    error = as_error(a_request(), _TARGET, raw, Secret(token))
    assert "sirius" not in repr(error)
    assert "sirius" not in shown(error)


def test_a_body_that_was_cut_and_is_full_of_it_shows_no_part() -> None:
    token = "sirius" * 100
    body = (token * 40).encode()[:-300]
    error = as_error(a_request(), _TARGET, RawOutcome(ok=False, body=body, truncated=True), Secret(token))
    assert "sirius" not in shown(error)


def test_a_code_is_not_cut_through_a_secret() -> None:
    raw = RawOutcome(ok=False, error_code="E" * 90 + " password=correct-horse-battery-staple-9")
    assert "correct" not in repr(as_error(a_request(), _TARGET, raw, None))
