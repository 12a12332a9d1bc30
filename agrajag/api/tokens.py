"""Says whose a bearer token is. Of tokens only their SHA-256 is kept, and the file of them may change while it is read.

A token is 256 random bits, so that its plain hash cannot be searched for. Where the file becomes unusable the last good
one stays in force; one that names nobody lets nobody in.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NamedTuple, NoReturn

import structlog
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from agrajag.api.permissions import Principal, Role
from agrajag.documents.yaml_text import NotYaml, read_yaml
from agrajag.errors import ConfigError
from agrajag.metrics import API_TOKENS, API_TOKENS_REJECTED
from agrajag.model.wire_model import Id

log = structlog.get_logger(__name__)

PREFIX = "agrajag_"
MAX_TOKENS = 10_000
_MAX_TOLD = 20
_LOOK_AGAIN_SECONDS = 1.0


class TokenRefusal(StrEnum):
    """Why a token is none."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"


class _Entry(BaseModel):
    """One line of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    tenant: Id
    user: Id
    role: Role
    expires: AwareDatetime | None = None


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: Annotated[tuple[_Entry, ...], Field(max_length=MAX_TOKENS)]


class NewToken(NamedTuple):
    """A token that nobody has yet: itself, which is told once, and the entry for the file."""

    secret: str
    entry: str


class TokenBook:
    """The tokens of one reading; it never changes."""

    def __init__(self, entries: Iterable[_Entry] = ()) -> None:
        self._entries = {entry.sha256: entry for entry in entries}

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, secret: str, now: datetime) -> Principal | TokenRefusal:
        """Whose token it is, by one look-up however many there are.

        It is the token's hash that is looked up: how long that takes says something of hashes, from which nobody gets
        any nearer to a token.
        """
        found = self._entries.get(_sha256(secret))
        if found is None:
            return TokenRefusal.UNKNOWN
        if found.expires is not None and now >= found.expires:
            return TokenRefusal.EXPIRED
        return Principal(found.user, found.role, found.tenant)


def new_token(tenant: str, user: str, role: str, expires: datetime | None) -> NewToken:
    """Raises ConfigError where the file could not hold it."""
    secret = PREFIX + secrets.token_urlsafe(32)
    try:
        entry = _Entry(
            sha256=_sha256(secret), tenant=tenant, user=user, role=Role(role), expires=expires
        ).model_dump_json(exclude_none=True)
    except ValidationError as error:
        raise ConfigError(*(f"{_place(one['loc'])}: {one['msg']}" for one in error.errors())) from None
    return NewToken(secret, f"- {entry}")


def read_tokens(text: str, source: str) -> TokenBook:
    """The tokens in YAML text. Raises ConfigError with a line for each thing that is wrong, and no token in it."""
    try:
        entries = _File.model_validate(read_yaml(text)).tokens
    except NotYaml as error:
        _refuse(source, [f"{error.field}: is no readable YAML"])
    except ValidationError as error:
        _refuse(source, [f"{_place(one['loc'])}: {one['msg']}" for one in error.errors(include_input=False)])
    seen: dict[str, int] = {}
    twice = []
    for number, entry in enumerate(entries):
        first = seen.setdefault(entry.sha256, number)
        if first != number:
            twice.append(f"tokens[{number}].sha256: is that of tokens[{first}]")
    if twice:
        _refuse(source, twice)
    return TokenBook(entries)


class LiveTokens:
    """The tokens in force. Where none are configured at all, `required` is False: loopback is trusted then."""

    def __init__(self, file: Path | None = None, text: str = "") -> None:
        """Reads them. Raises ConfigError as `read_tokens`, and for a file that cannot be read."""
        self.required = file is not None or bool(text)
        self._file = file
        self._own = read_tokens(text, "AGRAJAG_API_TOKENS") if text else TokenBook()
        self._content = None if file is None else _content(file)
        self._of_file = TokenBook() if self._content is None else read_tokens(self._content, str(file))
        API_TOKENS.set(len(self._own) + len(self._of_file))

    def find(self, secret: str, now: datetime) -> Principal | TokenRefusal:
        """Whose token it is now."""
        found = self._own.find(secret, now)
        return self._of_file.find(secret, now) if found is TokenRefusal.UNKNOWN else found

    async def run(self) -> None:
        """Follow the file until cancelled."""
        told: tuple[str, ...] = ()
        while self._file is not None:
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
            try:
                await self._look(self._file)
                told = ()
            except ConfigError as error:
                if error.problems != told:
                    API_TOKENS_REJECTED.inc()
                    log.warning("tokens_not_read", problems=error.problems)
                told = error.problems

    async def _look(self, file: Path) -> None:
        content = await asyncio.to_thread(_content, file)
        if content == self._content:
            return
        self._of_file = await asyncio.to_thread(read_tokens, content, str(file))
        self._content = content
        API_TOKENS.set(len(self._own) + len(self._of_file))
        log.info("tokens_in_force", tokens=len(self._of_file))


def _content(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "is no UTF-8"
        raise ConfigError(f"{file}: {reason}") from error


def _refuse(source: str, problems: Sequence[str]) -> NoReturn:
    more = [f"{source}: and {len(problems) - _MAX_TOLD} more"] if len(problems) > _MAX_TOLD else []
    raise ConfigError(*(f"{source}: {problem}" for problem in problems[:_MAX_TOLD]), *more)


def _place(location: Sequence[int | str]) -> str:
    """`tokens[2].role`. A key that somebody made up may be a token in plain text, and is cut."""
    told = "".join(f"[{one}]" if isinstance(one, int) else f".{one[:20]}" for one in location)
    return told.removeprefix(".") or "file"


def _sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
