"""The columns of a query's result, and what is said of the result as a whole: how it is ordered, how much is wanted."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlglot import exp

from agrajag.investigation.mysql.rendering import count_of, only, ordered
from agrajag.investigation.mysql.tables import Refused, SqlCode


class Item(NamedTuple):
    """One column of a result. `name` is None where the statement gives it none."""

    text: str
    name: str | None

    def listed(self) -> str:
        """As it stands in a select list."""
        return self.text if self.name is None else f"{self.text} AS `{self.name}`"


class Rendered(NamedTuple):
    """A query without its LIMIT, the limit, and the columns of its result."""

    text: str
    items: Sequence[Item]
    limit: int | None = None
    offset: int | None = None

    def limited(self) -> str:
        """The whole of it."""
        text = self.text if self.limit is None else f"{self.text} LIMIT {self.limit}"
        return text if self.offset is None else f"{text} OFFSET {self.offset}"


def limits_of(node: exp.Query) -> tuple[int | None, int | None]:
    """LIMIT and OFFSET, both written out as numbers."""
    limit, offset = node.args.get("limit"), node.args.get("offset")
    if limit is None:
        if offset is not None:
            raise Refused(SqlCode.SQL_NOT_ALLOWED)
        return None, None
    if not isinstance(limit, exp.Limit):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    only(limit, "expression", "offset")
    if offset is not None:
        only(offset, "expression")
        offset = offset.expression
    offset = offset or limit.args.get("offset")
    return int(count_of(limit.expression)), None if offset is None else int(count_of(offset))


def place_of(node: Any, items: Sequence[Item]) -> str | None:
    """The place of the result's column that a number or a bare name stands for."""
    if isinstance(node, exp.Literal):
        place = count_of(node)
        if not 1 <= int(place) <= len(items):
            raise Refused(SqlCode.COLUMN_NOT_ALLOWED)
        return place
    if not isinstance(node, exp.Column) or set(filter(node.args.get, node.args)) != {"this"}:
        return None
    places = [n for n, item in enumerate(items, 1) if (item.name or "").lower() == node.name.lower()]
    return str(places[0]) if len(places) == 1 else None


def _sure_place(node: Any, items: Sequence[Item]) -> str:
    place = place_of(node, items)
    if place is None:
        raise Refused(SqlCode.COLUMN_NOT_ALLOWED)
    return place


def order_of_results(node: exp.Query, items: Sequence[Item]) -> str:
    """ORDER BY of a UNION: its columns by their places, for by name it could sort by others."""
    if (order := node.args.get("order")) is None:
        return ""
    only(order, "expressions")
    places = [ordered(item, _sure_place(item.this, items)) for item in order.expressions]
    return f" ORDER BY {', '.join(places)}"
