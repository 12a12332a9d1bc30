"""What a rule can look at in an error: fields first, and a status from text only where there is no doubt."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import features_of

STATUS_IN_TEXT = (
    ("HTTP 503", 503),
    ("HTTP/1.1 502 Bad Gateway", 502),
    ("HTTP/2 429", 429),
    ("HTTP: 404", 404),
    ("HTTP error 401", 401),
    ("HTTP Error 503: Service Unavailable", 503),
    ("http status 403.", 403),
    ("HTTP status code: 500", 500),
    ("Server returned HTTP response code: 503 for URL: https://x.example.com", 503),
    ("Request failed with status code 429", 429),
    ("status: 418", 418),
    ("status=504,", 504),
    ('{"status": 503, "title": "gone"}', 503),
    ('{"statusCode":401}', 401),
    ('{"status_code" : 400}', 400),
    ("status-code=500", 500),
    ("503 Server Error: Service Unavailable for url: https://x.example.com", 503),
    ("404 Client Error: Not Found for url: https://x.example.com", 404),
    ("Server error '502 Bad Gateway' for url 'https://x.example.com'", 502),
    ("unexpected answer 429 Too Many Requests", 429),
    ("<title>403 Forbidden</title>", 403),
    ("504 (Gateway Timeout)", 504),
    ("first HTTP 404, then HTTP 500", 404),
    ("Error POSTing to endpoint (HTTP 429): slow down", 429),
    ("HTTP status client error (401 Unauthorized) for url (http://es:9200/_cat)", 401),
    ("Client error '429 ' for url 'https://x.example.com'", 429),
    ("When fetching robots.txt, received status 403 so assuming", 403),
    ("the backend returned status 503", 503),
    ("MCP error: request failed with status 429 (daily limit)", 429),
    ("Request failed with status code 999", 999),
    ("API error 403: error code: 1010", 403),
    ("Error: GitHub API error: 401", 401),
    ("Google API error (403 accessNotConfigured): not enabled", 403),
    ("googleapi: Error 403: Access Denied", 403),
    ("Error code: 429 - {'error': {'message': 'slow down'}}", 429),
    ("failed: POST https://api.example.com/x/pulls: 403 Resource not accessible []", 403),
    ("403: insufficient_scope", 403),
    ("unauthorized (401)", 401),
    ("Tunnel connection failed: 407 Proxy Authentication Required", 407),
    ('{"$metadata": {"httpStatusCode": 429}}', 429),
)
NO_STATUS = (
    "took 300 ms",
    "limit of 500 rows",
    "500 rows are too many",
    "port 404",
    "error 500",
    "code 404",
    "code: 503",
    "exit status 137",
    "exit status: 137",
    "process exited with status code 255",
    "process exited with status 127",
    "order status 200",
    "status 404",
    "statuses: 503",
    "status: 5031",
    "status: 50",
    "status: 700",
    "status: 500%",
    "status: 404.5",
    "status code 404-B7",
    "HTTP 5000",
    "HTTP/1.1 is not supported",
    "HTTP 099",
    "HTTPS 443",
    "HTTP port 500x",
    "item 404 not found",
    "room 503 service unavailable on sundays",
    "v1.404 Not Found",
    "line 12, in 500",
    "2026-05-23T12:00:00.503Z",
    "10.0.0.500 refused",
    "(404)",
    "error (404)",
    "API error 5000",
    "received status 200x",
    "the client error '429 items'",
    "see 403: insufficient_scope",
    "http://x.example.com/403 Forbidden Planet",
    "[500]",
    "expected 200 got nothing",
    "http://x.example.com:500/status/404",
    "status of request 404",
    "HTTP ５０３",
    "no page 'what HTTP 429 means' here",
    'no results for "403 Forbidden" in this folder',
    "",
)


@pytest.mark.parametrize(("text", "status"), STATUS_IN_TEXT)
def test_a_status_that_text_states_beyond_doubt_is_read(text: str, status: int) -> None:
    assert features_of(message=text).http_status == status
    assert features_of(body=text).http_status == status


@pytest.mark.parametrize("text", NO_STATUS)
def test_a_number_in_a_sentence_is_no_status(text: str) -> None:
    assert features_of(message=text).http_status is None
    assert features_of(body=f"it failed: {text}").http_status is None


def test_a_reported_status_wins_over_text() -> None:
    assert features_of(http_status=429, message="HTTP 503").http_status == 429


def test_the_message_is_read_before_the_body() -> None:
    assert features_of(message="HTTP 404", body="HTTP 503").http_status == 404
    assert features_of(message="no luck", body="HTTP 503").http_status == 503


@pytest.mark.parametrize(
    "text",
    [
        "status" + " " * 65_000,
        "HTTP" + " " * 65_000,
        "HTTP " + "error " * 10_000,
        "status " * 9_000,
        "404 " * 16_000,
        "a 'HTTP 404' b " * 4_000,
    ],
    ids=["status and blanks", "HTTP and blanks", "HTTP errors", "many status", "many numbers", "many quoted"],
)
def test_the_time_to_read_a_status_grows_with_the_length_of_hostile_text_and_not_with_its_square(
    text: str,
) -> None:
    # A quarter of the text is read in a quarter of the time; with the square it would be a sixteenth.
    assert _seconds_of(text) < 8 * _seconds_of(text[: len(text) // 4]) + 0.02


def _seconds_of(text: str) -> float:
    """Of this process, the least of several tries."""
    tries = []
    for _ in range(3):
        started = time.process_time()
        assert features_of(body=text).http_status is None
        tries.append(time.process_time() - started)
    return min(tries)


@given(st.text())
def test_any_text_gives_a_valid_status_or_none(text: str) -> None:
    status = features_of(message=f"HTTP {text}", body=text).http_status
    assert status is None or 100 <= status <= 999


@pytest.mark.parametrize("name", ["retry-after", "Retry-After", "RETRY-AFTER"])
@pytest.mark.parametrize("asked", ["retry-after", "Retry-After"])
def test_a_header_is_found_whatever_its_case(name: str, asked: str) -> None:
    assert features_of(headers={"x-other": "1", name: "30"}).header(asked) == "30"


def test_a_header_that_is_not_there_is_none() -> None:
    assert features_of().header("retry-after") is None


def test_the_searched_text_is_message_and_body_in_lower_case() -> None:
    assert features_of(message="Manual NOT Found", body="At ALL").text == "manual not found\nat all"
    assert features_of().text == "\n"


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ('{"error": {"code": "rate_limited"}}', {"rate_limited"}),
        ('  \n{"error": {"code": -32601}}', {"-32601"}),
        ('{"error": {"code": true}}', set()),
        ('{"error": {"code": 1.5}}', set()),
        ('{"error": {"code": null}}', set()),
        ('{"error": "rate_limited", "code": "other"}', set()),
        ('{"error": ["rate_limited"]}', set()),
        ('[{"error": {"code": "x"}}]', set()),
        ('{"error": {"code": "x"}', set()),
        ("error.code", set()),
        ("{" * 60_000, set()),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, set()),
        ('{"error": {"code": ' + "9" * 5_000 + "}}", set()),
        ("", set()),
        (None, set()),
    ],
)  # fmt: skip
def test_the_error_code_of_a_json_body_is_read_where_there_is_one(body: str | None, codes: set[str]) -> None:
    assert features_of(body=body).error_codes == codes


def test_a_reported_error_code_counts_beside_the_one_of_the_body() -> None:
    body = json.dumps({"error": {"code": "inner"}})
    assert features_of(error_code="outer", body=body).error_codes == {"outer", "inner"}


def test_exception_names_are_those_of_the_whole_chain() -> None:
    features = features_of(exception_type="ToolException", exception_chain=("com.acme.Wrapped", "x.Cause"))
    assert features.exception_names >= {"ToolException", "com.acme.Wrapped", "Wrapped", "x.Cause", "Cause"}
    assert features_of().exception_names == frozenset()


@pytest.mark.parametrize(
    ("reported", "java"),
    [
        ("ConnectionRefusedError", "java.net.ConnectException"),
        ("httpx.ConnectError", "java.net.ConnectException"),
        ("ECONNREFUSED", "java.net.ConnectException"),
        ("socket.gaierror", "java.net.UnknownHostException"),
        ("ENOTFOUND", "java.net.UnknownHostException"),
        ("httpx.ReadTimeout", "java.net.SocketTimeoutException"),
        ("TimeoutError", "java.net.SocketTimeoutException"),
        ("System.TimeoutException", "java.net.SocketTimeoutException"),
        ("context.DeadlineExceeded", "java.net.SocketTimeoutException"),
        ("fastmcp.exceptions.ToolError", "ToolException"),
    ],
)
def test_an_exception_of_another_runtime_answers_to_its_java_name(reported: str, java: str) -> None:
    assert java in features_of(exception_type=reported).exception_names
    assert java in features_of(exception_type="Wrapper", exception_chain=(reported,)).exception_names


@pytest.mark.parametrize(
    "name", ["com.acme.TimeoutError", "MyConnectException2", "requests.ConnectionError", "OSError"]
)
def test_a_class_that_only_sounds_alike_is_not_renamed(name: str) -> None:
    assert not {
        found for found in features_of(exception_type=name).exception_names if found.startswith("java.")
    }
