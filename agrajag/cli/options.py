"""The options that several commands share, and what they mean together."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from agrajag.errors import ConfigError
from agrajag.model.enums import Scope

if TYPE_CHECKING:
    from agrajag.settings import Settings

Tenant = Annotated[
    str | None, typer.Option("--tenant", metavar="TENANT", help="Whose tool; by default AGRAJAG_TENANT.")
]
User = Annotated[str | None, typer.Option("--user", "--as", metavar="USER", help="This user's.")]
Project = Annotated[str | None, typer.Option("--project", metavar="PROJECT", help="This project's.")]
Session = Annotated[str | None, typer.Option("--session", metavar="SESSION", help="This session's.")]
Everywhere = Annotated[
    bool, typer.Option("--everywhere", help="The GLOBAL document, which is kept per tenant.")
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON lines, for programs.")]


class Target(NamedTuple):
    """Which document of a tool is meant. `project_id` is where a narrower scope belongs."""

    scope: Scope
    scope_id: str
    project_id: str | None = None


def target(
    tenant: str, project: str | None, user: str | None, session: str | None, everywhere: bool = False
) -> Target:
    """The narrowest of session, user and project that is given; else the tenant, or GLOBAL for `everywhere`.

    Raises ConfigError for both a session and a user, and for GLOBAL with any of them.
    """
    if session and user:
        raise ConfigError("--session and --user: a document is about one of them")
    if everywhere:
        if session or user or project:
            raise ConfigError("--everywhere: goes with neither --session, --user nor --project")
        return Target(Scope.GLOBAL, "")
    if session:
        return Target(Scope.SESSION, session, project)
    if user:
        return Target(Scope.USER, user, project)
    if project:
        return Target(Scope.PROJECT, project, project)
    return Target(Scope.TENANT, tenant)


def tenant_of(settings: "Settings", tenant: str | None) -> str:
    """The tenant that is meant. Raises ConfigError where nobody says which."""
    found = tenant or settings.tenant
    if not found:
        raise ConfigError("say whose tools are meant: with --tenant, or for always with AGRAJAG_TENANT")
    return found


def settings_for_a_person() -> "Settings":
    """The settings of a command that a person waits for; it logs what needs attention alone."""
    from agrajag.cli.start import log_for_a_person
    from agrajag.settings import load_settings

    log_for_a_person()
    return load_settings()
