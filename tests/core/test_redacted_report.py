"""Whoever reports a failure sends no secret with it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from agrajag.core.redact import redacted
from agrajag.core.redacted_report import redacted_report
from agrajag.model.events import ErrorReport
from agrajag.model.wire_model import MAX_BODY

TOKEN = "sk-ant-api03-" + "Ab3" * 20


def test_message_body_and_headers_lose_their_secrets_and_nothing_else() -> None:
    told = redacted_report(
        ErrorReport(
            http_status=401,
            message=f"refused {TOKEN}",
            body=f'{{"password": "{TOKEN}"}}',
            headers={"Authorization": "Bearer abcdef0123456789abcdef", "Retry-After": "30"},
        )
    )
    assert told.http_status == 401
    assert told.headers["Retry-After"] == "30"
    assert "abcdef0123456789abcdef" not in told.headers["Authorization"]
    assert told.message is not None
    assert told.message.startswith("refused ")
    assert TOKEN not in str(told)


def test_a_text_that_grows_by_the_marker_stays_within_its_bound() -> None:
    grows = "password=a " * (MAX_BODY // 11)
    assert len(redacted(grows)) > MAX_BODY
    assert len(redacted_report(ErrorReport(body=grows)).body or "") == MAX_BODY


@settings(max_examples=30)
@given(st.dictionaries(st.text(max_size=12), st.text(max_size=60), max_size=3), st.text(max_size=80))
def test_done_twice_it_is_always_done_once(headers: dict[str, str], text: str) -> None:
    once = redacted_report(ErrorReport(message=text, body=text, headers=headers))
    assert redacted_report(once) == once
