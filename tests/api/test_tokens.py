"""Tokens: whose each is, what a file of them may hold, and that a change of the file counts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agrajag.api.permissions import Principal, Role
from agrajag.api.tokens import LiveTokens, TokenBook, TokenRefusal, new_token, read_tokens
from agrajag.errors import ConfigError
from agrajag.metrics import API_TOKENS_REJECTED
from tests.builders import NOW
from tests.waiting import eventually
from tests.wire.records import counting


def a_file(*entries: str) -> str:
    return "\n".join(["tokens:", *entries, ""])


def test_a_new_token_is_found_by_its_line_and_by_nothing_else() -> None:
    made = new_token("acme", "alice", "operator", None)
    book = read_tokens(a_file(made.entry), "tokens.yaml")
    assert book.find(made.secret, NOW) == Principal("alice", Role.OPERATOR, "acme")
    for other in ("", made.secret[:-1], made.secret + "x", made.entry, "\udcff"):
        assert book.find(other, NOW) is TokenRefusal.UNKNOWN


class _Hash(str):
    """A text that counts how often one is compared with it."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        type(self).compared += 1
        return str.__eq__(self, other) if isinstance(other, str) else NotImplemented

    __hash__ = str.__hash__


def test_one_of_many_tokens_is_looked_up_and_not_searched_for() -> None:
    made = [new_token("acme", f"user-{number}", "reader", None) for number in range(1_000)]
    book = read_tokens(a_file(*(one.entry for one in made)), "tokens.yaml")
    book = TokenBook(
        entry.model_copy(update={"sha256": _Hash(entry.sha256)}) for entry in book._entries.values()
    )
    _Hash.compared = 0
    assert all(isinstance(book.find(one.secret, NOW), Principal) for one in made)
    assert book.find("unknown", NOW) is TokenRefusal.UNKNOWN
    assert _Hash.compared <= 2 * len(made)


def test_a_token_ends_at_its_time() -> None:
    made = new_token("acme", "alice", "reader", NOW)
    book = read_tokens(a_file(made.entry), "tokens.yaml")
    assert isinstance(book.find(made.secret, NOW - timedelta(seconds=1)), Principal)
    assert book.find(made.secret, NOW) is TokenRefusal.EXPIRED


def problems_of(text: str) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        read_tokens(text, "t")
    return [problem.removeprefix("t: ").partition(": ")[0] for problem in refused.value.problems]


def test_each_thing_that_is_wrong_is_one_line_that_tells_no_token() -> None:
    made = new_token("acme", "alice", "reader", None)
    plain = f"- {{token: {made.secret}, tenant: acme, user: a, role: admin}}"
    assert problems_of(a_file(plain)) == ["tokens[0].sha256", "tokens[0].token"]
    assert problems_of(a_file(made.entry, made.entry)) == ["tokens[1].sha256"]
    assert problems_of("") == ["file"]
    assert problems_of("tokens: [") == ["yaml"]
    naive = made.entry.replace("}", ', "expires": "2031-01-01T00:00:00"}')
    assert problems_of(a_file(naive)) == ["tokens[0].expires"]
    with pytest.raises(ConfigError) as refused:
        read_tokens(a_file(f"- {{{made.secret}: 1}}"), "t")
    assert made.secret not in str(refused.value)


@asynccontextmanager
async def followed(tokens: LiveTokens) -> AsyncIterator[None]:
    following = asyncio.create_task(tokens.run())
    try:
        yield
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following


async def test_a_change_of_the_file_counts_and_a_broken_one_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "tokens.yaml"
    first, second = (new_token("acme", name, "reader", None) for name in ("alice", "bob"))
    of_text = new_token("acme", "carol", "admin", None)
    file.write_text(a_file(first.entry))
    tokens = LiveTokens(file, a_file(of_text.entry))

    def known() -> list[bool]:
        now = datetime.now(UTC)
        return [isinstance(tokens.find(one.secret, now), Principal) for one in (first, second, of_text)]

    assert known() == [True, False, True]
    with counting(API_TOKENS_REJECTED) as rejected:
        async with followed(tokens):
            file.write_text("tokens: [")
            await eventually(lambda: rejected() == 1)
            assert known() == [True, False, True]
            replacement = tmp_path / "new"
            replacement.write_text(a_file(second.entry))
            replacement.replace(file)
            await eventually(lambda: known() == [False, True, True])
            file.write_text("tokens: []")
            await eventually(lambda: known() == [False, False, True])
    assert tokens.required


def test_an_emptied_file_opens_nothing(tmp_path: Path) -> None:
    file = tmp_path / "tokens.yaml"
    file.write_text("tokens: []")
    assert LiveTokens(file).required
    assert not LiveTokens().required
