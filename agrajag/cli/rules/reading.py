"""Where the commands about rules get rules and errors from. Imported by a command when it runs."""

import asyncio
import sys
import time
from collections.abc import Iterable
from contextlib import aclosing
from datetime import timedelta
from functools import partial
from pathlib import Path

from agrajag import bootstrap
from agrajag.cli.rules.tables import MAX_LINE, problem_line
from agrajag.cli.start import log_for_a_person
from agrajag.cli.telling import tell
from agrajag.clock import utc_now
from agrajag.core.explain import Explanation, explain
from agrajag.core.lookup import Caller
from agrajag.core.redact import redacted_line
from agrajag.core.score import Labelled, Score, score
from agrajag.core.trial import TrialReport
from agrajag.core.verdicts import Arrival
from agrajag.documents.cascade import RULES_PATH, Cascade
from agrajag.documents.directory import DirectoryReading, read_directory
from agrajag.documents.live import Sources
from agrajag.documents.rulebook import Rulebook, rules_without_family
from agrajag.errors import ConfigError, PermanentError
from agrajag.model.events import ToolCallError
from agrajag.model.health import HealthEntry
from agrajag.settings import Settings, load_settings
from agrajag.wire.codec import MAX_VALUE_BYTES
from agrajag.wire.corpus import Corpus, read_corpus
from agrajag.wire.past_errors import Given, Scanned, SetAside, arrival_of
from agrajag.wire.standing import standing_documents

_TELL_EVERY_SECONDS = 2.0


def _settings() -> Settings:
    """The settings of a command whose log is for a person."""
    log_for_a_person()
    return load_settings()


def rulebook_of(directory: Path | None, *, bundled: bool = False) -> Rulebook:
    """The rules of `directory`, else the bundled ones alone if so wanted, else those in force."""
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


def explained(arrival: Arrival[ToolCallError], rulebook: Rulebook, *, standing: bool) -> Explanation:
    """What Layer 1 does about the error, over the documents that stand now or over none."""
    event = arrival.event
    rules, policy = rulebook.effective(event.tenant_id, event.project_id)
    entries = {}
    if standing:
        keys = Caller.of(event).keys(event.tool_name)
        settings = _settings()
        connection, topics = settings.kafka.connection(), settings.topics.topics()
        documents = asyncio.run(standing_documents(connection, topics, keys))
        entries = {key: HealthEntry(revision=one.revision, health=one) for key, one in documents.items()}
    return explain(arrival, rules, policy, arrival.appended_at, entries.get)


def given_error(file: str) -> Arrival[ToolCallError]:
    """The error in a file or on standard input, as if it came now."""
    try:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as opened:
            value = opened.read(MAX_VALUE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from error
    return arrival_of(Given(value, timestamp=int(time.time() * 1000)))


def moved(arrival: Arrival[ToolCallError], tenant: str | None, project: str | None) -> Arrival[ToolCallError]:
    """The error as if it were another tenant's or project's; and as if it were no older than it says."""
    event = arrival.event
    changes = {"tenant_id": tenant, "project_id": project}
    event = event.with_changes(**{name: value for name, value in changes.items() if value is not None})
    at = min(event.occurred_at, arrival.appended_at) if event.occurred_at is not None else arrival.appended_at
    return arrival._replace(event=event, appended_at=at, appended_ms=int(at.timestamp() * 1000))


def past_error(event_id: str, tenant: str | None) -> Arrival[ToolCallError]:
    """The error of this id. Raises PermanentError if it is not kept any more, or was set aside and cannot be read."""
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
    about = redacted_line(
        f"{found.place} was set aside, not decided: {found.reason}: {found.detail}", MAX_LINE
    )
    if found.arrival is None:
        raise PermanentError(f"{about}; it cannot be read, so there is nothing to explain")
    tell(about)
    return found.arrival


def on_trial(rulebook: Rulebook, tenant: str | None, project: str | None) -> bool:
    """Whether a shadow rule of theirs would change anything; what of their documents is rejected is told."""
    owners = {
        owner
        for owner in rulebook.cascade.owners((RULES_PATH,))
        if tenant in (None, owner[0]) and project in (None, owner[1])
    }
    if tenant is not None:
        owners.add((tenant, project))
    in_force = [rulebook.in_force(*owner) for owner in owners]
    for problem in dict.fromkeys(problem for found in in_force for problem in found.problems):
        tell(problem_line(problem))
    return any(found.rules.trial is not None for found in in_force)


async def tried(rulebook: Rulebook, tenant: str | None, project: str | None, back: timedelta) -> TrialReport:
    """What the shadow rules would have changed about the errors of the last `back`."""
    report = TrialReport()
    past = bootstrap.past_errors(_settings(), _Progress())
    async with aclosing(past.since(utc_now() - back)) as errors:
        async for arrival in errors:
            event = arrival.event
            if tenant in (None, event.tenant_id) and project in (None, event.project_id):
                report.take(arrival, *rulebook.effective(event.tenant_id, event.project_id))
    return report


def corpus_in(files: Iterable[Path]) -> Corpus:
    """The labelled failures in these files, and the lines that hold none. Raises ConfigError for an unreadable file."""
    now = utc_now()
    found = Corpus((), ())
    for file in files:
        try:
            with file.open("rb") as lines:
                one = read_corpus(lines, str(file), now)
        except OSError as error:
            raise ConfigError(f"{file}: {error.strerror or error}") from error
        found = Corpus(found.records + one.records, found.problems + one.problems)
    return found


def scored(
    records: Iterable[Labelled],
    rulebook: Rulebook,
    owner: tuple[str, str | None],
    *,
    leave_family_out: bool,
) -> Score:
    """What the rules of a tenant and project say about labelled failures, as if these were theirs."""
    in_force = rulebook.in_force(*owner)
    if leave_family_out:
        return score(records, partial(rules_without_family, in_force), in_force.policy)
    return score(records, lambda _family: in_force.rules, in_force.policy)


class _Progress:
    """Says every two seconds how far a reading has come."""

    def __init__(self) -> None:
        self._told_at = time.monotonic()

    def __call__(self, scanned: Scanned) -> None:
        now = time.monotonic()
        if now - self._told_at >= _TELL_EVERY_SECONDS:
            self._told_at = now
            tell(f"records read {scanned.records:,}")
