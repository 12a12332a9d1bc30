"""Reads the rule packs that come with the package (`agrajag/defaults/packs`).

A problem in one of them is a broken installation and stops the start, as for the bundled rules. What the files hold
stands once more in `packs.json`, which is read in a thirtieth of the time; it counts only while it is of these very
files.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable

from agrajag.core.match import RuleSet
from agrajag.core.pack_parsing import parse_pack
from agrajag.core.packs import Pack, PacksOn, asked_order
from agrajag.core.policy import Names
from agrajag.core.rules import Problem
from agrajag.documents.rule_files import bundled_layer
from agrajag.documents.yaml_text import NotYaml, read_yaml
from agrajag.errors import ConfigError

_SHARED = 64
"""So many different choices of packs are kept at a time."""


@cache
def bundled_packs() -> tuple[Pack, ...]:
    """Every pack, in the order in which they are asked. Raises ConfigError for one that is not sound."""
    bundled = frozenset(rule.id for rule in bundled_layer().rules)
    packs: list[Pack] = []
    problems: list[Problem] = []
    texts = texts_of_packs()
    ready = ready_packs(texts)
    for name, text in texts.items():
        source = f"agrajag/defaults/packs/{name}"
        try:
            data = ready[name] if name in ready else read_yaml(text)
            pack, found = parse_pack(data, source, bundled)
        except NotYaml as error:
            pack, found = None, (Problem(source, None, error.field, str(error)),)
        problems += found
        packs += () if pack is None else (pack,)
    problems += _clashes(packs)
    if problems:
        raise ConfigError(*map(str, problems))
    return tuple(asked_order(packs))


def made_ready() -> str:
    """What `packs.json` has to hold for the files as they are: a line for each."""
    texts = texts_of_packs()
    held = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(read_yaml(text), ensure_ascii=False, separators=(',', ':'))}"
        for name, text in texts.items()
    )
    return f'{{"of": "{_digest(texts)}", "packs": {{\n{held}\n}}}}\n'


def ready_file() -> Traversable:
    """Where `packs.json` stands."""
    return resources.files("agrajag").joinpath("defaults", "packs.json")


def texts_of_packs() -> dict[str, str]:
    """The files of the packs by their names, in order."""
    files = resources.files("agrajag").joinpath("defaults", "packs").iterdir()
    return {file.name: file.read_text("utf-8") for file in sorted(files, key=lambda file: file.name)}


def ready_packs(texts: Mapping[str, str]) -> Mapping[str, object]:
    """What the files hold, where `packs.json` is of these very files; else nothing."""
    try:
        ready = json.loads(ready_file().read_bytes())
    except (OSError, ValueError):
        return {}
    packs = ready["packs"] if ready.get("of") == _digest(texts) else {}
    return packs if isinstance(packs, dict) else {}


def _digest(texts: Mapping[str, str]) -> str:
    digest = hashlib.sha256()
    for name, text in texts.items():
        digest.update(f"{name}\0{text}\0".encode())
    return digest.hexdigest()


def packs_on(off: Names) -> PacksOn:
    """The packs but those that are switched off."""
    return packs_named(frozenset(pack.name for pack in bundled_packs() if pack.name not in off))


@lru_cache(_SHARED)
def packs_named(names: frozenset[str]) -> PacksOn:
    """The packs of these names."""
    return PacksOn(bundled_layer().rules, [pack for pack in bundled_packs() if pack.name in names])


def packed_rules() -> RuleSet:
    """The rule set of a tenant and project that say nothing themselves: bundled rules and every pack."""
    return packs_on(Names()).compiled()


def _clashes(packs: Iterable[Pack]) -> list[Problem]:
    """Names and ids that stand in two packs."""
    found: list[Problem] = []
    names: dict[str, str] = {}
    ids: dict[str, str] = {}
    for pack in packs:
        source = pack.layer.source
        if (first := names.setdefault(pack.name, source)) != source:
            found.append(Problem(source, None, "name", f"{pack.name!r} is that of {first}"))
        found += [
            Problem(source, rule.id, "id", f"stands in {first} as well")
            for rule in pack.layer.rules
            if (first := ids.setdefault(rule.id, source)) != source
        ]
    return found
