"""The jobs of the demo are answered: its tools are probed, and the verdicts land in the same documents."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field

from agrajag import bootstrap
from agrajag.cli.demo.reading import Follower, Ledger
from agrajag.clock import utc_now
from agrajag.documents.cascade import TOOLS_PATH, DocumentName
from agrajag.documents.pushing import planned_push
from agrajag.model.answers import InboxItem
from agrajag.model.enums import Scope, Status
from agrajag.model.keys import health_key
from agrajag.model.wire_model import Id, ScopeId, WireModel
from agrajag.settings import Settings

SECRETS_DIR, VAULT_DIR = "secrets", "vault"


class Expected(WireModel):
    """One line of the file: what the diagnosis of a tool has to leave in a document, and why."""

    tells: str
    tenant_id: Id
    tool_name: Id
    scope: Annotated[Scope, Field(strict=False)]
    scope_id: ScopeId
    status: Annotated[Status, Field(strict=False)]

    @property
    def document(self) -> str:
        """The key of the document."""
        return health_key(self.tenant_id, self.scope, self.scope_id, self.tool_name)


class Diagnosed(NamedTuple):
    """What came of the jobs. `problems` has one line for each job or document that is not as it must be."""

    verdicts: Mapping[str, int]
    by_model: bool
    inbox: tuple[InboxItem, ...]
    problems: tuple[str, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """For whoever watches."""
        found = ", ".join(f"{verdict} {count}" for verdict, count in sorted(self.verdicts.items()))
        by = "a model" if self.by_model else "the rule-based diagnostician, as no key for a model is set"
        lines = [f"jobs diagnosed by {by}: {sum(self.verdicts.values())} ({found})"]
        for item in self.inbox[:1]:
            title = f"{item.title}: {item.body}"
            lines.append(f"inbox items: {len(self.inbox)}, that of {item.assigned_to_user_id}: {title}")
        return tuple(lines)


def bundled_expectations() -> tuple[Expected, ...]:
    """What the package brings along."""
    text = resources.files("agrajag").joinpath("defaults/demo/diagnosed.jsonl").read_text("utf-8")
    return tuple(Expected.from_json(line.encode()) for line in text.splitlines())


def problems_of(expected: Sequence[Expected], ledger: Ledger, now: datetime) -> Iterator[str]:
    """A line for what is not as it must be: jobs without an end, documents without their status."""
    if still_open := ledger.jobs_sent - ledger.closed.keys():
        yield f"{len(still_open)} diagnosis jobs are not closed"
    for each in expected:
        document = ledger.documents.get(each.document)
        status = document.status_at(now) if document is not None else "unknown"
        if status != each.status:
            yield f"{each.document} is {status}, should be {each.status}: {each.tells}"


async def through_diagnosis(
    settings: Settings,
    data_dir: Path,
    follower: Follower,
    start: Callable[[], Awaitable[None]],
    tell: Callable[[str], None],
    patience_seconds: float,
) -> Diagnosed:
    """Declare the tools, start the role that diagnoses, and wait until every job is closed.

    `patience_seconds` are for all of it. The role looks for credentials in `SECRETS_DIR` and `VAULT_DIR` of `data_dir`.
    """
    deadline = time.monotonic() + patience_seconds
    ledger, expected = follower.ledger, bundled_expectations()
    tell(f"diagnosing {ledger.jobs} jobs")
    async with bootstrap.demo_tools(data_dir / SECRETS_DIR, data_dir / VAULT_DIR) as declarations:
        documents = {DocumentName(tenant, None, TOOLS_PATH): text for tenant, text in declarations.items()}
        table = await bootstrap.read_documents(settings)
        await bootstrap.push_documents(settings, planned_push(documents, table), table)
        tell("starting the diagnosis")
        await start()
        while any(problems_of(expected, ledger, utc_now())) and time.monotonic() < deadline:
            await follower.read_on()
    return Diagnosed(
        Counter(str(step.verdict or step.reason) for step in ledger.closed.values()),
        settings.model.api_key is not None,
        tuple(ledger.inbox.values()),
        tuple(problems_of(expected, ledger, utc_now())),
    )
