"""Reads scenarios from their files, strictly: each problem is told with its file, scenario and field, and any stops."""

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

import orjson
from pydantic import ValidationError

from agrajag.core.shown import shown
from agrajag.diagnosis.evaluation.scenario import Scenario
from agrajag.documents.yaml_text import NotYaml, read_yaml
from agrajag.errors import ConfigError

TARGETS_FILE = "targets.yaml"


def bundled_scenarios() -> tuple[Scenario, ...]:
    """What comes with the package, in the order of the files. Raises ConfigError with every problem in them."""
    folder = resources.files("agrajag").joinpath("defaults/evaluation")
    return read_scenarios(
        {file.name: file.read_text("utf-8") for file in folder.iterdir() if file.name.endswith(".yaml")}
    )


def read_scenarios(files: Mapping[str, str]) -> tuple[Scenario, ...]:
    """The scenarios in `files`, texts by name; the file of targets names the declarations that they share.

    Raises ConfigError with every problem in them.
    """
    problems: list[str] = []
    targets = _targets(files.get(TARGETS_FILE, "{}"), problems)
    found: dict[str, Scenario] = {}
    for name in sorted(files.keys() - {TARGETS_FILE}):
        for number, entry in enumerate(_entries(name, files[name], problems), 1):
            scenario = _scenario(f"{name}: {_called(entry, number)}", entry, targets, problems)
            if scenario is None:
                continue
            if scenario.id in found:
                problems.append(f"{name}: {scenario.id}: there is another scenario of this id")
            found[scenario.id] = scenario
    if not found and not problems:
        problems.append("scenarios: there are none")
    if problems:
        raise ConfigError(*problems)
    return tuple(found.values())


def _targets(text: str, problems: list[str]) -> Mapping[str, Any]:
    try:
        data = read_yaml(text)
    except NotYaml as error:
        problems.append(f"{TARGETS_FILE}: {error}")
        return {}
    if not isinstance(data, Mapping) or not all(isinstance(entry, Mapping) for entry in data.values()):
        problems.append(f"{TARGETS_FILE}: must be a mapping of names to declarations")
        return {}
    return data


def _entries(name: str, text: str, problems: list[str]) -> list[Any]:
    try:
        data = read_yaml(text)
    except NotYaml as error:
        problems.append(f"{name}: {error}")
        return []
    if not isinstance(data, list):
        problems.append(f"{name}: must be a list of scenarios")
        return []
    return data


def _scenario(called: str, entry: object, targets: Mapping[str, Any], problems: list[str]) -> Scenario | None:
    if not isinstance(entry, Mapping):
        problems.append(f"{called}: must be a mapping")
        return None
    named = entry.get("target")
    if isinstance(named, str):
        if named not in targets:
            problems.append(f"{called}: target: {shown(named)} is not in {TARGETS_FILE}")
            return None
        entry = {**entry, "target": targets[named]}
    try:
        return Scenario.model_validate_json(orjson.dumps(entry))
    except TypeError as error:  # a key that is no text, a value that JSON does not have
        problems.append(f"{called}: {error}")
    except ValidationError as error:
        problems += (f"{called}: {problem}" for problem in _told(error))
    return None


def _told(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_input=False):
        place = ".".join(map(str, problem["loc"]))
        yield f"{place}: {problem['msg']}" if place else problem["msg"]


def _called(entry: object, number: int) -> str:
    if isinstance(entry, Mapping) and isinstance(entry.get("id"), str):
        return shown(entry["id"])
    return f"scenario {number}"
