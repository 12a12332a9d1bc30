"""Renders one expression anew, if every part of it is on the list: kinds of nodes, their parts, functions, columns.

The text is written here and not by the parser's library: each operation in parentheses, each name in backticks, each
literal so that it reads the same in every SQL mode. What the grammar has no renderer for does not exist.
"""

import re
from typing import Any

from sqlglot import exp

from agrajag.investigation.mysql.functions import UNITS
from agrajag.investigation.mysql.scope import Scope
from agrajag.investigation.mysql.tables import Refused, SqlCode

_COUNT = re.compile(r"[0-9]{1,18}")


def render(node: Any, scope: Scope) -> str:
    """The expression as it is sent. Raises Refused where any part of it is not on the list."""
    scope.work.count(scope.depth)
    renderer = scope.work.grammar.get(type(node))
    if renderer is None:
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    return renderer(node, scope.deeper())


def listed(nodes: list[Any], scope: Scope) -> str:
    """Several expressions, with commas."""
    return ", ".join(render(node, scope) for node in nodes)


def only(node: exp.Expr, *parts: str) -> None:
    """Refuse a node that has parts other than these."""
    if any(value for part, value in node.args.items() if part not in parts):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)


def count_of(node: Any) -> str:
    """A whole number that is written out: a limit, a length, a position."""
    if not (isinstance(node, exp.Literal) and not node.is_string and _COUNT.fullmatch(node.this)):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    return str(int(node.this))


def ordered(node: exp.Expr, rendered: str) -> str:
    """An item of ORDER BY, with its direction."""
    only(node, "this", "desc", "nulls_first")
    # Without words about nulls the parser notes the order that the server has of its own.
    if bool(node.args.get("nulls_first")) == bool(node.args.get("desc")):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    return f"{rendered} DESC" if node.args.get("desc") else rendered


def name_of(node: Any) -> str:
    """The name that an identifier is. Raises Refused for whatever else stands there."""
    if not isinstance(node, exp.Identifier):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    return str(node.this)


def unit_of(node: Any) -> str:
    """The unit of time that a word is, which the parser may have taken for a column."""
    unit = node.name.upper() if isinstance(node, exp.Var | exp.Column) else ""
    if unit not in UNITS:
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    return unit
