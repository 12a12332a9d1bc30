"""What kind of failure a signature and a status are a sign of."""

import pytest

from agrajag.diagnosis.signs import AMBIGUOUS, TECHNICAL, Sign, reported_sign, sign_of
from tests.builders import a_job
from tests.diagnosis.cases import USER, fails, works


@pytest.mark.parametrize(
    ("signature", "status", "expected"),
    [
        ("http-401-expired", 401, Sign.CREDENTIAL),
        ("auth-expired-marker", 200, Sign.CREDENTIAL),
        ("http-403", 403, Sign.PERMISSION),
        ("http-429", 429, Sign.RATE_LIMIT),
        ("http-404", 404, Sign.MISSING),
        ("manual-not-found", None, Sign.INPUT),
        ("unclassified", 422, Sign.INPUT),
        ("schema-violation", 200, Sign.SCHEMA),
        ("timeout-30s", None, Sign.TIMEOUT),
        ("connect-refused", None, Sign.UNREACHABLE),
        ("http-5xx", 503, Sign.SERVER_ERROR),
        ("unclassified", 599, Sign.SERVER_ERROR),
        ("tool-exception", None, Sign.TOOL_ERROR),
        ("generated-answer-empty", None, Sign.TOOL_ERROR),
    ],
)
def test_the_signature_speaks_before_the_status(signature: str, status: int | None, expected: Sign) -> None:
    assert sign_of(fails(USER, signature, status)) is expected


def test_a_redirect_is_a_sign_of_neither_whatever_it_is_called() -> None:
    assert sign_of(fails(USER, "http-5xx", 302)) is Sign.ELSEWHERE
    assert Sign.ELSEWHERE not in TECHNICAL | AMBIGUOUS


def test_what_works_is_a_sign_of_nothing() -> None:
    assert sign_of(works(USER)) is None


@pytest.mark.parametrize(
    ("signature", "detail", "expected"),
    [
        ("user-request", "status: 500", None),
        ("unclassified", "status: 500\nmessage: x", Sign.SERVER_ERROR),
        ("unclassified", "message: status: 500", Sign.TOOL_ERROR),
        ("unclassified", "message: x\nstatus: 500", Sign.TOOL_ERROR),
        ("unclassified", "code: INVALID_ARGUMENT\nexception: ToolException", Sign.INPUT),
        ("tool-exception", "exception: pydantic.ValidationError", Sign.INPUT),
        ("tool-exception", "status: 200\ncode: TOKEN_EXPIRED", Sign.CREDENTIAL),
        ("tool-exception", "exception: ToolException < ValidationError\nbody: timeout", Sign.TOOL_ERROR),
        ("tool-exception", None, Sign.TOOL_ERROR),
    ],
)
def test_of_a_report_only_the_structured_head_is_believed(
    signature: str, detail: str | None, expected: Sign | None
) -> None:
    assert reported_sign(a_job(error_signature=signature, error_detail=detail)) is expected
