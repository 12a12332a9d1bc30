import asyncio
import os
import threading
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agrajag.client.background import Background
from agrajag.errors import PermanentError, TransientError
from tests.waiting import eventually_blocking


async def _where() -> threading.Thread:
    return threading.current_thread()


async def _for_ever() -> None:
    await asyncio.Event().wait()


async def _fails() -> None:
    raise TimeoutError("its own")


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_sync_code_gets_what_the_thread_has_worked_out() -> None:
    background = Background("named")
    background.start()
    try:
        assert background.run(_where(), 5).name == "named"
    finally:
        background.close()


async def test_a_caller_with_its_own_loop_gets_what_the_thread_has_worked_out() -> None:
    background = Background("named")
    background.start()
    try:
        assert (await background.run_async(_where(), 5)).name == "named"
    finally:
        await background.close_async()


def test_no_thread_and_no_file_is_left_after_the_end() -> None:
    Background().close()
    threads, files = threading.active_count(), _open_files()
    for _ in range(20):
        background = Background()
        background.start()
        background.keep("waits", _for_ever)
        background.close()
        background.close()
    assert (threading.active_count(), _open_files()) == (threads, files)


def test_what_is_kept_is_cancelled_at_the_end() -> None:
    ended = threading.Event()

    async def until_cancelled() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    background = Background()
    background.start()
    began = threading.Event()
    background.keep("waits", until_cancelled)
    background.post(began.set)
    assert began.wait(5)
    assert not ended.is_set()
    background.close()
    assert ended.is_set()


def test_a_part_that_fails_is_told_of_and_ends_alone() -> None:
    background = Background()
    background.start()
    with capture_logs() as logs:
        background.keep("breaks", _fails)
        eventually_blocking(lambda: logs)
    assert (logs[0]["event"], logs[0]["part"], logs[0]["reason"]) == (
        "client_part_ended",
        "breaks",
        "its own",
    )
    assert background.run(_where(), 5) is not None
    background.close()


def test_whoever_waits_is_told_when_it_takes_too_long_or_fails() -> None:
    background = Background()
    background.start()
    with pytest.raises(TransientError, match=r"not done within 0\.01 s"):
        background.run(_for_ever(), 0.01)
    with pytest.raises(TimeoutError, match="its own"):
        background.run(_fails(), 5)
    background.close()


async def test_whoever_awaits_is_told_when_it_takes_too_long_or_fails() -> None:
    background = Background()
    background.start()
    with pytest.raises(TransientError, match=r"not done within 0\.01 s"):
        await background.run_async(_for_ever(), 0.01)
    with pytest.raises(TimeoutError, match="its own"):
        await background.run_async(_fails(), 5)
    await background.close_async()


async def test_whoever_waits_at_the_end_is_told_that_it_is_the_end() -> None:
    background = Background()
    background.start()
    waiting = asyncio.create_task(background.run_async(_for_ever(), 60))
    waiting_too = asyncio.create_task(asyncio.to_thread(background.run, _for_ever(), 60))
    await background.run_async(asyncio.sleep(0), 5)
    await background.close_async()
    for task in (waiting, waiting_too):
        with pytest.raises(PermanentError, match="closed"):
            await task


def test_before_the_start_and_after_the_end_it_says_so() -> None:
    background = Background()
    with pytest.raises(PermanentError, match="was not started"):
        background.check()
    background.start()
    background.close()
    for refused in (background.check, background.start, lambda: background.run(_for_ever(), 1)):
        with pytest.raises(PermanentError, match="is closed"):
            refused()
    assert not background.post(print)


def test_its_own_thread_is_never_left_waiting_for_itself() -> None:
    background = Background()
    background.start()

    async def waits_for_itself() -> None:
        background.run(_for_ever(), 1)

    async def closes_itself() -> None:
        background.close()

    for wrong in (waits_for_itself, closes_itself):
        with pytest.raises(PermanentError, match="wait for itself"):
            background.run(wrong(), 5)
    background.close()


def test_a_forked_process_is_told_that_it_has_no_part_of_it() -> None:
    background = Background()
    background.start()
    child = os.fork()
    if child == 0:
        try:
            background.check()
        except PermanentError as error:
            told = f"process {os.getppid()}" in str(error)
            posted = background.post(print)
            background.close()
            os._exit(7 if told and not posted else 1)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert background.run(_where(), 5) is not None
    background.close()


def test_a_part_that_does_not_end_is_told_of_and_left_behind() -> None:
    background = Background()
    background.start()
    let_go = threading.Event()

    async def holds_the_thread() -> None:
        let_go.wait()

    background.keep("holds", holds_the_thread)
    with capture_logs() as logs:
        background.close(0.05)
    assert logs[0]["event"] == "client_not_ended"
    assert logs[0]["parts"] == ["agrajag-client: holds"]
    let_go.set()
    eventually_blocking(lambda: not any(t.name == "agrajag-client" for t in threading.enumerate()))
