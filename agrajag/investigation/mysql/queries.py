"""Renders SELECT, UNION and WITH anew: sources first, so that every column after them has one to belong to."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from agrajag.investigation.mysql.rendering import name_of, only, ordered, render
from agrajag.investigation.mysql.results import Item, Rendered, limits_of, order_of_results, place_of
from agrajag.investigation.mysql.scope import Common, Renderer, Scope, by_lower_name
from agrajag.investigation.mysql.tables import Refused, SqlCode, is_name

_FRAME = ("with_", "order", "limit", "offset")
_SIDES = {"": "", "LEFT": "LEFT ", "RIGHT": "RIGHT "}


def render_query(node: Any, scope: Scope, *, named: bool = False) -> Rendered:
    """The query; `named`: each column of its result is given a name, and no name twice. Raises Refused."""
    scope.work.count(scope.depth)
    if isinstance(node, exp.Subquery):
        only(node, "this")
        return render_query(node.this, scope.deeper(), named=named)
    if not isinstance(node, exp.Select | exp.Union):
        raise Refused(SqlCode.SQL_NOT_ONE_SELECT)
    common, scope = _with(node.args.get("with_"), scope)
    body = _select(node, scope, named) if isinstance(node, exp.Select) else _union(node, scope, named)
    limit, offset = limits_of(node)
    return Rendered(f"{common}{body.text}", body.items, limit, offset)


def _subquery(node: exp.Query, scope: Scope) -> str:
    return f"({render_query(node, scope.inside()).limited()})"


def _with(node: exp.With | None, scope: Scope) -> tuple[str, Scope]:
    """WITH, and the scope in which its names are known; each is known to those after it."""
    if node is None:
        return "", scope
    only(node, "expressions")
    texts = []
    commons = dict(scope.commons)
    for cte in node.expressions:
        only(cte, "this", "alias")
        only(cte.args["alias"], "this")
        inner = Scope(scope.work, dict(commons), depth=scope.depth + 1)
        rendered = render_query(cte.this, inner, named=True)
        alias = scope.work.next_common()
        commons[name_of(cte.args["alias"].this).lower()] = Common(alias, _columns(rendered.items))
        texts.append(f"`{alias}` AS ({rendered.limited()})")
    return f"WITH {', '.join(texts)} ", scope.knowing(commons)


def _columns(items: Sequence[Item]) -> Mapping[str, str]:
    return by_lower_name([item.name for item in items if item.name is not None])


# --- UNION ---


def _union(node: exp.Union, scope: Scope, named: bool) -> Rendered:
    """The arms in their order; each is a SELECT of its own, which reads nothing of the others."""
    words, nodes = [], []
    link: Any = node
    while isinstance(link, exp.Union):
        only(link, "this", "expression", "distinct", *(_FRAME if link is node else ()))
        words.append("UNION" if link.args.get("distinct") else "UNION ALL")
        nodes.append(link.expression)
        link = link.this
    first, *rest = [_arm(arm, scope.beside(), named) for arm in reversed([*nodes, link])]
    text = f"({first.limited()})"
    for word, arm in zip(reversed(words), rest, strict=True):
        if len(arm.items) != len(first.items):
            raise Refused(SqlCode.SQL_NOT_PARSED)
        text += f" {word} ({arm.limited()})"
    return Rendered(text + order_of_results(node, first.items), first.items)


def _arm(node: Any, scope: Scope, named: bool) -> Rendered:
    while isinstance(node, exp.Subquery):
        only(node, "this")
        node = node.this
    if not isinstance(node, exp.Select):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    return render_query(node, scope, named=named)


# --- SELECT ---


def _select(node: exp.Select, scope: Scope, named: bool) -> Rendered:
    only(node, "expressions", "from_", "joins", "where", "group", "having", "distinct", *_FRAME)
    sources = _sources(node, scope)
    items = _items(node.expressions, scope, named)
    if named:
        _columns(items)  # refuses two of one name
    with_names = scope.with_names(_names(node.expressions))
    text = f"SELECT {_distinct(node)}{', '.join(item.listed() for item in items)}{sources}"
    if (where := node.args.get("where")) is not None:
        text += f" WHERE {render(where.this, scope)}"
    text += _group(node, with_names, items)
    if (having := node.args.get("having")) is not None:
        text += f" HAVING {render(having.this, with_names)}"
    return Rendered(text + _order(node, with_names, items), items)


def _names(nodes: Sequence[Any]) -> Mapping[str, exp.Expr | None]:
    """The select list's names for its expressions; None for one that is given twice."""
    names: dict[str, exp.Expr | None] = {}
    for node in nodes:
        if isinstance(node, exp.Alias):
            name = node.alias.lower()
            names[name] = None if name in names else node.this
    return names


def _distinct(node: exp.Select) -> str:
    if (distinct := node.args.get("distinct")) is None:
        return ""
    only(distinct)
    return "DISTINCT "


def _items(nodes: Sequence[Any], scope: Scope, named: bool) -> list[Item]:
    items: list[Item] = []
    for node in nodes:
        if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
            items += _starred(node, scope)
        else:
            items.append(_item(node, scope))
    if not items:
        raise Refused(SqlCode.SQL_NOT_PARSED)
    if named:
        return [item if item.name else item._replace(name=f"column_{n}") for n, item in enumerate(items, 1)]
    return items


def _item(node: Any, scope: Scope) -> Item:
    if isinstance(node, exp.Alias):
        only(node, "this", "alias")
        name = name_of(node.args["alias"])
        if not is_name(name):
            raise Refused(SqlCode.SQL_NOT_ALLOWED)
        return Item(render(node.this, scope), name)
    text = render(node, scope)
    return Item(text, text.split("`")[3] if isinstance(node.unnest(), exp.Column) else None)


def _starred(node: Any, scope: Scope) -> list[Item]:
    """What `*` may mean: the columns that may be read, of all sources or of one."""
    sources = scope.sources
    if isinstance(node, exp.Column):
        only(node, "this", "table")
        source = scope.source(name_of(node.args.get("table")).lower())
        sources = [] if source is None else [source]
        node = node.this
    only(node)
    if not sources:
        raise Refused(SqlCode.TABLE_NOT_ALLOWED)
    columns = [(source.alias, column) for source in sources for column in source.columns.values()]
    for _ in columns:
        scope.work.count(scope.depth)
    return [Item(f"`{alias}`.`{column}`", column) for alias, column in columns]


def _group(node: exp.Select, scope: Scope, items: Sequence[Item]) -> str:
    if (group := node.args.get("group")) is None:
        return ""
    only(group, "expressions")
    terms = []
    for term in group.expressions:
        is_column = isinstance(term, exp.Column) and scope.find_here(term.name, term.table.lower() or None)
        place = None if is_column else place_of(term, items)
        terms.append(place or render(term, scope))
    return f" GROUP BY {', '.join(terms)}"


def _order(node: exp.Select, scope: Scope, items: Sequence[Item]) -> str:
    if (order := node.args.get("order")) is None:
        return ""
    only(order, "expressions")
    terms = [
        ordered(item, place_of(item.this, items) or render(item.this, scope)) for item in order.expressions
    ]
    return f" ORDER BY {', '.join(terms)}"


# --- FROM ---


def _sources(node: exp.Select, scope: Scope) -> str:
    start = node.args.get("from_")
    if start is None:
        return ""
    only(start, "this")
    text = f" FROM {_source(start.this, scope)}"
    joins = node.args.get("joins") or []
    for join in joins:
        text += _join(join, scope)
    # A comma binds less than JOIN and is rendered as one; that makes a difference to RIGHT JOIN alone.
    if len(joins) > 1 and any(join.side == "RIGHT" for join in joins):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    return text


def _join(join: exp.Join, scope: Scope) -> str:
    only(join, "this", "side", "kind", "on")
    side, condition = _SIDES.get(join.side), join.args.get("on")
    if side is None or join.kind not in {"", "INNER", "OUTER", "CROSS"} or (side and condition is None):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    source = _source(join.this, scope)
    if condition is None:
        return f" CROSS JOIN {source}"
    return f" {side}JOIN {source} ON {render(condition, scope)}"


def _source(node: Any, scope: Scope) -> str:
    """A table, a CTE or a subquery, under a name of ours; the scope knows it afterwards."""
    alias = node.args.get("alias")
    if alias is not None:
        only(alias, "this")
    if isinstance(node, exp.Table):
        return _table(node, alias, scope)
    if not isinstance(node, exp.Subquery) or alias is None:
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    only(node, "this", "alias")
    rendered = render_query(node.this, scope.apart(), named=True)
    ours = scope.work.next_source()
    scope.add(name_of(alias.this), ours, _columns(rendered.items))
    return f"({rendered.limited()}) AS `{ours}`"


def _table(node: exp.Table, alias: exp.TableAlias | None, scope: Scope) -> str:
    only(node, "this", "db", "alias")
    name, work = name_of(node.this), scope.work
    known = name if alias is None else name_of(alias.this)
    schema = node.args.get("db")
    if schema is not None and name_of(schema).lower() != work.tables.schema.lower():
        raise Refused(SqlCode.TABLE_NOT_ALLOWED)
    common = scope.commons.get(name.lower()) if schema is None else None
    ours = work.next_source()
    if common is not None:
        scope.add(known, ours, common.columns)
        return f"`{common.alias}` AS `{ours}`"
    table = work.table(name)
    scope.add(known, ours, by_lower_name(work.tables.columns[table]))
    return f"`{work.tables.schema}`.`{table}` AS `{ours}`"


QUERIES: Mapping[type[exp.Expr], Renderer] = dict.fromkeys((exp.Select, exp.Subquery, exp.Union), _subquery)
