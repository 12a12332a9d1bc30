"""A scenario for tests: right as it is, with what a test is about laid over it."""

from typing import Any

import orjson

from agrajag.diagnosis.evaluation.scenario import Scenario

RIGHT: dict[str, Any] = {
    "id": "dead-backend",
    "about": "It fails for everybody.",
    "reality": "broken",
    "job": {"tool": "search", "error": {"status": 500}},
    "target": {"safety": "SAFE_PROBE", "http": {"method": "GET", "url": "$url/search"}},
    "server": {"anyone": [{"status": 500}]},
    "expect": {"classification": "TECHNICALLY_BROKEN", "scope": "PROJECT"},
}


def written(**changes: Any) -> dict[str, Any]:
    """The scenario as it stands in a file; None leaves a field out."""
    given = RIGHT | changes
    return {name: value for name, value in given.items() if value is not None}


def a_scenario(**changes: Any) -> Scenario:
    """The scenario as it is read."""
    return Scenario.model_validate_json(orjson.dumps(written(**changes)))
