"""What other services import: it reports what their tools do, and knows what is known of these tools.

Names are loaded when they are used, so that whoever needs one waits for that one alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agrajag.client.call import Call
    from agrajag.client.connected import Agrajag
    from agrajag.client.guard import Guard
    from agrajag.client.refused import ToolRefused
    from agrajag.client.reporter import ToolErrorReporter
    from agrajag.client.watching import Watch
    from agrajag.core.admission import Admission, Decision, GuardPolicy, Refusal
    from agrajag.model.answers import CheckResult
    from agrajag.model.events import ErrorReport
    from agrajag.view import HealthView
    from agrajag.wire.clients import KafkaConnection

_HOMES = {
    "Admission": "agrajag.core.admission",
    "Agrajag": "agrajag.client.connected",
    "Call": "agrajag.client.call",
    "CheckResult": "agrajag.model.answers",
    "Decision": "agrajag.core.admission",
    "ErrorReport": "agrajag.model.events",
    "Guard": "agrajag.client.guard",
    "GuardPolicy": "agrajag.core.admission",
    "HealthView": "agrajag.view",
    "KafkaConnection": "agrajag.wire.clients",
    "Refusal": "agrajag.core.admission",
    "ToolErrorReporter": "agrajag.client.reporter",
    "ToolRefused": "agrajag.client.refused",
    "Watch": "agrajag.client.watching",
}

__all__ = [
    "Admission",
    "Agrajag",
    "Call",
    "CheckResult",
    "Decision",
    "ErrorReport",
    "Guard",
    "GuardPolicy",
    "HealthView",
    "KafkaConnection",
    "Refusal",
    "ToolErrorReporter",
    "ToolRefused",
    "Watch",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
