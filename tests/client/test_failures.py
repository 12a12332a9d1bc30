import asyncio
import json
from typing import Any

import aiohttp
import httpx
import httpx2
import pytest
import requests
from mcp import MCPError
from mcp_types import CallToolResult, ErrorData, TextContent
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from agrajag.client.failures import Facts, facts_of, is_failure
from agrajag.client.redaction import carries_credentials, reported
from agrajag.core.secret_shapes import MARKER
from agrajag.model.events import ErrorReport

HEADERS = {
    "Retry-After": "120",
    "Content-Type": "application/json",
    "Content-Length": "33",
    "Set-Cookie": "sid=s3cr3t-cookie",
    "Authorization": "Bearer abcdef123456",
    "x-ratelimit-reset-tokens": "6s",
    "WWW-Authenticate": 'Bearer error="invalid_token"',
}
KEPT = {"content-length", "retry-after", "content-type", "x-ratelimit-reset-tokens", "www-authenticate"}
BODY = '{"error": {"code": "overloaded"}}'


def _requests_response() -> requests.Response:
    response = requests.Response()
    response.status_code = 503
    response.headers.update(HEADERS)
    response._content = BODY.encode()
    response._content_consumed = True
    return response


class _AiohttpResponse:
    """As aiohttp's, whose constructor needs a connection: `content` is a stream, `_body` what was read of it."""

    status = 503
    headers = CIMultiDictProxy(CIMultiDict(HEADERS))
    content = asyncio.StreamReader
    _body = BODY.encode()


RESPONSES = {
    "httpx": httpx.Response(503, headers=HEADERS, text=BODY),
    "httpx2": httpx2.Response(503, headers=HEADERS, text=BODY),
    "requests": _requests_response(),
    "aiohttp": _AiohttpResponse(),
}


def _raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except Exception as caught:
        return caught


@pytest.mark.parametrize("client", RESPONSES)
def test_a_response_of_any_client_is_told_with_status_headers_and_body(client: str) -> None:
    response = RESPONSES[client]
    assert is_failure(response)
    report = reported(facts_of(response))
    assert (report.http_status, report.body) == (503, BODY)
    assert {name.lower() for name in report.headers} == KEPT
    assert report.exception_type is None


@pytest.mark.parametrize("status", [200, 204, 304])
def test_a_response_that_is_no_error_is_no_failure(status: int) -> None:
    assert not is_failure(httpx.Response(status))
    assert not is_failure(httpx2.Response(status))


@pytest.mark.parametrize("value", [None, "error", 503, {"status": 503}, [], object(), Exception])
def test_what_is_neither_a_response_nor_a_result_is_no_failure(value: object) -> None:
    assert not is_failure(value)


def test_an_exception_is_told_with_the_response_that_it_carries() -> None:
    request = httpx.Request("GET", "https://api.example.com/v1?api_key=abcdef1234567890")
    response = httpx.Response(429, headers=HEADERS, text=BODY, request=request)
    with pytest.raises(httpx.HTTPStatusError) as caught:
        response.raise_for_status()
    report = reported(facts_of(caught.value))
    assert (report.exception_type, report.http_status, report.body) == ("httpx.HTTPStatusError", 429, BODY)
    assert {name.lower() for name in report.headers} == KEPT
    assert report.message is not None
    assert "429" in report.message
    assert "abcdef1234567890" not in report.to_json().decode()


def test_an_exception_that_is_itself_the_answer_tells_status_and_headers() -> None:
    info = aiohttp.RequestInfo(URL("http://x"), "GET", CIMultiDictProxy(CIMultiDict()), URL("http://x"))
    error = aiohttp.ClientResponseError(
        info, (), status=502, message="Bad Gateway", headers=CIMultiDict(HEADERS)
    )
    report = reported(facts_of(error))
    assert report.http_status == 502
    assert {name.lower() for name in report.headers} == KEPT


def test_an_answer_of_aws_is_told_with_its_code() -> None:
    class ClientError(Exception):
        response = {  # noqa: RUF012 - as botocore has it
            "Error": {"Code": "ThrottlingException", "Message": "slow down"},
            "ResponseMetadata": {"HTTPStatusCode": 400, "HTTPHeaders": {"x-amzn-requestid": "1"}},
        }

    report = reported(facts_of(ClientError("slow down")))
    assert (report.http_status, report.error_code) == (400, "ThrottlingException")
    assert report.headers == {"x-amzn-requestid": "1"}


def test_a_body_that_was_not_read_is_left_unread() -> None:
    class Endless(httpx.SyncByteStream):
        def __iter__(self) -> Any:
            raise AssertionError("nobody asked for it")

    unread = requests.Response()
    unread.status_code = 500
    unread.raw = Endless()
    for response in (httpx.Response(500, stream=Endless()), unread):
        assert facts_of(response).body is None
        assert facts_of(response).http_status == 500


@pytest.mark.parametrize("charset", ["punycode", "idna", "zip", "none", "utf-7", "latin-1"])
def test_a_body_in_whatever_it_says_that_it_is_written_in_is_read_as_text(charset: str) -> None:
    response = httpx.Response(
        500, headers={"content-type": f"text/plain; charset={charset}"}, content=b"plain"
    )
    assert facts_of(response).body == "plain"


def test_a_result_of_mcp_is_a_failure_where_it_says_so() -> None:
    text = [TextContent(type="text", text="upstream said 502"), TextContent(type="text", text="twice")]
    assert not is_failure(CallToolResult(content=text, is_error=False))
    failed = CallToolResult(content=text, is_error=True)
    assert is_failure(failed)
    assert facts_of(failed) == Facts("ToolException", body="upstream said 502\ntwice")


def test_a_result_of_mcp_without_a_text_is_told_by_its_structure() -> None:
    failed = CallToolResult(content=[], structured_content={"code": "E1"}, is_error=True)
    assert facts_of(failed).body == '{"code":"E1"}'


def test_an_error_of_json_rpc_is_told_with_its_code() -> None:
    facts = facts_of(
        _raised(MCPError.from_error_data(ErrorData(code=-32602, message="no such tool", data={"a": 1})))
    )
    assert facts.error_code == "-32602"
    assert json.loads(facts.body or "") == {
        "error": {"code": -32602, "message": "no such tool", "data": {"a": 1}}
    }


def _caught(first: Exception, then: Exception, *, hides_it: bool = False) -> Exception:
    """The second, raised while the first was handled."""
    try:
        try:
            raise first
        except Exception:
            if hides_it:
                raise then from None
            raise then  # noqa: B904 - that is what it is about
    except Exception as caught:
        return caught


def test_causes_are_told_from_the_outermost_inwards() -> None:
    middle = _raised(KeyError("middle"), ConnectionRefusedError("refused"))
    facts = facts_of(_caught(middle, ValueError("outer")))
    assert (facts.exception_type, facts.exception_chain) == (
        "ValueError",
        ("KeyError", "ConnectionRefusedError"),
    )
    assert facts.message == "outer"


def test_a_context_that_is_said_to_be_none_is_not_told() -> None:
    assert facts_of(_caught(KeyError(), ValueError(), hides_it=True)).exception_chain == ()


def test_what_was_being_handled_before_the_call_is_no_cause_of_its_failure() -> None:
    before = KeyError("of another tool")
    failure = _caught(before, ValueError("of this one"))
    assert facts_of(failure, handled=before).exception_chain == ()
    assert facts_of(before, handled=before).exception_type == "KeyError"


def test_of_a_group_its_members_are_told() -> None:
    group = ExceptionGroup(
        "unhandled", [ExceptionGroup("in", [_raised(TimeoutError("late"), OSError("x"))]), KeyError("k")]
    )
    facts = facts_of(group)
    assert (facts.exception_type, facts.message) == ("TimeoutError", "late")
    assert facts.exception_chain == ("OSError", "KeyError")


def test_causes_that_lead_back_or_never_end_are_told_once_and_not_all() -> None:
    first, second = ValueError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    assert facts_of(first).exception_chain == ("KeyError",)
    error: Exception = ValueError("root")
    for number in range(100):
        error = _raised(RuntimeError(str(number)), error)
    assert len(facts_of(error).exception_chain) == 16


def test_an_exception_that_cannot_tell_itself_is_told_by_its_name() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    facts = facts_of(Broken())
    assert facts.message == ""
    assert (facts.exception_type or "").endswith("Broken")


@pytest.mark.parametrize(
    ("header", "is_credential"),
    [
        ("Set-Cookie", True),
        ("authorization", True),
        ("X-Api-Key", True),
        ("x-amz-security-token", True),
        ("mcp-session-id", True),
        ("www-authenticate", False),
        ("anthropic-ratelimit-tokens-reset", False),
        ("x-request-id", False),
        ("retry-after", False),
    ],
)
def test_headers_that_carry_credentials_are_known_by_their_names(header: str, is_credential: bool) -> None:
    assert carries_credentials(header) is is_credential


def test_secrets_in_texts_are_taken_out_and_the_rest_stays() -> None:
    facts = Facts(
        "ValueError",
        message="password=hunter2hunter2 was wrong",
        headers=(("location", "https://x/?access_token=abcdef1234567890"),),
        body='{"api_key": "sk-abcdefghijklmnop1234", "hint": "renew"}',
    )
    report = reported(facts)
    assert report.message == f"password={MARKER} was wrong"
    assert report.headers == {"location": f"https://x/?access_token={MARKER}"}
    assert report.body == f'{{"api_key": "{MARKER}", "hint": "renew"}}'


def test_long_texts_are_cut_and_no_half_of_a_secret_stays_at_the_cut() -> None:
    secret = "sk-" + "a1" * 200
    report = reported(facts_of(ErrorReport(body="x" * 8_150 + " api_key=" + secret, message="m" * 5_000)))
    assert report.truncated
    assert len(report.body or "") <= 8_192
    assert len(report.message or "") <= 2_000
    assert "a1a1" not in (report.body or "")


def test_what_is_no_text_is_made_one() -> None:
    report = reported(Facts("A\ud800", ("",), "bad \udcff byte", body="\x00\u202ereversed"))
    assert report.exception_chain == ("-",)
    assert ErrorReport.from_json(report.to_json()) == report
    assert "\u202e" not in (report.body or "")


def test_failures_that_differ_in_headers_alone_repeat_each_other() -> None:
    one, later = (facts_of(httpx.Response(503, headers={"date": date}, text=BODY)) for date in ("Tue", "Wed"))
    other = facts_of(httpx.Response(502, text=BODY))
    assert one != later
    assert one.likeness == later.likeness != other.likeness
