"""The commands of `agrajag rules`."""

import asyncio
import sys
import time
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agrajag.cli.tables import result_console
from agrajag.cli.telling import tell

if TYPE_CHECKING:
    from agrajag.core.explain import Explanation
    from agrajag.core.trial import TrialReport
    from agrajag.core.verdicts import Arrival
    from agrajag.documents.rulebook import Rulebook
    from agrajag.model.events import ToolCallError
    from agrajag.settings import Settings
    from agrajag.wire.past_errors import Scanned

app = typer.Typer(help="Check rules, list what is in force, explain errors.", no_args_is_help=True)

_TELL_EVERY_SECONDS = 2.0
_Tenant = Annotated[str | None, typer.Option("--tenant", help="The tenant whose rules apply.")]
_Project = Annotated[str | None, typer.Option("--project", help="The project of that tenant.")]
_Dir = Annotated[
    Path | None,
    typer.Option("--dir", help="Take the documents of this directory instead of those in force."),
]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


@app.callback()
def rules() -> None:
    """Check rules, list what is in force, explain errors."""


@app.command()
def check(
    paths: Annotated[list[Path], typer.Argument(help="Rule files, or directories of documents.")],
) -> None:
    """Check rule files before anybody uses them: one line for each rule that is rejected or odd.

    Ends with 1 if anything is rejected. A directory is one of documents, <tenant>/<project or _tenant>/_vance/...

    Example: agrajag rules check my-documents
    """
    from agrajag.cli.rules.tables import problem_line
    from agrajag.documents.checking import check as checked_paths

    checked = checked_paths(paths)
    for problem in checked.problems:
        typer.echo(problem_line(problem))
    for warning in checked.warnings:
        typer.echo(f"warning: {problem_line(warning)}")
    tell(
        f"documents {checked.documents:,}  rules {checked.rules:,}  "
        f"rejected {len(checked.problems):,}  warnings {len(checked.warnings):,}"
    )
    raise typer.Exit(1 if checked.problems else 0)


@app.command(name="list")
def list_rules(
    tenant: _Tenant = None, project: _Project = None, directory: _Dir = None, json: _Json = False
) -> None:
    """List the rules in force in their order, with the file each comes from and what it replaces.

    Without a tenant: the bundled rules. Rules on trial (shadow: true) and what was rejected follow.

    Example: agrajag rules list --tenant acme --project essays
    """
    from agrajag.cli.rules import machine, tables
    from agrajag.core.listing import listing

    _refuse_project_alone(tenant, project)
    in_force = _rulebook(directory, bundled=tenant is None).in_force(tenant or "", project)
    listed = listing(in_force.layers, in_force.rules)
    if json:
        tree = machine.list_tree(
            tenant, project, in_force.rules.hash, listed, in_force.problems, in_force.warnings
        )
        typer.echo(machine.as_json(tree))
        return
    console = result_console()
    console.print(f"rule set {in_force.rules.hash}")
    console.print(tables.rules_table(listed.in_force))
    if listed.on_trial:
        console.print("on trial, deciding nothing:")
        console.print(tables.rules_table(listed.on_trial, on_trial=True))
    for problem in in_force.problems:
        console.print(f"rejected: {tables.problem_line(problem)}")
    for warning in in_force.warnings:
        console.print(f"warning: {tables.problem_line(warning)}")


@app.command()
def explain(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE|-", help="An error as JSON; - is standard input.")
    ] = None,
    event_id: Annotated[
        str | None, typer.Option("--event-id", help="A past error, looked for in the topic.")
    ] = None,
    tenant: _Tenant = None,
    project: _Project = None,
    directory: _Dir = None,
    bundled: Annotated[
        bool, typer.Option("--bundled", help="By the bundled rules alone; needs no brokers.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Show every rule, however many.")] = False,
    json: _Json = False,
) -> None:
    """Explain one error: which rule decides and why, which others fit, and what Layer 1 does where nothing stands.

    --tenant and --project explain it as if it were theirs; with --event-id they say whose error is looked for.

    Example: agrajag rules explain error.json
    """
    from agrajag.cli.rules import machine, tables

    if (file is None) == (event_id is None):
        raise typer.BadParameter("give either a file (or -) or --event-id")
    if bundled and directory is not None:
        raise typer.BadParameter("--bundled and --dir exclude each other")
    if event_id is not None:
        arrival = _past_error(event_id, tenant)
    else:
        arrival = _moved(_given_error(file or "-"), tenant, project)
    told = _explained(arrival, _rulebook(directory, bundled=bundled))
    if json:
        typer.echo(machine.as_json(machine.explanation_tree(told)))
        return
    console = result_console()
    for line in tables.error_lines(told):
        console.print(line)
    console.print(f"rule set {told.rule_set_hash}")
    table, left_out = tables.considered_table(told.considered, every=every)
    console.print(table)
    if left_out:
        console.print(f"{left_out:,} rules of which nothing fits are not shown; --all shows them")
    for line in (*tables.decision_lines(told), *tables.trial_lines(told)):
        console.print(line)


@app.command()
def shadow(
    tenant: _Tenant = None,
    project: _Project = None,
    directory: _Dir = None,
    hours: Annotated[float, typer.Option("--hours", min=0.01, help="How far back to look.")] = 24.0,
    json: _Json = False,
) -> None:
    """Try the shadow rules on past errors: which would be decided otherwise, by which rule, instead of which.

    With --dir the rules of a directory are tried that nobody uses yet. Nothing is changed by it.

    Example: agrajag rules shadow --tenant acme --dir my-documents --hours 24
    """
    from agrajag.cli.rules import machine, tables

    _refuse_project_alone(tenant, project)
    report = asyncio.run(_tried(_rulebook(directory), tenant, project, timedelta(hours=hours)))
    counts = report.counts()
    if json:
        typer.echo(machine.as_json(machine.shadow_tree(report.errors_read, counts)))
        return
    if counts:
        result_console().print(tables.shadow_table(counts))
    changed = sum(one.errors for one in counts)
    tell(f"errors read {report.errors_read:,}, of which shadow rules would decide {changed:,} otherwise")


def _refuse_project_alone(tenant: str | None, project: str | None) -> None:
    if project is not None and tenant is None:
        raise typer.BadParameter("--project needs --tenant: projects belong to tenants")


def _settings() -> "Settings":
    from agrajag.cli.start import log_for_a_person
    from agrajag.settings import load_settings

    log_for_a_person()
    return load_settings()


def _rulebook(directory: Path | None, *, bundled: bool = False) -> "Rulebook":
    """The rules of `directory`, else the bundled ones alone if so wanted, else those in force."""
    from agrajag import bootstrap
    from agrajag.cli.rules.tables import problem_line
    from agrajag.documents.cascade import Cascade
    from agrajag.documents.directory import DirectoryReading, read_directory
    from agrajag.documents.live import Sources
    from agrajag.documents.rulebook import Rulebook

    settings = _settings()
    if directory is not None:
        sources = Sources(read_directory(directory), {})
    elif bundled:
        sources = Sources(DirectoryReading(), {})
    else:
        sources = asyncio.run(bootstrap.documents_in_force(settings))
    for problem in sources.in_directory.problems:
        tell(problem_line(problem))
    return Rulebook(Cascade(sources.documents), settings.policy.policy())


def _explained(arrival: "Arrival[ToolCallError]", rulebook: "Rulebook") -> "Explanation":
    from agrajag.core.explain import explain as explained

    event = arrival.event
    rules, policy = rulebook.effective(event.tenant_id, event.project_id)
    return explained(arrival, rules, policy, arrival.appended_at)


def _given_error(file: str) -> "Arrival[ToolCallError]":
    """The error in a file or on standard input, as if it came now."""
    from agrajag.errors import ConfigError
    from agrajag.wire.codec import MAX_VALUE_BYTES
    from agrajag.wire.past_errors import Given, arrival_of

    try:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as opened:
            value = opened.read(MAX_VALUE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from error
    return arrival_of(Given(value, timestamp=int(time.time() * 1000)))


def _moved(
    arrival: "Arrival[ToolCallError]", tenant: str | None, project: str | None
) -> "Arrival[ToolCallError]":
    """The error as if it were another tenant's or project's; and as if it were no older than it says."""
    event = arrival.event
    changes = {"tenant_id": tenant, "project_id": project}
    event = event.with_changes(**{name: value for name, value in changes.items() if value is not None})
    at = min(event.occurred_at, arrival.appended_at) if event.occurred_at is not None else arrival.appended_at
    return arrival._replace(event=event, appended_at=at, appended_ms=int(at.timestamp() * 1000))


def _past_error(event_id: str, tenant: str | None) -> "Arrival[ToolCallError]":
    from agrajag import bootstrap
    from agrajag.errors import PermanentError
    from agrajag.wire.past_errors import SetAside

    errors = bootstrap.past_errors(_settings(), _Progress())
    found = asyncio.run(errors.find(event_id, tenant))
    if found is None:
        scanned = errors.scanned
        back_to = f", back to {scanned.oldest:%Y-%m-%d %H:%MZ}" if scanned.oldest is not None else ""
        raise PermanentError(
            f"no error {event_id!r} in what the topic and its dead letters still keep: "
            f"{scanned.records:,} records{back_to}"
        )
    if not isinstance(found, SetAside):
        return found
    about = f"{found.place} was set aside, not decided: {found.reason}: {found.detail}"
    if found.arrival is None:
        raise PermanentError(f"{about}; it cannot be read, so there is nothing to explain")
    tell(about)
    return found.arrival


async def _tried(
    rulebook: "Rulebook", tenant: str | None, project: str | None, back: timedelta
) -> "TrialReport":
    from agrajag import bootstrap
    from agrajag.core.trial import TrialReport

    report = TrialReport()
    past = bootstrap.past_errors(_settings(), _Progress())
    async with aclosing(past.since(datetime.now(UTC) - back)) as errors:
        async for arrival in errors:
            event = arrival.event
            if tenant in (None, event.tenant_id) and project in (None, event.project_id):
                report.take(arrival, *rulebook.effective(event.tenant_id, event.project_id))
    return report


class _Progress:
    """Says every two seconds how far a reading has come."""

    def __init__(self) -> None:
        self._told_at = time.monotonic()

    def __call__(self, scanned: "Scanned") -> None:
        now = time.monotonic()
        if now - self._told_at >= _TELL_EVERY_SECONDS:
            self._told_at = now
            tell(f"records read {scanned.records:,}")
