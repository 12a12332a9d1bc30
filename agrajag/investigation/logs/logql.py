"""Writes the queries that Loki is asked: from typed values, each of them as a quoted string, never as syntax.

A literal is looked for as it stands and as JSON may spell it, because Loki looks at lines as they were written. What is
sent may find more than was asked for, and never less; what comes back is judged again.
"""

import json
import re
from collections.abc import Mapping, Sequence

import re2

from agrajag.investigation.logs.lines import LEVEL_NAMES
from agrajag.investigation.requests import LogLevel, LogRequest

_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
_ORDER = {level: rank for rank, level in enumerate(LogLevel)}


def is_label(name: str) -> bool:
    """Whether a label of Loki can have this name."""
    return _LABEL.fullmatch(name) is not None


def quoted(text: str) -> str:
    """The text as a string of LogQL, which is one of Go: plain ASCII, everything else escaped."""
    return '"' + "".join(map(_escaped, text)) + '"'


def selector(labels: Mapping[str, str], service_label: str, services: tuple[str, ...] | None = None) -> str:
    """The streams that have these labels and are of one of the services; of any, where none is named."""
    named = [f"{name}={quoted(value)}" for name, value in labels.items()]
    if services is None:
        return "{" + ",".join([*named, f'{service_label}=~".+"']) + "}"
    any_of = "|".join(map(re2.escape, services))
    return "{" + ",".join([*named, f"{service_label}=~{quoted(any_of)}"]) + "}"


def query(streams: str, asked: LogRequest, level_label: str) -> str:
    """The query for lines of these streams: left out are those of a known lower level, and not those of an unknown."""
    stages = [streams]
    if asked.contains is not None:
        stages.append(_literal(asked.contains))
    if asked.pattern is not None:
        stages.append(f"|~ {quoted(asked.pattern)}")
    lower = [] if asked.level is None else [
        name for name, level in LEVEL_NAMES.items() if _ORDER[level] < _ORDER[asked.level]
    ]  # fmt: skip
    if lower:
        stages.append(f"| {level_label}!~{quoted('(?i)' + '|'.join(lower))}")
    return " ".join(stages)


def _literal(text: str) -> str:
    spellings = [_spellings(sign) for sign in text]
    if all(len(each) == 1 for each in spellings):
        return f"|= {quoted(text)}"
    return f"|~ {quoted(''.join(map(_any_of, spellings)))}"


def _any_of(patterns: Sequence[str]) -> str:
    return patterns[0] if len(patterns) == 1 else f"(?:{'|'.join(patterns)})"


def _spellings(sign: str) -> tuple[str, ...]:
    """The ways in which a sign may stand in a line, as patterns; JSON has others than itself for some."""
    itself = re2.escape(sign)
    if sign == "/":
        return itself, re2.escape("\\/")
    if " " <= sign <= "~" and sign not in '"\\':
        return (itself,)
    short, long = json.dumps(sign, ensure_ascii=False)[1:-1], json.dumps(sign)[1:-1]
    return tuple(dict.fromkeys((itself, re2.escape(short), f"(?i:{re2.escape(long)})")))


def _escaped(sign: str) -> str:
    if sign in '"\\':
        return "\\" + sign
    if " " <= sign <= "~":
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
