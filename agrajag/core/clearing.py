"""Decides which cooldowns a person means who wants a tool to be diagnosed again: document by document."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from agrajag.core.cooldown import is_active
from agrajag.model.enums import Scope
from agrajag.model.health import Cooldown, ToolHealth


class Wanted(NamedTuple):
    """Which cooldowns are meant; None means any. A user's are those that name the user, wherever they are kept, and
    all in the user's own document."""

    signature: str | None = None
    user_id: str | None = None
    project_id: str | None = None
    session_id: str | None = None


class Clearing(NamedTuple):
    """A document in which something is to be cleared: all that fits, or only what names `user_id`."""

    document: ToolHealth
    user_id: str | None


def clearings(documents: Iterable[ToolHealth], wanted: Wanted, now: datetime) -> list[Clearing]:
    """Where there are cooldowns that last at `now` and are meant."""
    found = []
    for document in documents:
        if not _is_meant(document, wanted):
            continue
        is_own = document.scope is Scope.USER
        user_id = None if is_own else wanted.user_id
        if any(
            _fits(entry, wanted.signature, user_id) for entry in document.cooldowns if is_active(entry, now)
        ):
            found.append(Clearing(document, user_id))
    return found


def _is_meant(document: ToolHealth, wanted: Wanted) -> bool:
    match document.scope:
        case Scope.SESSION:
            return wanted.session_id in (None, document.scope_id) and wanted.project_id is None
        case Scope.USER:
            return wanted.user_id in (None, document.scope_id) and _names_no_place(wanted)
        case Scope.PROJECT:
            return wanted.project_id in (None, document.scope_id) and wanted.session_id is None
        case Scope.TENANT | Scope.GLOBAL:
            return _names_no_place(wanted)


def _names_no_place(wanted: Wanted) -> bool:
    return wanted.project_id is None and wanted.session_id is None


def _fits(entry: Cooldown, signature: str | None, user_id: str | None) -> bool:
    return signature in (None, entry.error_signature) and user_id in (None, entry.user_id)
