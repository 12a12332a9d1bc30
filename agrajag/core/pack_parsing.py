"""Check the files of rule packs: YAML data in, a pack and problems out.

A pack file is a rule file with a head, and every rule of it says where its meaning is documented (`source`) and shows
an error that it decides (`examples`); both are the pack author's to prove, so that no other rule file knows them. A
rule may stand in front of a bundled one (`before`), never in front of another pack's.

What a pack's rule says of one user's own sign-in it says of no call with a shared credential: if that one fails, it
fails for everybody. Nor does it call a tool broken for what a caller had chosen the target of: the next one may work. A
rule that knows better names the kind of credential or of target itself.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from agrajag.core.call_conditions import CredentialIs, TargetIs
from agrajag.core.condition import Condition
from agrajag.core.packs import Pack
from agrajag.core.rule_parsing import parse_layer
from agrajag.core.rules import Layer, Problem, Rule
from agrajag.core.shown import field_name, shown
from agrajag.model.enums import CallTargetKind, Classification, CredentialKind

_SPARED: Mapping[Classification, Condition] = {
    Classification.USER_SPECIFIC_TECHNICAL: CredentialIs(
        tuple(kind for kind in CredentialKind if kind is not CredentialKind.SHARED)
    ),
    Classification.TECHNICALLY_BROKEN: TargetIs(
        tuple(kind for kind in CallTargetKind if kind is not CallTargetKind.FROM_CALLER)
    ),
}
"""What a rule that blames a user, or the tool, asks of the call unless it says so itself."""
_HEAD = ("name", "family", "families", "description", "patterns")
_OF_PACKS = ("source", "examples", "notExamples")


def parse_pack(data: object, source: str, bundled: frozenset[str]) -> tuple[Pack | None, tuple[Problem, ...]]:
    """The pack that the parsed content of a file holds, if any, and everything that is wrong with it.

    `bundled` are the ids of the rules that come with the package. Never raises.
    """
    if not isinstance(data, Mapping):
        return None, (Problem(source, None, "pack", "the file must be a mapping"),)
    wrong = [
        Problem(source, None, field_name(name), f"unknown field; known are {', '.join(_HEAD)}")
        for name in data
        if name not in _HEAD
    ]
    families = data.get("families", [data["family"]] if "family" in data else [])
    for field, value in (("name", data.get("name")), ("description", data.get("description"))):
        if not _is_text(value):
            wrong.append(Problem(source, None, field, f"{shown(value)} is not a text with something in it"))
    if "family" in data and "families" in data:
        wrong.append(Problem(source, None, "family", "excludes families"))
    if not isinstance(families, list) or not all(map(_is_text, families)):
        wrong.append(Problem(source, None, "families", "must be a list of names; * stands for any ending"))
    patterns = data.get("patterns")
    entries = (
        [entry for entry in patterns if isinstance(entry, Mapping)] if isinstance(patterns, list) else []
    )
    proofs = {entry["id"]: _proof(entry) for entry in entries if _is_text(entry.get("id"))}
    layer = parse_layer({"patterns": _stripped(patterns)}, source, of_pack=True)
    for rule in layer.rules:
        wrong += [
            Problem(source, rule.id, field, reason)
            for field, reason in _faults(rule, proofs[rule.id], bundled)
        ]
    if wrong or layer.problems:
        return None, (*wrong, *layer.problems)
    return _pack(data, families, layer, proofs), ()


def _pack(data: Mapping[str, Any], families: list[str], layer: Layer, proofs: Mapping[str, Any]) -> Pack:
    return Pack(
        name=data["name"],
        families=tuple(families),
        description=" ".join(data["description"].split()),
        layer=replace(layer, rules=tuple(replace(_sparing(rule), pack=data["name"]) for rule in layer.rules)),
        sources=MappingProxyType({rule_id: proof["source"] for rule_id, proof in proofs.items()}),
        examples=MappingProxyType({rule_id: tuple(proof["examples"]) for rule_id, proof in proofs.items()}),
        counter_examples=MappingProxyType(
            {rule_id: tuple(proof["notExamples"]) for rule_id, proof in proofs.items()}
        ),
    )


def _sparing(rule: Rule) -> Rule:
    """The rule, with no eye for calls of which what it says is not to be believed."""
    match, asked = rule.match, _SPARED.get(rule.classification)
    if asked is None or any(isinstance(condition, type(asked)) for condition in match.conditions):
        return rule
    return replace(rule, match=replace(match, conditions=(*match.conditions, asked)))


def _stripped(patterns: object) -> object:
    """The entries without what only packs have: entries of an ordinary rule file."""
    if not isinstance(patterns, list):
        return patterns
    return [
        {name: value for name, value in entry.items() if name not in _OF_PACKS}
        if isinstance(entry, Mapping)
        else entry
        for entry in patterns
    ]


def _proof(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "source": entry.get("source"),
        "examples": entry.get("examples"),
        "notExamples": entry.get("notExamples", []),
    }


def _faults(rule: Rule, proof: Mapping[str, Any], bundled: frozenset[str]) -> list[tuple[str, str]]:
    found = []
    if not _is_text(proof["source"]):
        found.append(("source", "must say where the meaning is documented"))
    for field, least in (("examples", 1), ("notExamples", 0)):
        examples = proof[field]
        if not isinstance(examples, list) or len(examples) < least:
            found.append((field, f"must be a list of errors, at least {least}"))
        elif not all(isinstance(example, Mapping) for example in examples):
            found.append((field, "every example must be a mapping of the fields of an error"))
    if rule.id in bundled:
        found.append(("id", "is that of a bundled rule; put a rule of another id before it"))
    if rule.before is not None and rule.before not in bundled:
        found.append(("before", f"there is no bundled rule {rule.before!r}"))
    if rule.shadow:
        found.append(("shadow", "a pack has no rules on trial; its examples try them"))
    return found


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
