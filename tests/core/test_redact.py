"""What must be gone from error text, what must stay, and what that may cost."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.core.redact import LOOKAHEAD, detail_of, redacted, redacted_end
from agrajag.core.secret_shapes import MARKER, SHAPES
from tests.builders import an_error
from tests.core.secrets import LOOK_ALIKES, PLANTED, Planted

_FRAGMENTS = st.one_of(
    st.sampled_from([planted.leaking for planted in PLANTED]),
    st.sampled_from([anchor for shape in SHAPES for anchor in shape.anchors]),
    st.sampled_from(
        ["=", ": ", "'", '"', '\\"', "@", "://", "/", "&", "?", " ", "\n", "%22", MARKER, "-----BEGIN "]
    ),
    st.sampled_from(
        ["x", "hunter2", "a1B2c3D4e5F6g7H8i9J0k1L2", "4111111111111111", ".", "-", "[", "]", "is"]
    ),
    st.text(max_size=4),
)
_HOSTILE = st.lists(_FRAGMENTS, max_size=12).map("".join)


def test_the_tables_are_large_enough_to_mean_something() -> None:
    assert len(PLANTED) >= 60
    assert len(LOOK_ALIKES) >= 60
    assert len({planted.kind for planted in PLANTED}) == len(PLANTED)


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.kind)
def test_a_secret_is_replaced_and_everything_around_it_stays(planted: Planted) -> None:
    assert redacted(planted.leaking) == planted.safe


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.kind)
def test_a_secret_is_found_in_the_middle_of_a_longer_text(planted: Planted) -> None:
    around = "2026-05-23 ERROR request 17 failed after 3 attempts\n"
    assert redacted(f"{around}{planted.leaking}\n{around}").startswith(around + planted.safe[:-1])


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_text_that_only_looks_like_a_secret_stays_readable(text: str) -> None:
    assert redacted(text) == text
    assert redacted(f"tool failed ({text})") == f"tool failed ({text})"


def test_many_secrets_in_one_text_are_all_replaced() -> None:
    text = "\n".join(planted.leaking for planted in PLANTED if "BEGIN" not in planted.text)
    expected = "\n".join(planted.safe for planted in PLANTED if "BEGIN" not in planted.text)
    assert redacted(text) == expected


def test_a_letter_that_grows_in_lower_case_does_not_shift_what_is_replaced() -> None:
    growing = [chr(code) for code in range(0x110000) if len(chr(code).lower()) != 1]
    assert growing == ["\u0130"]
    assert (
        redacted("\u0130\u0130\u0130 password=hunter2 \u0130")
        == f"\u0130\u0130\u0130 password={MARKER} \u0130"
    )


@pytest.mark.parametrize(
    ("number", "gone"),
    [
        ("4111111111111111", True),
        ("4111111111111112", False),
        ("6011000990139424", True),
        ("30569309025904", True),
        ("1234567812345670", False),  # passes Luhn, but no card begins so
        ("a4111111111111111", False),
        ("41111111111111111", False),
    ],
)
def test_a_number_is_a_card_by_its_beginning_length_and_check_digit(number: str, gone: bool) -> None:
    assert redacted(f"number {number}.") == (f"number {MARKER}." if gone else f"number {number}.")


@given(_HOSTILE)
def test_redacting_twice_is_always_the_same_as_once(text: str) -> None:
    once = redacted(text)
    assert redacted(once) == once


@given(st.text(st.characters(exclude_characters="/:=@")))
def test_any_text_is_accepted(text: str) -> None:
    assert redacted(f"{text}\npassword=hunter2") == f"{redacted(text)}\npassword={MARKER}" or "BEGIN" in text


def test_the_time_grows_with_the_length_of_hostile_text_and_not_with_its_square() -> None:
    chosen = random.Random(4)
    pieces = [anchor for shape in SHAPES for anchor in shape.anchors] + [
        "=",
        ": ",
        '"',
        "\\",
        "@",
        "-----",
        "A1b2",
    ]
    for unit in (*pieces, *("".join(chosen.choices(pieces, k=k)) for k in (2, 3, 5, 8) for _ in range(20))):
        short, long = (unit * (size // len(unit) + 1) for size in (2_048, 16_384))
        assert _cpu_seconds(long) < 20 * _cpu_seconds(short) + 0.004, unit


def _cpu_seconds(text: str) -> float:
    """The better of two runs, so that a garbage collection is not taken for a bad pattern."""
    runs = []
    for _ in range(2):
        started = time.process_time()
        redacted(text)
        runs.append(time.process_time() - started)
    return min(runs)


def test_a_detail_tells_status_code_exceptions_message_and_body() -> None:
    event = an_error(
        exception_type="ToolException",
        exception_chain=("ToolException", "java.net.SocketTimeoutException"),
        http_status=504,
        error_code="upstream_timeout",
        message="no answer",
        body='{"detail": "gateway"}',
    )
    assert detail_of(event, 1_000).splitlines() == [
        "status: 504",
        "code: upstream_timeout",
        "exception: ToolException < java.net.SocketTimeoutException",
        "message: no answer",
        'body: {"detail": "gateway"}',
    ]


def test_a_detail_leaves_out_what_the_report_does_not_have() -> None:
    assert detail_of(an_error(), 1_000) == ""
    assert detail_of(an_error(body="gone"), 1_000) == "body: gone"


@pytest.mark.parametrize("limit", [0, 1, 20, 120, 1_000])
def test_a_detail_is_never_longer_than_its_limit(limit: int) -> None:
    event = an_error(
        exception_type="x" * 256, exception_chain=("y" * 256,) * 16, http_status=500, error_code="c" * 120,
        message="m" * 8_192, body="b" * 65_536,
    )  # fmt: skip
    assert len(detail_of(event, limit)) <= limit


def test_a_long_chain_of_exceptions_leaves_room_for_everything_else() -> None:
    event = an_error(
        exception_chain=("x" * 256,) * 16, http_status=500, message="the message", body="the body"
    )
    detail = detail_of(event, 1_000)
    assert detail.startswith("status: 500\nexception: xxx")
    assert detail.endswith("…\nmessage: the message\nbody: the body")


def test_a_long_message_leaves_half_of_the_room_to_the_body() -> None:
    detail = detail_of(an_error(message="m" * 5_000, body="b" * 5_000), 1_000)
    assert 450 < detail.count("m") < 550
    assert 450 < detail.count("b") < 550


def test_control_and_invisible_characters_of_a_detail_become_visible() -> None:
    hidden = "a\x00b\x1b[31mc\x7fd\u202ee\u200bf\U000e0041g\ud800h\r\ni\tj"
    assert detail_of(an_error().with_changes(error=an_error().error.with_changes(body=hidden)), 1_000) == (
        "body: a␀b␛[31mc�d�e�f�g�h\ni\tj"
    )


def test_a_secret_in_any_part_of_the_report_is_replaced() -> None:
    secret = "ghp" + "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    event = an_error(
        exception_type=secret, exception_chain=(secret,), error_code=secret, message=secret, body=secret
    )
    assert secret not in detail_of(event, 1_000)
    assert detail_of(event, 1_000).count(MARKER) == 4


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.kind)
def test_no_cut_leaves_a_piece_of_a_secret(planted: Planted) -> None:
    """Wherever the cut falls, what is left is a beginning of the redacted text."""
    for before in range(0, len(planted.leaking) + 4, 3):
        body = "." * (300 - before) + " " + planted.leaking + "\n. " * LOOKAHEAD
        shown = detail_of(an_error(body=body), 300 + len("body: ")).removeprefix("body: ").removesuffix("…")
        assert len(shown) > 300 - before - 10
        assert redacted(body.replace("\r\n", "\n")).startswith(shown)


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.kind)
def test_the_end_of_a_text_does_not_begin_in_a_secret(planted: Planted) -> None:
    for shown in range(1, len(planted.leaking) + 3):
        text = f". {planted.leaking} ."
        told = redacted_end(text, shown)
        assert told
        assert redacted(text.replace("\r\n", "\n")).endswith(told.removeprefix(MARKER))


def test_the_end_of_a_text_is_its_last_characters_made_visible() -> None:
    assert redacted_end("tea\x00 and no\u200btea", 8) == "d no\ufffdtea"
    assert redacted_end("tea\x00", 8) == "tea\u2400"
    assert redacted_end("tea", 0) == ""
