"""Texts of documents for tests, and snapshots of them."""

import json
from collections.abc import Iterable

from agrajag.documents.cascade import RULES_PATH, SETTINGS_PATH, Cascade, DocumentName
from agrajag.documents.recipes import recipe_path


def a_rule_text(rule_id: str, **fields: object) -> str:
    """One rule of a file; without fields it matches status 418 and is USER_INPUT."""
    given = {
        "id": rule_id,
        "match": {"httpStatus": 418},
        "signature": rule_id,
        "classification": "USER_INPUT",
    } | fields
    return json.dumps(given)


def a_rule_file(*rules: str) -> str:
    """A rule file of these rules, or of the rules with these ids."""
    lines = [rule if rule.startswith("{") else a_rule_text(rule) for rule in rules]
    return "patterns:\n" + "".join(f"- {line}\n" for line in lines) if lines else "patterns: []\n"


def rules_at(tenant_id: str, project_id: str | None = None) -> DocumentName:
    """The name of the rule file of a tenant or project."""
    return DocumentName(tenant_id, project_id, RULES_PATH)


def settings_at(tenant_id: str, project_id: str | None = None) -> DocumentName:
    """The name of its settings."""
    return DocumentName(tenant_id, project_id, SETTINGS_PATH)


def recipe_at(name: str, tenant_id: str, project_id: str | None = None) -> DocumentName:
    """The name of a recipe of a tenant or project."""
    return DocumentName(tenant_id, project_id, recipe_path(name))


def a_recipe_file(name: str, **fields: object) -> str:
    """A recipe of this name, for the engine of the same name if nothing else is said."""
    return json.dumps({name: {"engine": name} | fields})


def a_cascade(documents: Iterable[tuple[DocumentName, str]] = ()) -> Cascade:
    """A snapshot of these documents."""
    return Cascade(dict(documents))
