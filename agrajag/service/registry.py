"""Which engines there are, by name: those that the caller brings, and those of other installed packages.

A package offers an engine by an entry point of the group `agrajag.engines`: its name is the engine's, its object a
factory that takes an `EngineParts`. Nothing of Agrajag has to know it (spec agrajag §12).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TypeAlias

from agrajag.clock import Clock
from agrajag.errors import ConfigError
from agrajag.service.engine import AnyEngine
from agrajag.service.health_reading import HealthReading
from agrajag.service.intake import Engines
from agrajag.service.models import Models
from agrajag.service.tools import ToolRegistry
from agrajag.wire.cloudevents import EventType
from agrajag.wire.topics import Topic, Topics

ENGINES_GROUP = "agrajag.engines"

EVENT_TYPES = {
    Topic.DIAGNOSIS_RESULTS: EventType.DIAGNOSIS_RESULT,
    Topic.DIAGNOSIS_JOBS: EventType.DIAGNOSIS_JOB,
    Topic.HEALTH_COMMANDS: EventType.HEALTH_COMMAND,
    Topic.INBOX_ITEMS: EventType.INBOX_ITEM,
}
"""The topics on which an engine may answer, and what an answer there is."""


@dataclass(frozen=True, slots=True)
class EngineParts:
    """What an engine may be built from. It is given its job, its run and the tools for it with each attempt."""

    topics: Topics
    view: HealthReading
    models: Models
    tools: ToolRegistry
    clock: Clock


EngineFactory: TypeAlias = Callable[[EngineParts], AnyEngine]


def installed_engines(parts: EngineParts) -> tuple[AnyEngine, ...]:
    """The engines of other packages that are installed, built. Raises ConfigError, one line for each that cannot be."""
    engines, problems = [], []
    for point in sorted(entry_points(group=ENGINES_GROUP), key=lambda point: point.name):
        try:
            engines.append(_built(point, parts))
        except Exception as error:  # somebody else's code: whatever it raises, the start has to stop
            problems.append(f"engine {point.name} ({point.value}): {type(error).__name__}: {error}")
    if problems:
        raise ConfigError(*problems)
    return tuple(engines)


def engines_by_name(engines: Iterable[AnyEngine]) -> Engines:
    """The engines of one worker. Raises ConfigError where two have one name, or one answers where it must not."""
    by_name: dict[str, AnyEngine] = {}
    problems = []
    for engine in engines:
        if engine.name in by_name:
            problems.append(f"engine {engine.name}: there are two of this name")
        if engine.output_topic not in EVENT_TYPES:
            problems.append(
                f"engine {engine.name}: answers on {engine.output_topic}, which is not for answers"
            )
        by_name[engine.name] = engine
    if problems:
        raise ConfigError(*problems)
    return by_name


def _built(point: EntryPoint, parts: EngineParts) -> AnyEngine:
    factory: EngineFactory = point.load()
    engine = factory(parts)
    if engine.name != point.name:
        raise ValueError(f"it calls itself {engine.name}")
    return engine
