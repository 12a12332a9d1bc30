"""Finds what the models' source says of each field: the text below the field, else that below its type.

Python keeps neither, so they are read from the source, which is done only when schemas are written.
"""

import ast
import inspect
import re
import sys
from functools import cache

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from agrajag import model as models_package

_QUOTED = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")


def field_doc(model: type[BaseModel], field: str) -> str | None:
    """What is said of `field`, in the words of the wire; None if nothing is."""
    own, types = _fields(model).get(field, (None, ()))
    if own is None:
        own = next((doc for name in types if (doc := _type_docs().get(name))), None)
    return None if own is None else in_wire_words(own)


def in_wire_words(doc: str) -> str:
    """`doc` as one paragraph, with the names of fields as they stand on the wire."""
    return _QUOTED.sub(lambda found: f"`{to_camel(found[1])}`", " ".join(doc.split()))


@cache
def _fields(model: type[BaseModel]) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    """For each field the text below it and the names in its annotation."""
    module = ast.parse(inspect.getsource(model)).body
    body = next(statement.body for statement in module if isinstance(statement, ast.ClassDef))
    found = {}
    for statement, following in _pairs(body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names = tuple(node.id for node in ast.walk(statement.annotation) if isinstance(node, ast.Name))
            found[statement.target.id] = (_text(following), names)
    return found


@cache
def _type_docs() -> dict[str, str]:
    """The text below each type alias of the models."""
    docs = {}
    for name, module in sorted(sys.modules.items()):
        if not name.startswith(f"{models_package.__name__}."):
            continue
        for statement, following in _pairs(ast.parse(inspect.getsource(module)).body):
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                doc = _text(following)
                if doc is not None:
                    docs[statement.targets[0].id] = doc
    return docs


def _pairs(body: list[ast.stmt]) -> list[tuple[ast.stmt, ast.stmt | None]]:
    return list(zip(body, [*body[1:], None], strict=True))


def _text(statement: ast.stmt | None) -> str | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        value = statement.value.value
        return value if isinstance(value, str) else None
    return None
