"""What an attendant stands on in tests: the real guard and rules, and documents as a worker would write them."""

from collections.abc import Sequence

from agrajag.client.attending import Attendant
from agrajag.client.guard import Guard
from agrajag.client.reporter import ToolErrorReporter
from agrajag.core.admission import GuardPolicy
from agrajag.core.lookup import Caller
from agrajag.core.match import RuleSet
from agrajag.core.policy import Policy
from agrajag.documents.rule_files import bundled_rules
from agrajag.model.health import ToolHealth
from agrajag.wire.clients import KafkaConnection

NOWHERE = KafkaConnection("127.0.0.1:1")
STRICT = GuardPolicy(refuse_down=True, refuse_cooling=True)


class Surroundings:
    """What is known of tools: nothing, until a test says so."""

    def __init__(self, *documents: ToolHealth, rules: RuleSet | None = None) -> None:
        self.documents = list(documents)
        self.rules = rules or bundled_rules()

    def documents_of(self, caller: Caller, tool_name: str) -> Sequence[ToolHealth]:
        """Those of the tool, whoever asks."""
        return [
            found
            for found in self.documents
            if (found.tenant_id, found.tool_name) == (caller.tenant_id, tool_name)
        ]

    def effective(self, tenant_id: str, project_id: str | None) -> tuple[RuleSet, Policy]:
        """The same for all."""
        return self.rules, Policy()

    def guard(self) -> Guard:
        """One that knows these documents and rules."""
        return Guard(self, self.effective)

    def attendant(self, reporter: ToolErrorReporter, own: GuardPolicy = STRICT) -> Attendant:
        """One that refuses what is down or paused."""
        return Attendant(reporter, self.guard(), own)


def unheard() -> ToolErrorReporter:
    """A reporter without brokers: what it is told stays with it."""
    return ToolErrorReporter(NOWHERE, tenant_id="acme")
