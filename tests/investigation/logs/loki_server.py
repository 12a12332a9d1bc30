"""A Loki on loopback: it understands the queries that we write, and no others, and answers as Loki's documents say."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
import re2

from tests.diagnosis.tool_servers import Asked, answers

MAX_ENTRIES = 5_000
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
_MATCHER = re.compile(rf"({_NAME})(=~|=)({_STRING})", re.ASCII)
_SELECTOR = re.compile(rf"\{{({_NAME}=~?{_STRING}(?:,{_NAME}=~?{_STRING})*)\}}", re.ASCII)
_STAGE = re.compile(rf" (?:(\|=|\|~) ({_STRING})|\| ({_NAME})!~({_STRING}))", re.ASCII)
_ESCAPE = re.compile(r'\\(?:(["\\])|u([0-9a-f]{4})|U([0-9a-f]{8}))', re.ASCII)

Line = tuple[int, str]


class BadQuery(ValueError):
    """Loki answers 400."""


@dataclass(frozen=True)
class Query:
    """A query as it was understood: label matchers, line filters, and label filters, each with a text of its own."""

    matchers: list[tuple[str, str, str]]
    lines: list[tuple[str, str]]
    labels: list[tuple[str, str]]

    def wants(self, labels: Mapping[str, str]) -> bool:
        """Whether it looks at this stream."""
        return all(
            (labels.get(name, "") == text)
            if operator == "="
            else bool(re2.fullmatch(text, labels.get(name, "")))
            for name, operator, text in self.matchers
        )

    def finds(self, labels: Mapping[str, str], line: str) -> bool:
        """Whether it finds this line of the stream."""
        return all(
            text in line if operator == "|=" else bool(re2.search(text, line))
            for operator, text in self.lines
        ) and not any(re2.fullmatch(text, labels.get(name, "")) for name, text in self.labels)


def unquoted(string: str) -> str:
    """The text of a quoted string, by the rules of Go."""
    rest = _ESCAPE.sub("", string[1:-1])
    if "\\" in rest or '"' in rest or not string.isascii():
        raise BadQuery(string)
    return _ESCAPE.sub(lambda found: found[1] or chr(int(found[2] or found[3], 16)), string[1:-1])


def read_query(text: str) -> Query:
    """The query. Raises BadQuery."""
    selected = _SELECTOR.match(text)
    if selected is None:
        raise BadQuery(text)
    query = Query([(name, op, unquoted(value)) for name, op, value in _MATCHER.findall(selected[1])], [], [])
    at = selected.end()
    while at < len(text):
        stage = _STAGE.match(text, at)
        if stage is None:
            raise BadQuery(text)
        if stage[1]:
            query.lines.append((stage[1], unquoted(stage[2])))
        else:
            query.labels.append((stage[3], unquoted(stage[4])))
        at = stage.end()
    return query


@dataclass
class FakeLoki:
    """Streams by their labels; `tenant` must be named where one is set. To be the behaviour of a ToolServer."""

    streams: list[tuple[dict[str, str], list[Line]]] = field(default_factory=list)
    tenant: str | None = None
    asked: list[dict[str, str]] = field(default_factory=list)

    async def __call__(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        status, body = self._answer(asked)
        raw = orjson.dumps(body) if status == 200 else str(body).encode()
        await answers(status, raw, Content_Type="application/json")(asked, writer)

    def _answer(self, asked: Asked) -> tuple[int, Any]:
        url = urlsplit(asked.path)
        params = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        self.asked.append(params)
        if asked.method != "GET":
            return 405, "method not allowed"
        if self.tenant is not None and asked.headers.get("x-scope-orgid") != self.tenant:
            return 401, "no org id"
        try:
            if label := re.fullmatch(r"/loki/api/v1/label/(\w+)/values", url.path):
                return 200, {"status": "success", "data": self._values(label[1], params)}
            if url.path == "/loki/api/v1/query_range":
                return 200, {
                    "status": "success",
                    "data": {"resultType": "streams", "result": self._range(params)},
                }
        except BadQuery as error:
            return 400, f"parse error : {error}"
        return 404, "page not found"

    def _values(self, label: str, params: Mapping[str, str]) -> list[str]:
        query = read_query(params["query"]) if "query" in params else None
        start, end = int(params["start"]), int(params["end"])
        found = [
            labels[label]
            for labels, lines in self.streams
            if label in labels
            and (query is None or query.wants(labels))
            and any(start <= at < end for at, _ in lines)
        ]
        return sorted(set(found))

    def _range(self, params: Mapping[str, str]) -> list[dict[str, Any]]:
        query, limit = read_query(params["query"]), int(params.get("limit", "100"))
        start, end = int(params["start"]), int(params["end"])
        if limit > MAX_ENTRIES or start >= end or params.get("direction", "backward") != "backward":
            raise BadQuery(str(params))
        found = [
            (at, number, line)
            for number, (labels, lines) in enumerate(self.streams)
            if query.wants(labels)
            for at, line in lines
            if start <= at < end and query.finds(labels, line)
        ]
        newest = sorted(found, key=lambda one: -one[0])[:limit]
        by_stream: dict[int, list[list[str]]] = {}
        for at, number, line in newest:
            by_stream.setdefault(number, []).append([str(at), line])
        return [{"stream": self.streams[number][0], "values": values} for number, values in by_stream.items()]
