"""Calls of functions: those with commas between their arguments by one list, and the few that have words there."""

import re
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from agrajag.investigation.mysql.functions import AGGREGATES, BY_PATH, FUNCTIONS, MANY, UNIT_FIRST
from agrajag.investigation.mysql.rendering import count_of, listed, only, ordered, render, unit_of
from agrajag.investigation.mysql.scope import Renderer, Scope
from agrajag.investigation.mysql.tables import Refused, SqlCode
from agrajag.investigation.shown_values import names_a_secret

_PATH_NAME = re.compile(r'[^$.\[\]"]+')
_TYPES: Mapping[exp.DType, tuple[str, int]] = {
    exp.DType.CHAR: ("CHAR", 1),
    exp.DType.BINARY: ("BINARY", 1),
    exp.DType.BIGINT: ("SIGNED", 0),
    exp.DType.UBIGINT: ("UNSIGNED", 0),
    exp.DType.DECIMAL: ("DECIMAL", 2),
    exp.DType.DOUBLE: ("DOUBLE", 0),
    exp.DType.DATE: ("DATE", 0),
    exp.DType.DATETIME: ("DATETIME", 1),
    exp.DType.TIME: ("TIME", 1),
}
"""What CAST may make, and how many numbers may stand behind it."""


def _function(node: exp.Anonymous, scope: Scope) -> str:
    only(node, "this", "expressions")
    name = node.this.upper() if isinstance(node.this, str) else ""
    fewest, most = FUNCTIONS.get(name, (0, -1))
    if not fewest <= len(node.expressions) <= most:
        raise Refused(SqlCode.FUNCTION_NOT_ALLOWED)
    if name in AGGREGATES:
        return f"{name}({_aggregated(name, node.expressions, scope)})"
    if name in BY_PATH:
        _check_path(node.expressions[1])
    if name in UNIT_FIRST:
        unit, *rest = node.expressions
        return f"{name}({unit_of(unit)}, {listed(rest, scope)})"
    return f"{name}({listed(node.expressions, scope)})"


def _check_path(path: Any) -> None:
    """A path is written out, leads to one place, and has no name in it that is kept from being read as a column."""
    text = str(path.this) if isinstance(path, exp.Literal) and path.is_string else "*"
    if "*" in text or any(map(names_a_secret, _PATH_NAME.findall(text))):
        raise Refused(SqlCode.COLUMN_NOT_ALLOWED)


def _aggregated(name: str, arguments: list[Any], scope: Scope) -> str:
    first = arguments[0]
    if len(arguments) > 1:
        raise Refused(SqlCode.FUNCTION_NOT_ALLOWED)
    if isinstance(first, exp.Star) and name == "COUNT":
        only(first)
        return "*"
    return _distinct(first, scope, MANY if name == "COUNT" else 1)


def _distinct(node: Any, scope: Scope, most: int) -> str:
    if not isinstance(node, exp.Distinct):
        return render(node, scope)
    only(node, "expressions")
    if not 0 < len(node.expressions) <= most:
        raise Refused(SqlCode.FUNCTION_NOT_ALLOWED)
    return f"DISTINCT {listed(node.expressions, scope)}"


def _group_concat(node: exp.GroupConcat, scope: Scope) -> str:
    only(node, "this", "separator")
    what, order, separator = node.this, "", ""
    if isinstance(what, exp.Order):
        only(what, "this", "expressions")
        items = [ordered(item, render(item.this, scope)) for item in what.expressions]
        order = f" ORDER BY {', '.join(items)}"
        what = what.this
    if (text := node.args.get("separator")) is not None:
        if not isinstance(text, exp.Literal):
            raise Refused(SqlCode.SQL_NOT_ALLOWED)
        separator = f" SEPARATOR {render(text, scope)}"
    return f"GROUP_CONCAT({_distinct(what, scope, 1)}{order}{separator})"


def _substring(node: exp.Substring, scope: Scope) -> str:
    only(node, "this", "start", "length")
    parts = [node.this, node.args.get("start"), *filter(None, [node.args.get("length")])]
    return f"SUBSTRING({listed(parts, scope)})"


def _trim(node: exp.Trim, scope: Scope) -> str:
    only(node, "this", "expression", "position")
    text = render(node.this, scope)
    if (taken := node.args.get("expression")) is None:
        if node.args.get("position"):
            raise Refused(SqlCode.SQL_NOT_ALLOWED)
        return f"TRIM({text})"
    position = str(node.args.get("position") or "BOTH").upper()
    if position not in {"BOTH", "LEADING", "TRAILING"}:
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    return f"TRIM({position} {render(taken, scope)} FROM {text})"


def _extract(node: exp.Extract, scope: Scope) -> str:
    only(node, "this", "expression")
    return f"EXTRACT({unit_of(node.this)} FROM {render(node.expression, scope)})"


def _cast(node: exp.Cast, scope: Scope) -> str:
    only(node, "this", "to")
    target = node.args["to"]
    only(target, "this", "expressions", "nested")
    name, most = _TYPES.get(target.this, ("", 0))
    numbers = [count_of(parameter.this) for parameter in target.expressions]
    if not name or len(numbers) > most or any(len(number) > 4 for number in numbers):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    size = f"({', '.join(numbers)})" if numbers else ""
    return f"CAST({render(node.this, scope)} AS {name}{size})"


CALLS: Mapping[type[exp.Expr], Renderer] = {
    exp.Anonymous: _function,
    exp.Cast: _cast,
    exp.Extract: _extract,
    exp.GroupConcat: _group_concat,
    exp.Substring: _substring,
    exp.Trim: _trim,
}
