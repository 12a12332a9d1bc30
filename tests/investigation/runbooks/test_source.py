"""What is found in a folder of runbooks, and what is left out of it."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agrajag.harness import Failed
from agrajag.investigation.evidence import Found
from agrajag.investigation.requests import KnowledgeRequest
from agrajag.investigation.runbooks.source import RunbookLimits, Runbooks
from agrajag.investigation.source_codes import SourceCode
from agrajag.metrics import REGISTRY, LeftOutKind
from tests.investigation.looking import IDS, items

ORDERS = """# 订单服务 order-service

## 连接超时
数据库连接超时 (ECONNREFUSED): raise `pool_size`, then restart order-service.

## Café rollback
Roll back with `deployctl undo`. 与支付无关。
"""
PAYMENTS = """# Payments

## Timeouts of the gateway
If the gateway answers 504, switch to the second one.

## 支付失败
检查支付网关。
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "runbooks"
    (root / "pay").mkdir(parents=True)
    (root / "orders.md").write_text(ORDERS, encoding="utf-8")
    (root / "pay" / "gateway.md").write_text(PAYMENTS, encoding="utf-8")
    return root


@pytest.fixture
def runbooks(folder: Path) -> Iterator[Runbooks]:
    source = Runbooks(folder)
    yield source
    source.close()


async def found(source: Runbooks, query: str, limit: int = 5) -> list[str]:
    """The headings that answer, the best first."""
    answer = await source.look(IDS, KnowledgeRequest(query=query, limit=limit))
    return [item["heading"].rpartition(" > ")[2] for item in items(answer)]


def left_out(kind: LeftOutKind) -> float:
    return REGISTRY.get_sample_value("agrajag_evidence_left_out_total", {"kind": kind}) or 0.0


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("数", "连接超时"),
        ("超时", "连接超时"),
        ("连接超时", "连接超时"),
        ("数据库连接超时应该怎么处理", "连接超时"),
        ("econnrefused", "连接超时"),
        ("order-service pool_size", "连接超时"),
        ("CAFE", "Café rollback"),
        ("cafe\u0301", "Café rollback"),
        ("timeout", "Timeouts of the gateway"),
        ("what do we do when the gateway answers 504", "Timeouts of the gateway"),
        ("支付失败", "支付失败"),
        ("gateway网关", "支付失败"),
    ],
)
async def test_a_section_is_found_by_signs_words_and_identifiers(
    runbooks: Runbooks, query: str, heading: str
) -> None:
    assert (await found(runbooks, query))[0] == heading


async def test_an_item_names_its_document_and_the_headings_that_it_stands_under(runbooks: Runbooks) -> None:
    answer = await runbooks.look(IDS, KnowledgeRequest(query="ECONNREFUSED"))

    assert isinstance(answer, Found)
    (item,) = answer.items
    assert item["document"] == "orders.md"
    assert item["heading"] == "订单服务 order-service > 连接超时"
    assert "raise `pool_size`" in item["text"]
    assert answer.scope.source == "runbooks"
    assert answer.scope.subjects == ("orders.md",)
    assert answer.truncated is False


async def test_words_that_stand_nowhere_find_nothing_in_the_folder(runbooks: Runbooks) -> None:
    answer = await runbooks.look(IDS, KnowledgeRequest(query="kubernetes 磁盘"))

    assert isinstance(answer, Found)
    assert answer.items == []
    assert answer.scope.subjects == ("runbooks",)


async def test_a_query_without_a_word_is_no_search(runbooks: Runbooks) -> None:
    assert await runbooks.look(IDS, KnowledgeRequest(query="?! *")) == Failed(SourceCode.NO_WORDS)


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "gateway*",
        "heading:gateway",
        "NEAR(gateway 504)",
        "gateway NOT 504",
        "^gateway",
        "{a b}: gateway",
    ],
)
async def test_a_query_is_words_and_never_syntax(runbooks: Runbooks, query: str) -> None:
    answer = await runbooks.look(IDS, KnowledgeRequest(query=query))

    if query == '"':
        assert answer == Failed(SourceCode.NO_WORDS)
    else:
        assert items(answer)[0]["document"] == "pay/gateway.md"


async def test_a_heading_weighs_more_than_a_text_and_equals_stand_in_the_order_of_their_names(
    folder: Path, runbooks: Runbooks
) -> None:
    for name in ("c.md", "b.md"):
        (folder / name).write_text("## Disk\nSee there.\n## Other\nThe disk is full.\n")

    answer = await runbooks.look(IDS, KnowledgeRequest(query="disk"))

    assert [(item["document"], item["heading"]) for item in items(answer)] == [
        ("b.md", "Disk"),
        ("c.md", "Disk"),
        ("b.md", "Other"),
        ("c.md", "Other"),
    ]


async def test_a_word_in_a_heading_outweighs_several_in_a_text(folder: Path, runbooks: Runbooks) -> None:
    (folder / "disk.md").write_text("## Other\nThis disk or that disk.\n## Disk\nRemove old files there.\n")

    assert await found(runbooks, "disk") == ["Disk", "Other"]


async def test_a_section_that_holds_but_few_of_many_words_is_no_answer(runbooks: Runbooks) -> None:
    assert await found(runbooks, "kernel panic after upgrade: gateway") == []
    assert await found(runbooks, "kernel gateway") != []


async def test_more_sections_than_asked_for_are_told_of(runbooks: Runbooks) -> None:
    answer = await runbooks.look(IDS, KnowledgeRequest(query="支付", limit=1))

    assert isinstance(answer, Found)
    assert len(answer.items) == 1
    assert answer.truncated is True


async def test_the_next_look_sees_what_was_changed_added_and_removed(
    folder: Path, runbooks: Runbooks
) -> None:
    assert await found(runbooks, "504") == ["Timeouts of the gateway"]

    (folder / "pay" / "gateway.md").write_text(PAYMENTS.replace("504", "599"))
    assert await found(runbooks, "599") == ["Timeouts of the gateway"]
    assert await found(runbooks, "504") == []

    (folder / "new.md").write_text("## Fresh\nzebra")
    assert await found(runbooks, "zebra") == ["Fresh"]

    (folder / "new.md").unlink()
    assert await found(runbooks, "zebra") == []


async def test_a_change_is_seen_that_leaves_the_size_and_the_time_of_a_file_as_they_were(
    folder: Path, runbooks: Runbooks
) -> None:
    document = folder / "orders.md"
    os.utime(document, ns=(0, 0))
    assert await found(runbooks, "ECONNREFUSED") == ["连接超时"]

    document.write_text(ORDERS.replace("ECONNREFUSED", "ECONNRESET12"))
    os.utime(document, ns=(0, 0))

    assert await found(runbooks, "ECONNRESET12") == ["连接超时"]


async def test_what_is_no_runbook_of_the_folder_is_left_out_and_counted(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("zebra outside")
    (folder / "link.md").symlink_to(outside)
    (folder / "linked").symlink_to(tmp_path)
    (folder / "large.md").write_text("zebra " * 1_000)
    (folder / "binary.md").write_bytes(b"zebra \x00")
    (folder / "broken.md").write_bytes(b"zebra \xff\xfe")
    (folder / ".hidden.md").write_text("zebra")
    (folder / "notes.txt").write_text("zebra")
    os.mkfifo(folder / "pipe.md")
    source = Runbooks(folder, RunbookLimits(file_bytes=5_000))
    kinds = (LeftOutKind.OUTSIDE, LeftOutKind.TOO_LARGE, LeftOutKind.NOT_TEXT, LeftOutKind.UNREADABLE)
    before = [left_out(kind) for kind in kinds]

    assert await found(source, "zebra") == []

    assert [left_out(kind) - was for kind, was in zip(kinds, before, strict=True)] == [1, 1, 2, 1]
    source.close()


async def test_a_link_that_stays_in_the_folder_is_followed(folder: Path, runbooks: Runbooks) -> None:
    (folder / "..data").mkdir()
    (folder / "..data" / "mounted.md").write_text("## Mounted\nzebra")
    (folder / "mounted.md").symlink_to(Path("..data") / "mounted.md")

    answer = await runbooks.look(IDS, KnowledgeRequest(query="zebra"))

    assert [item["document"] for item in items(answer)] == ["mounted.md"]


async def test_more_files_than_are_taken_in_are_left_out_and_counted(folder: Path) -> None:
    source = Runbooks(folder, RunbookLimits(files=1))
    before = left_out(LeftOutKind.TOO_MANY)

    assert await found(source, "支付 ECONNREFUSED") == ["Café rollback", "连接超时"]

    assert left_out(LeftOutKind.TOO_MANY) == before + 1
    source.close()


async def test_a_secret_in_a_runbook_is_never_shown_in_part(folder: Path) -> None:
    secret = "ghp_" + "Ab3dEf6hIj9lMn2pQr5t" * 2
    (folder / "secret.md").write_text(
        "## Token\n" + "filler " * 40 + f"token {secret} zebra\n" + "more " * 100
    )
    source = Runbooks(folder, RunbookLimits(excerpt_characters=40))

    answer = await source.look(IDS, KnowledgeRequest(query="zebra"))

    (item,) = items(answer)
    assert "zebra" in item["text"]
    assert not any(secret[at : at + 6] in item["text"] for at in range(len(secret) - 6))
    source.close()


async def test_a_folder_that_is_not_there_has_no_answer(tmp_path: Path) -> None:
    source = Runbooks(tmp_path / "nowhere")

    assert await source.look(IDS, KnowledgeRequest(query="zebra")) == Failed(SourceCode.SOURCE_UNAVAILABLE)
    source.close()


async def test_a_look_whose_time_is_up_says_so_and_the_next_one_goes_on(folder: Path) -> None:
    source = Runbooks(folder, RunbookLimits(seconds=0.0))

    assert await source.look(IDS, KnowledgeRequest(query="超时")) == Failed(SourceCode.SOURCE_TIMEOUT)
    source.close()


async def test_a_look_that_is_cut_leaves_the_source_usable(folder: Path, runbooks: Runbooks) -> None:
    for number in range(60):
        (folder / f"{number:03}.md").write_text(f"## Section {number}\n" + "zebra stripes " * 200)
    looking = asyncio.ensure_future(runbooks.look(IDS, KnowledgeRequest(query="zebra")))
    await asyncio.sleep(0)
    looking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await looking

    answer = await runbooks.look(IDS, KnowledgeRequest(query="zebra", limit=10))

    assert len(items(answer)) == 10


async def test_looks_side_by_side_find_the_same(runbooks: Runbooks) -> None:
    assert await asyncio.gather(*(found(runbooks, "超时") for _ in range(8))) == [["连接超时"]] * 8
