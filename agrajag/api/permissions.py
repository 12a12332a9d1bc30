"""Decides who may do what: a table of acts, of whose a thing is, and of the least role that is needed.

Nothing here depends on whether the thing exists, so a refusal tells nothing about it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from agrajag.model.enums import Scope
from agrajag.model.health import ToolHealth


class Role(StrEnum):
    """What a token is for; each may all that the one before it may."""

    READER = "reader"
    OPERATOR = "operator"
    ADMIN = "admin"

    rank: int
    """0 for the one that may least."""


for _rank, _role in enumerate(Role):
    _role.rank = _rank


class Act(StrEnum):
    """What can be done over HTTP."""

    READ_HEALTH = "read health"
    READ_COMMAND = "read what became of a command"
    READ_RULES = "read rules"
    READ_INBOX = "read an inbox"
    READ_RUNS = "read runs"
    READ_DOCUMENTS = "read documents"
    READ_AUDIT = "read the audit"
    RECHECK = "recheck"
    CLEAR_COOLDOWN = "clear cooldowns"
    OVERRIDE = "override a status"
    REPORT = "report events"
    DISMISS_INBOX = "dismiss from an inbox"
    WRITE_DOCUMENTS = "write documents"


class Whose(StrEnum):
    """Whose a thing is, seen from who asks: their own, somebody else's, of one session, or of many."""

    OWN = "own"
    ANOTHERS = "another user's"
    SESSIONS = "a session's"
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. Without a `tenant` every tenant is theirs: that is whoever sits at a machine without tokens."""

    user: str
    role: Role
    tenant: str | None = None

    def belongs_to(self, tenant_id: str) -> bool:
        """Whether they may know anything of this tenant."""
        return self.tenant is None or self.tenant == tenant_id

    def whose(self, scope: Scope, scope_id: str) -> Whose:
        """Whose a document of this scope is."""
        match scope:
            case Scope.USER:
                return self.whose_user(scope_id)
            case Scope.SESSION:
                return Whose.SESSIONS
            case _:
                return Whose.SHARED

    def whose_user(self, user_id: str) -> Whose:
        """Whose a thing of this user is."""
        return Whose.OWN if user_id == self.user else Whose.ANOTHERS


_ALL_OF = tuple(Whose)
_NEEDED: Mapping[Act, Mapping[Whose, Role]] = {
    Act.READ_HEALTH: {
        Whose.OWN: Role.READER,
        Whose.SHARED: Role.READER,
        Whose.SESSIONS: Role.OPERATOR,
        Whose.ANOTHERS: Role.ADMIN,
    },
    Act.RECHECK: {
        Whose.OWN: Role.READER,
        Whose.SHARED: Role.OPERATOR,
        Whose.SESSIONS: Role.OPERATOR,
        Whose.ANOTHERS: Role.ADMIN,
    },
    Act.CLEAR_COOLDOWN: {
        Whose.OWN: Role.READER,
        Whose.SHARED: Role.OPERATOR,
        Whose.SESSIONS: Role.OPERATOR,
        Whose.ANOTHERS: Role.ADMIN,
    },
    Act.OVERRIDE: {
        Whose.OWN: Role.OPERATOR,
        Whose.SHARED: Role.OPERATOR,
        Whose.SESSIONS: Role.OPERATOR,
        Whose.ANOTHERS: Role.ADMIN,
    },
    Act.READ_INBOX: {Whose.OWN: Role.READER, Whose.ANOTHERS: Role.ADMIN},
    Act.DISMISS_INBOX: {Whose.OWN: Role.READER, Whose.ANOTHERS: Role.ADMIN},
    Act.READ_COMMAND: dict.fromkeys(_ALL_OF, Role.READER),
    Act.READ_RULES: dict.fromkeys(_ALL_OF, Role.READER),
    Act.READ_RUNS: dict.fromkeys(_ALL_OF, Role.OPERATOR),
    Act.REPORT: dict.fromkeys(_ALL_OF, Role.OPERATOR),
    Act.READ_DOCUMENTS: dict.fromkeys(_ALL_OF, Role.ADMIN),
    Act.WRITE_DOCUMENTS: dict.fromkeys(_ALL_OF, Role.ADMIN),
    Act.READ_AUDIT: dict.fromkeys(_ALL_OF, Role.ADMIN),
}


def needed_role(act: Act, whose: Whose = Whose.SHARED) -> Role:
    """The least role that may do this to such a thing; what the table does not name is for admins."""
    return _NEEDED[act].get(whose, Role.ADMIN)


def refusal(principal: Principal, act: Act, whose: Whose = Whose.SHARED) -> str | None:
    """Why the principal may not, in words for them; None where they may."""
    needed = needed_role(act, whose)
    if principal.role.rank >= needed.rank:
        return None
    return f"to {act} that is {whose} takes the role {needed}; this token has the role {principal.role}"


def may_see_scope(principal: Principal, scope: Scope, scope_id: str) -> bool:
    """Whether documents of this scope, in a tenant of the principal, may be shown to them."""
    return refusal(principal, Act.READ_HEALTH, principal.whose(scope, scope_id)) is None


def may_see(principal: Principal, document: ToolHealth) -> bool:
    """Whether a health document may be shown to the principal."""
    of_theirs = principal.belongs_to(document.tenant_id)
    return of_theirs and may_see_scope(principal, document.scope, document.scope_id)


def shown_to(principal: Principal, document: ToolHealth) -> ToolHealth:
    """The document without what in it is about other users, for those who may not see such."""
    if refusal(principal, Act.READ_HEALTH, Whose.ANOTHERS) is None:
        return document
    mine = (None, principal.user)
    cooldowns = tuple(entry for entry in document.cooldowns if entry.user_id in mine)
    last = document.last_diagnosis
    hidden = last is not None and last.user_id not in mine
    if len(cooldowns) == len(document.cooldowns) and not hidden:
        return document
    return document.with_changes(cooldowns=cooldowns, last_diagnosis=None if hidden else last)
