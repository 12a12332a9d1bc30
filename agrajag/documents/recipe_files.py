"""Checks recipe files: YAML in, a usable recipe or everything that is wrong with it out (spec agrajag §10).

A file holds one recipe, under its name, which is also the file's. What it does not say has the narrowest meaning: no
roles, no tools. A field that nobody knows breaks the recipe, since its author meant something by it.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agrajag.core.rules import Problem
from agrajag.core.shown import field_name, shown
from agrajag.documents.recipes import BrokenRecipe, Recipe
from agrajag.documents.yaml_text import NotYaml, read_yaml
from agrajag.model.wire_model import Id

MAX_ENTRIES = 100
MAX_TEXT = 20_000
AI_SCOPES = ("tenant", "project")

_ID: TypeAdapter[str] = TypeAdapter(Id)


class _Wrong(Exception):
    """Says what would be right; `where` is the part of the field that is not."""

    def __init__(self, right: str, value: object, where: str = "") -> None:
        super().__init__(right)
        self.reason = f"{shown(value)} is not {right}"
        self.where = where


def read_recipe(text: str, name: str, source: str) -> Recipe | BrokenRecipe:
    """The recipe of this name that the text holds. Never raises; all that is wrong is told at once."""
    try:
        data = read_yaml(text)
    except NotYaml as error:
        return _broken(source, error.field, str(error))
    if not isinstance(data, Mapping) or len(data) != 1:
        return _broken(source, "recipe", f"the file must be a mapping with the one key {shown(name)}")
    ((named, fields),) = data.items()
    if named != name:
        reason = f"the recipe is called {field_name(named)}, and its file {name}; both must be the same"
        return _broken(source, "recipe", reason)
    if not isinstance(fields, Mapping):
        return _broken(source, "recipe", f"{shown(fields)} is not a mapping")
    values: dict[str, Any] = {}
    problems = tuple(_problems(fields, source, values))
    return BrokenRecipe(source, problems) if problems else Recipe(name=name, source=source, **values)


def _problems(fields: Mapping[Any, Any], source: str, values: dict[str, Any]) -> Iterator[Problem]:
    """What is wrong with each field; the others go into `values`."""
    for name, value in fields.items():
        known = _FIELDS.get(name) if isinstance(name, str) else None
        if known is None:
            reason = f"unknown field; known are {', '.join(_FIELDS)}"
            yield Problem(source, None, field_name(name), reason)
            continue
        attribute, read = known
        try:
            values[attribute] = read(value)
        except _Wrong as wrong:
            yield Problem(source, None, f"{name}{wrong.where}", wrong.reason)
    if "engine" not in fields:
        yield Problem(source, None, "engine", "is required")


def _broken(source: str, where: str, reason: str) -> BrokenRecipe:
    return BrokenRecipe(source, (Problem(source, None, where, reason),))


def _name(value: object) -> str:
    try:
        return _ID.validate_python(value, strict=True)
    except ValidationError:
        raise _Wrong("a name of 1 to 256 visible characters", value) from None


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise _Wrong(f"a text of at most {MAX_TEXT} characters", value)
    return value


def _optional_text(value: object) -> str | None:
    return None if value is None else _text(value)


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MAX_ENTRIES:
        raise _Wrong(f"a list of at most {MAX_ENTRIES} names", value)
    return tuple(dict.fromkeys(map(_name, value)))


def _roles(value: object) -> frozenset[str]:
    return frozenset(_names(value))


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise _Wrong("a mapping with names as keys", value)
    return MappingProxyType(dict(value))


def _optional_mapping(value: object) -> Mapping[str, Any] | None:
    return None if value is None else _mapping(value)


def _params(value: object) -> Mapping[str, Any]:
    params = _mapping(value)
    # Junk here would let a project choose the model after all, or nobody: it must be seen. Other params have bounds.
    if "aiScope" in params and params["aiScope"] not in AI_SCOPES:
        raise _Wrong(f"one of {', '.join(AI_SCOPES)}", params["aiScope"], ".aiScope")
    if not isinstance(params.get("model", ""), str):
        raise _Wrong("a text such as default:agrajag,default:fast", params["model"], ".model")
    return params


def _post_actions(value: object) -> tuple[Mapping[str, Any], ...]:
    if not isinstance(value, list) or len(value) > MAX_ENTRIES:
        raise _Wrong(f"a list of at most {MAX_ENTRIES} mappings", value)
    return tuple(_post_action(action, position) for position, action in enumerate(value, start=1))


def _post_action(value: object, position: int) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        # In YAML 1.1 the key `on` is the truth value.
        action = {"on" if name is True else name: said for name, said in value.items()}
        if action.keys() == {"on", "do"} and all(isinstance(said, str) for said in action.values()):
            return MappingProxyType(action)
    raise _Wrong("a mapping of the texts `on` and `do`", value, f".{position}")


_FIELDS: Mapping[str, tuple[str, Callable[[object], Any]]] = MappingProxyType(
    {
        "engine": ("engine", _name),
        "description": ("description", _text),
        "category": ("category", _text),
        "roles": ("roles", _roles),
        "params": ("params", _params),
        "outputSchema": ("output_schema", _optional_mapping),
        "postActions": ("post_actions", _post_actions),
        "allowedTools": ("allowed_tools", _names),
        "promptPrefix": ("prompt_prefix", _optional_text),
    }
)
