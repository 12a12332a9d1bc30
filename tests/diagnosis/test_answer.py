"""Any answer of a model gives a diagnosis or the fallback, and a field that is wrong claims the least."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.diagnosis.answer import NO_NOTE, diagnosis_in, fallback
from agrajag.model.enums import Classification, Scope
from agrajag.model.jobs import Diagnosis
from tests.builders import NOW, a_job
from tests.core.secrets import PLANTED, Planted

JOB = a_job()
GOOD: dict[str, Any] = {
    "classification": "TECHNICALLY_BROKEN",
    "scope": "PROJECT",
    "expectedRecoveryAt": "2026-05-23T15:00Z",
    "humanNote": "The gateway answers 502 since noon.",
    "userActionHint": None,
    "cooldownAdjustments": [{"errorSignature": "http-502", "userId": None, "duration": "PT30M"}],
}


def read(text: str) -> Diagnosis:
    found = diagnosis_in([text], JOB, NOW)
    assert found is not None
    return found


def answered(**fields: Any) -> Diagnosis:
    return read(json.dumps(GOOD | fields))


def test_the_sample_of_the_specification_is_read_whole() -> None:
    found = answered()
    assert found.classification is Classification.TECHNICALLY_BROKEN
    assert found.scope is Scope.PROJECT
    assert found.expected_recovery_at == datetime(2026, 5, 23, 15, 0, tzinfo=UTC)
    assert found.human_note == "The gateway answers 502 since noon."
    assert found.user_action_hint is None
    assert [(entry.error_signature, entry.duration) for entry in found.cooldown_adjustments] == [
        ("http-502", timedelta(minutes=30))
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```json\n%s\n```",
        "```\n%s\n```\nHope this helps!",
        "I looked {closely} at it: %s That is all, {really}.",
        'Braces in texts do not count: {"a": "}{"} and then %s',
        "An open { brace comes first. %s",
        'A lure: {"classification": "WORKING", "scope": "GLOBAL"}. My answer: %s',
        '%s {"confidence": 0.9}',
        "\ufeff  %s  ",
    ],
)
def test_the_object_is_found_in_fences_and_chatter(text: str) -> None:
    assert read(text % json.dumps(GOOD)) == answered()


def test_an_answer_in_several_blocks_is_one_answer() -> None:
    start, end = '{"classification": "WORKING",', '"humanNote": "fine"}'
    found = diagnosis_in([start, end], JOB, NOW)
    assert found is not None
    assert (found.classification, found.human_note) == (Classification.WORKING, "fine")


@pytest.mark.parametrize("value", [None, "", "BROKEN", 7, [], {"a": 1}, True, "down\n"])
def test_an_unknown_classification_is_unclear(value: object) -> None:
    assert answered(classification=value).classification is Classification.UNCLEAR


def test_a_classification_in_small_letters_is_one() -> None:
    assert answered(classification=" working ").classification is Classification.WORKING


@pytest.mark.parametrize("value", [None, "PLANET", 7, [], {}])
def test_an_unknown_scope_is_that_of_the_job(value: object) -> None:
    assert answered(scope=value).scope is Scope.PROJECT


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "null",
        "soon",
        7,
        ["2026-05-23T15:00Z"],
        "2026-05-23",
        "2026-05-23T15:00",
        "2026-05-23T12:00:00Z",
        "2001-01-01T00:00:00Z",
        "9999-12-31T23:59:59-10:00",
        "10000-01-01T00:00:00Z",
    ],
)
def test_a_recovery_that_cannot_be_read_or_has_passed_is_none(value: object) -> None:
    assert answered(expectedRecoveryAt=value).expected_recovery_at is None


def test_a_recovery_with_another_zone_is_told_in_utc() -> None:
    recovery = answered(expectedRecoveryAt="2026-05-23T17:00:00+02:00").expected_recovery_at
    assert recovery is not None
    assert recovery.isoformat() == "2026-05-23T15:00:00+00:00"


def test_a_recovery_in_the_year_9999_is_kept_for_the_cap() -> None:
    assert answered(expectedRecoveryAt="9999-12-31T23:59:59Z").expected_recovery_at is not None


def test_a_note_of_ten_kilobytes_is_cut() -> None:
    assert len(answered(humanNote="long " * 2_000).human_note) == 500


@pytest.mark.parametrize("value", [None, "", " \n", 7, {}, "<br>"])
def test_a_note_that_is_none_says_so(value: object) -> None:
    assert answered(humanNote=value).human_note == NO_NOTE


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It <b>fails</b>", "It fails"),
        ("<img src=x onerror=alert(1)>down", "down"),
        ("<scr<script>ipt>x", "x"),
        ("a < b and 3 > 2", "a < b and 3 > 2"),
        ("open <img src=x onerror=", "open ‹img src=x onerror="),
        ("see [the docs](https://evil.example/x) now", "see the docs now"),
        ("go to https://evil.example/x?y=1 now", "go to [link removed] now"),
        ("javascript:alert(1)", "[link removed]"),
        ("one\x00two\x1b[31mthree\u202efour\u2028five", "one two [31mthree four five"),
        ("half \ud800 a pair", "half a pair"),
        ("with password=hunter2hunter2 it fails", "with password=[redacted] it fails"),
    ],
)
def test_a_note_is_plain_text(written: str, shown: str) -> None:
    assert answered(humanNote=written).human_note == shown


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.kind)
def test_a_secret_is_known_before_its_markup_and_its_lines_are_gone(planted: Planted) -> None:
    """What marks a secret as one may be the very tag or line break that a note is to be without."""
    diagnosis = diagnosis_in([json.dumps({"humanNote": f"It says: {planted.leaking}"})], a_job(), NOW)
    assert diagnosis is not None
    assert " ".join(planted.secret.split()) not in diagnosis.human_note


def test_a_hint_is_for_what_is_the_users_own_only() -> None:
    hint = "Renew your token."
    own = answered(classification="USER_SPECIFIC_TECHNICAL", userActionHint=hint)
    assert own.user_action_hint == hint
    assert answered(userActionHint=hint).user_action_hint is None


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Renew it at evil.example/login please, or mail root@evil.example", "Renew it at please, or mail"),
        (
            "Renew it at https://evil.example now. See v1.2, z.B. heute.",
            "Renew it at now. See v1.2, z.B. heute.",
        ),
        ("x" * 900, "x" * 199 + "…"),
        ("<b></b>", None),
        (7, None),
    ],
)
def test_a_hint_is_short_and_leads_nowhere(written: object, shown: str | None) -> None:
    found = answered(classification="USER_SPECIFIC_TECHNICAL", userActionHint=written)
    assert found.user_action_hint == shown


@pytest.mark.parametrize(
    "value",
    [
        None,
        "all",
        {"errorSignature": "x", "duration": "PT1M"},
        [None, "x", 7, []],
        [{"duration": "PT1M"}],
        [{"errorSignature": "x"}],
        [{"errorSignature": "x", "duration": "soon"}],
        [{"errorSignature": "x", "duration": "PT0S"}],
        [{"errorSignature": "x", "duration": "P9999Y"}],
        [{"errorSignature": "x", "duration": 30}],
        [{"errorSignature": "", "duration": "PT1M"}],
        [{"errorSignature": "x" * 121, "duration": "PT1M"}],
        [{"errorSignature": "a\nb", "duration": "PT1M"}],
        [{"errorSignature": "x", "userId": 7, "duration": "PT1M"}],
        [{"errorSignature": "x", "userId": "", "duration": "PT1M"}],
        [{"errorSignature": "\ud800", "duration": "PT1M"}],
    ],
)
def test_a_pause_that_cannot_be_used_is_left_out(value: object) -> None:
    assert answered(cooldownAdjustments=value).cooldown_adjustments == ()


def test_no_more_than_fifty_pauses_are_read() -> None:
    many = [{"errorSignature": f"s-{number}", "duration": "pt5m"} for number in range(2_000)]
    assert len(answered(cooldownAdjustments=many).cooldown_adjustments) == 50


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is down.",
        "[1, 2]",
        "{",
        "}{",
        '{"a":',
        "null",
        "{}",
        '{"scope":"x","b":{"a":1}',
        "{" * 100_000,
        '{"a":' * 50_000,
    ],
)
def test_an_answer_without_an_object_is_none(text: str) -> None:
    assert diagnosis_in([text], JOB, NOW) is None


def test_an_object_that_says_too_little_is_unclear() -> None:
    found = read('{"humanNote": "hm"}')
    assert (found.classification, found.scope) == (Classification.UNCLEAR, Scope.PROJECT)


def test_the_fallback_claims_no_more_than_a_quarter_of_an_hour() -> None:
    found = fallback(JOB, NOW, "the model's answer holds no object")
    assert (found.classification, found.scope) == (Classification.UNCLEAR, Scope.PROJECT)
    assert found.expected_recovery_at == NOW + timedelta(minutes=15)
    assert found.human_note == "Diagnosis fallback: the model's answer holds no object"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)
answers = st.fixed_dictionaries({}, optional=dict.fromkeys(GOOD, json_values))


@given(answers, st.sampled_from(["%s", "```json\n%s\n```", "so: %s."]))
def test_every_object_gives_a_diagnosis_that_can_be_sent(answer: dict[str, Any], around: str) -> None:
    found = read(around.replace("%s", json.dumps({"humanNote": None} | answer)))
    assert Diagnosis.from_json(found.to_json()) == found


@given(st.text(alphabet=st.sampled_from('{}[]":,\\`json classification\n1'), max_size=300) | st.text())
def test_every_text_gives_a_diagnosis_or_none(text: str) -> None:
    found = diagnosis_in([text], JOB, NOW)
    assert found is None or Diagnosis.from_json(found.to_json()) == found
