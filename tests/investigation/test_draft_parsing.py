"""Every text of a model is a draft or a code; nothing is repaired, and nothing is raised."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agrajag.investigation.draft import DiagnosisDraft
from agrajag.investigation.draft_parsing import parse_draft
from agrajag.investigation.failures import DraftFault
from agrajag.investigation.strict_json import JsonFault
from tests.investigation.drafts import GOOD, drafts, good

MAX_BYTES = 16 * 1024
ITEM = json.loads(GOOD.model_dump_json())["analysis"][0]


def parsed(*texts: str) -> DiagnosisDraft | DraftFault:
    return parse_draft(texts, MAX_BYTES)


@pytest.mark.parametrize("around", ["%s", " \n\t\r%s\n\n"])
def test_one_object_between_white_space_is_a_draft(around: str) -> None:
    assert parsed(around % good()) == GOOD


def test_the_call_ids_are_the_exact_strings_of_the_text() -> None:
    ids = ["toolu_01", " toolu_01 ", "TOOLU_01", "呼叫\u0000\u200b", "\U0001f4a5"]
    found = parsed(json.dumps(json.loads(good()) | {"analysis": [ITEM | {"tool_call_ids": ids}]}))
    assert isinstance(found, DiagnosisDraft)
    assert found.analysis[0].tool_call_ids == tuple(ids)


@pytest.mark.parametrize("texts", [(), ("",), (" \n\u3000",), ("", "")])
def test_no_text_is_empty(texts: tuple[str, ...]) -> None:
    assert parsed(*texts) is DraftFault.EMPTY


@pytest.mark.parametrize("texts", [(good(), good()), ("", good()), (good(), " "), (good()[:9], good()[9:])])
def test_two_blocks_are_not_one(texts: tuple[str, ...]) -> None:
    assert parsed(*texts) is DraftFault.NOT_ONE_TEXT


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{good()}\n```",
        f"```\n{good()}```",
        f"诊断如下：{good()}",
        f"{good()}\n以上。",
        f"{good()}{good()}",
        f"{good()},",
        f"\ufeff{good()}",
        f"\u00a0{good()}",
        f"{good()}\u3000",
        f"{good()}\x0b",
        f"[{good()}]",
        json.dumps(good()),
        "null",
        "[" * 7_000,
        "我无法确定原因。",
    ],
)
def test_what_stands_around_the_object_makes_it_none(text: str) -> None:
    assert parsed(text) is DraftFault.NOT_ONE_OBJECT


@pytest.mark.parametrize(
    "text",
    [
        good()[:-1],
        good().replace('"', "'"),
        good()[:-1] + ",}",
        "{// why\n" + good()[1:],
        good(action_plan=["\x01"]).replace("\\u0001", "\x01"),
        good(action_plan=["\ud800"]),
        good(action_plan=["X"]).replace("X", "\\ud800"),
        good(action_plan=["X"]).replace("X", "\\udc00\\ud800"),
        good(conclusion=float("nan")),
        good(conclusion=float("-inf")),
        '{"analysis": ' + "[" * 7_000 + "]" * 7_000 + "}",
        '{"analysis": ' + '{"a":' * 2_500 + "1" + "}" * 2_501,
        '{"analysis": ' + "[" * 500 + "]" * 500 + "}",
        '{"analysis": ' + "1" * 5_000 + "}",
        '{"analysis": -' + "9" * 5_000 + "}",
    ],
    ids=range(15),
)
def test_what_is_no_json_is_malformed(text: str) -> None:
    assert parsed(text) is DraftFault.MALFORMED


@pytest.mark.parametrize(
    "text",
    [
        good()[:-1] + ', "analysis": []}',
        good()[:-1] + ', "conclusi\\u006fn": null}',
        good().replace('"root_cause": null', '"root_cause": null, "root_cause": "磁盘"'),
        good().replace('"scope": null', '"scope": null, "scope": null'),
        good()[:-1] + ', "extra": [[{"a": 1, "a": 1}]]}',
    ],
)
def test_a_key_that_stands_twice_is_found_at_any_depth(text: str) -> None:
    assert parsed(text) is DraftFault.DUPLICATE_KEY


def wrong_schemas() -> list[dict[str, Any]]:
    """The draft with one thing wrong each."""
    whole: dict[str, Any] = json.loads(good())
    changes: list[dict[str, Any]] = [
        {"confidence": 0.9},
        {"analysis": None},
        {"analysis": {}},
        {"analysis": ITEM},
        {"analysis": [ITEM] * 21},
        {"analysis": 10**4_000},
        {"conclusion": "磁盘已满"},
        {"conclusion": {}},
        {"conclusion": {"summary": "磁盘已满"}},
        {"conclusion": {"summary": " ", "root_cause": None}},
        {"conclusion": {"summary": "磁盘已满", "root_cause": ""}},
        {"conclusion": {"summary": "磁盘已满", "root_cause": None, "tool_call_ids": ["call-1"]}},
        {"action_plan": "重启"},
        {"action_plan": [None]},
        {"recommendations": [1]},
        {"recommendations": ["字" * 2_001]},
        {"limitations": None},
        {"limitations": {"missing_info": []}},
    ]
    items = [
        {"type": "observation"},
        {"type": "ROOT_CAUSE"},
        {"statement": True},
        {"tool_call_ids": []},
        {"tool_call_ids": "call-1"},
        {"tool_call_ids": [1]},
        {"tool_call_ids": [""]},
        {"scope": []},
        {"evidence": "call-1"},
    ]
    changes += [{"analysis": [ITEM | item]} for item in items]
    without = [{key: whole[key] for key in whole if key != left_out} for left_out in whole]
    return [whole | change for change in changes] + without + [{}]


@pytest.mark.parametrize("draft", wrong_schemas())
def test_what_is_not_of_the_schema_is_no_draft(draft: dict[str, Any]) -> None:
    assert parsed(json.dumps(draft, ensure_ascii=False)) is DraftFault.SCHEMA


def test_the_limit_counts_the_bytes_of_the_whole_text() -> None:
    text = good()
    size_bytes = len(text.encode())
    assert parse_draft([text], size_bytes) == GOOD
    assert parse_draft([text], size_bytes - 1) is DraftFault.TOO_LARGE
    assert parse_draft([text + " "], size_bytes) is DraftFault.TOO_LARGE
    assert parse_draft(["\ud800" * size_bytes], size_bytes) is DraftFault.TOO_LARGE


def test_every_fault_of_form_is_one_of_a_draft() -> None:
    assert {fault.value for fault in JsonFault} <= {fault.value for fault in DraftFault}


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A draft as text in which something stands that should not, or a part is gone."""
    text = good()
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 3)))
    piece = draw(
        st.sampled_from(["", '"', "{", "}", "\\", "\\ud800", "NaN", ",", "\x00", " ", "1e999", "```"])
    )
    return text[:start] + piece + text[end:]


@given(st.lists(st.text() | st.text(alphabet=st.characters()) | damaged(), max_size=2))
def test_whatever_the_texts_are_there_is_a_draft_or_a_code(texts: list[str]) -> None:
    found = parse_draft(texts, MAX_BYTES)
    assert isinstance(found, DiagnosisDraft | DraftFault)
    if isinstance(found, DiagnosisDraft):
        assert parse_draft([found.model_dump_json()], MAX_BYTES) == found
        written = [tuple(item["tool_call_ids"]) for item in json.loads(texts[0])["analysis"]]
        assert [item.tool_call_ids for item in found.analysis] == written


@given(drafts, st.booleans(), st.sampled_from([None, 2]))
def test_a_draft_is_read_as_it_was_written(
    draft: DiagnosisDraft, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(json.loads(draft.model_dump_json()), ensure_ascii=ascii_only, indent=indent)
    assert parse_draft([text], MAX_BYTES) == draft
    assert len(draft.model_dump_json().encode()) <= len(text.encode())
