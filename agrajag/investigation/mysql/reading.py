"""Reads a text into one tree of a SELECT, or says why it is none; what could wear the parser out is refused before it.

The parser knows no statement but SELECT, and takes every function as it is written: nothing is translated.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.mysql import MySQL
from sqlglot.parsers.mysql import MySQLParser
from sqlglot.tokenizer_core import Token, TokenType

from agrajag.investigation.mysql.tables import Refused, SqlCode

MAX_TEXT_CHARS = 4_000
MAX_TOKENS = 800
MAX_NESTING = 20
MAX_STEPS = 2_500
_MAX_PREFIXES = 4
_OPENING = frozenset({TokenType.L_PAREN, TokenType.CASE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.END})
_PREFIXES = frozenset({TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE, TokenType.INTERVAL})
_FIRST = frozenset({TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN})
_ODD_SYNTAX = ("CAST", "EXTRACT", "TRIM", "SUBSTRING", "GROUP_CONCAT")


class _Selects(MySQL):
    """MySQL without statements other than SELECT, and with functions that keep their names."""

    class Parser(MySQLParser):
        FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
            name: MySQLParser.FUNCTION_PARSERS[name] for name in _ODD_SYNTAX
        }
        STATEMENT_PARSERS: ClassVar[dict[TokenType, Callable[..., Any]]] = {}
        COLUMN_OPERATORS: ClassVar[dict[TokenType, Callable[..., Any] | None]] = {TokenType.DOT: None}
        NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
            "CASE": MySQLParser.NO_PAREN_FUNCTION_PARSERS["CASE"]
        }
        steps = 0

        def _advance(self, times: int = 1) -> None:
            # Where it does not understand, the parser goes back and tries again, for some texts without end.
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise Refused(SqlCode.SQL_TOO_COMPLEX)
            super()._advance(times)


_DIALECT = _Selects()


def read(text: str) -> exp.Query:
    """The tree of the one SELECT, UNION or parenthesised SELECT that the text is. Raises Refused."""
    if len(text) > MAX_TEXT_CHARS:
        raise Refused(SqlCode.SQL_TOO_COMPLEX)
    if not all(char.isprintable() or char in "\t\r\n\u3000" for char in text):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)
    trees = _parsed(text)
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise Refused(SqlCode.SQL_NOT_ONE_SELECT)
    return trees[0]


def _parsed(text: str) -> list[exp.Expr | None]:
    try:
        tokens = _DIALECT.tokenize(text)
        _check_gaps(text, tokens)
        while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
            tokens.pop()
        _check_shape(tokens)
        return _DIALECT.parser().parse(tokens, text)
    except Refused:
        raise
    except RecursionError:
        raise Refused(SqlCode.SQL_TOO_COMPLEX) from None
    except Exception:  # of whatever kind: hostile text finds what a parser's author has not thought of
        raise Refused(SqlCode.SQL_NOT_PARSED) from None


def _check_gaps(text: str, tokens: list[Token]) -> None:
    """Between tokens stands white space and nothing else, so there is no comment of any kind."""
    end = 0
    for token in tokens:
        if text[end : token.start].strip():
            raise Refused(SqlCode.SQL_NOT_ALLOWED)
        end = token.end + 1
    if text[end:].strip() or any(token.token_type is TokenType.HINT for token in tokens):
        raise Refused(SqlCode.SQL_NOT_ALLOWED)


def _check_shape(tokens: list[Token]) -> None:
    if not tokens:
        raise Refused(SqlCode.SQL_NOT_PARSED)
    if len(tokens) > MAX_TOKENS:
        raise Refused(SqlCode.SQL_TOO_COMPLEX)
    kinds = [token.token_type for token in tokens]
    if kinds[0] not in _FIRST or TokenType.SEMICOLON in kinds:
        raise Refused(SqlCode.SQL_NOT_ONE_SELECT)
    depth = prefixes = 0
    for kind in kinds:
        depth += (kind in _OPENING) - (kind in _CLOSING)
        prefixes = prefixes + 1 if kind in _PREFIXES else 0
        if depth > MAX_NESTING or prefixes > _MAX_PREFIXES:
            raise Refused(SqlCode.SQL_TOO_COMPLEX)
