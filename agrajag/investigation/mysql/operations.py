"""What stands between and around values: literals, columns, conditions, arithmetic, choices."""

import re
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from agrajag.investigation.mysql.rendering import listed, name_of, only, render, unit_of
from agrajag.investigation.mysql.scope import Renderer, Scope
from agrajag.investigation.mysql.tables import Refused, SqlCode

_NUMBER = re.compile(r"\d{1,40}(\.\d{0,40})?([eE][+-]?\d{1,3})?", re.ASCII)
_COMPARISONS: Mapping[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NullSafeEQ: "<=>",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_CHAINS: tuple[Mapping[type[exp.Expr], str], ...] = (
    {exp.Or: "OR"},
    {exp.And: "AND"},
    {exp.BitwiseOr: "|"},
    {exp.BitwiseAnd: "&"},
    {exp.Add: "+", exp.Sub: "-"},
    {exp.Mul: "*", exp.Div: "/", exp.IntDiv: "DIV", exp.Mod: "%"},
)
"""What binds alike, from left to right."""

_CHAIN_OF = {kind: chain for chain in _CHAINS for kind in chain}
_COMPARING = frozenset({*_COMPARISONS, exp.Is, exp.Like, exp.Escape, exp.Between, exp.In, exp.Not})
"""What is no side of another of them, with or without parentheses.

The parser binds some of them unlike the server, and makes up parentheses that nobody wrote.
"""

_NOW: Mapping[type[exp.Expr], str] = {
    exp.CurrentTimestamp: "CURRENT_TIMESTAMP",
    exp.CurrentDate: "CURRENT_DATE",
    exp.CurrentTime: "CURRENT_TIME",
}


def _literal(node: exp.Literal, scope: Scope) -> str:
    text = str(node.this)
    if not node.is_string:
        if not _NUMBER.fullmatch(text):
            raise Refused(SqlCode.SQL_NOT_ALLOWED)
        return text
    # Without a backslash a literal is the same text whether NO_BACKSLASH_ESCAPES is set or not.
    if "\\" in text or not all(char.isprintable() or char == "\u3000" for char in text):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def _column(node: exp.Column, scope: Scope) -> str:
    only(node, "this", "table")
    name = name_of(node.this)
    if (table := node.args.get("table")) is not None:
        return scope.column(name, name_of(table).lower())
    if name.lower() not in scope.names:
        return scope.column(name, None)
    named, found = scope.names[name.lower()], scope.find_here(name, None)
    rendered = None if named is None else render(named, scope.with_names({}))
    if rendered is None or found not in (None, rendered):
        raise Refused(SqlCode.COLUMN_AMBIGUOUS)
    return rendered


def _null(node: exp.Null, scope: Scope) -> str:
    return "NULL"


def _boolean(node: exp.Boolean, scope: Scope) -> str:
    return "TRUE" if node.this else "FALSE"


def _now(node: exp.Expr, scope: Scope) -> str:
    only(node)
    return _NOW[type(node)]


# --- conditions ---


def _chain(node: exp.Expr, scope: Scope) -> str:
    """As long as one likes, since it is no deeper for that."""
    signs = _CHAIN_OF[type(node)]
    parts: list[str] = []
    link: Any = node
    while type(link) in signs:
        # The last two tell what the parser knows of the dialect.
        only(link, "this", "expression", "safe", "typed")
        parts += [render(link.expression, scope), signs[type(link)]]
        link = link.this
    return f"({' '.join([render(link, scope), *reversed(parts)])})"


def _not(node: exp.Not, scope: Scope) -> str:
    only(node, "this")
    return f"(NOT {render(node.this, scope)})"


def _side(node: Any, scope: Scope) -> str:
    if isinstance(node, exp.Expr) and type(node.unnest()) in _COMPARING:
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    return render(node, scope)


def _compared(node: exp.Binary, scope: Scope) -> str:
    only(node, "this", "expression")
    sign = _COMPARISONS[type(node)]
    return f"({_side(node.this, scope)} {sign} {_side(node.expression, scope)})"


def _is(node: exp.Is, scope: Scope) -> str:
    only(node, "this", "expression")
    if not isinstance(node.expression, exp.Null | exp.Boolean):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    return f"({_side(node.this, scope)} IS {render(node.expression, scope)})"


def _like(node: exp.Like, scope: Scope, escape: str = "") -> str:
    only(node, "this", "expression", "negate")
    word = "NOT LIKE" if node.args.get("negate") else "LIKE"
    return f"({_side(node.this, scope)} {word} {_side(node.expression, scope)}{escape})"


def _escape(node: exp.Escape, scope: Scope) -> str:
    only(node, "this", "expression")
    sign = node.expression
    if not (isinstance(node.this, exp.Like) and isinstance(sign, exp.Literal) and len(sign.this) == 1):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    return _like(node.this, scope, f" ESCAPE {render(sign, scope)}")


def _between(node: exp.Between, scope: Scope) -> str:
    only(node, "this", "low", "high")
    low, high = _side(node.args["low"], scope), _side(node.args["high"], scope)
    return f"({_side(node.this, scope)} BETWEEN {low} AND {high})"


def _in(node: exp.In, scope: Scope) -> str:
    only(node, "this", "expressions", "query")
    query = node.args.get("query")
    among = render(query, scope) if query is not None else f"({listed(node.expressions, scope)})"
    if among == "()":
        raise Refused(SqlCode.SQL_NOT_PARSED)
    return f"({_side(node.this, scope)} IN {among})"


def _exists(node: exp.Exists, scope: Scope) -> str:
    only(node, "this")
    return f"EXISTS{render(node.this, scope)}"


def _tuple(node: exp.Tuple, scope: Scope) -> str:
    only(node, "expressions")
    return f"({listed(node.expressions, scope)})"


# --- arithmetic and choices ---


def _paren(node: exp.Paren, scope: Scope) -> str:
    only(node, "this")
    return render(node.this, scope)


def _neg(node: exp.Neg, scope: Scope) -> str:
    only(node, "this")
    return f"(-{render(node.this, scope)})"


def _interval(node: exp.Interval, scope: Scope) -> str:
    only(node, "this", "unit")
    return f"INTERVAL {render(node.this, scope)} {unit_of(node.args.get('unit'))}"


def _case(node: exp.Case, scope: Scope) -> str:
    only(node, "this", "ifs", "default")
    parts = ["CASE"]
    if (subject := node.args.get("this")) is not None:
        parts.append(render(subject, scope))
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
        parts.append(f"WHEN {render(branch.this, scope)} THEN {render(branch.args['true'], scope)}")
    if (default := node.args.get("default")) is not None:
        parts.append(f"ELSE {render(default, scope)}")
    return " ".join([*parts, "END"])


OPERATIONS: Mapping[type[exp.Expr], Renderer] = {
    exp.Between: _between,
    exp.Boolean: _boolean,
    exp.Case: _case,
    exp.Column: _column,
    exp.Escape: _escape,
    exp.Exists: _exists,
    exp.In: _in,
    exp.Interval: _interval,
    exp.Is: _is,
    exp.Like: _like,
    exp.Literal: _literal,
    exp.Neg: _neg,
    exp.Not: _not,
    exp.Null: _null,
    exp.Paren: _paren,
    exp.Tuple: _tuple,
    **dict.fromkeys(_CHAIN_OF, _chain),
    **dict.fromkeys(_COMPARISONS, _compared),
    **dict.fromkeys(_NOW, _now),
}
