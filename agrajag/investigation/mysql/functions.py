"""The functions that a statement may call, each with the fewest and the most arguments it takes.

None of them waits, locks, reads a file, tells of the server or the session, makes a long text out of a short one by a
number alone (REPEAT, SPACE, LPAD, RPAD), or writes a whole text so that no secret in it is recognised (HEX, REVERSE).
"""

from collections.abc import Mapping

MANY = 40

AGGREGATES = frozenset(
    {"COUNT", "SUM", "AVG", "MIN", "MAX", "STD", "STDDEV", "STDDEV_POP", "STDDEV_SAMP"}
    | {"VARIANCE", "VAR_POP", "VAR_SAMP"}
)

_ONE = (1, 1)
_TWO = (2, 2)

FUNCTIONS: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(AGGREGATES, _ONE),
    "COUNT": (1, MANY),
    # --- strings ---
    **dict.fromkeys(("ASCII", "CHAR_LENGTH", "CHARACTER_LENGTH", "LENGTH", "UNHEX"), _ONE),
    **dict.fromkeys(("LOWER", "LCASE", "UPPER", "UCASE", "LTRIM", "RTRIM"), _ONE),
    **dict.fromkeys(("LEFT", "RIGHT", "INSTR", "STRCMP", "FIND_IN_SET"), _TWO),
    **dict.fromkeys(("MID", "SUBSTR", "LOCATE"), (2, 3)),
    "CONCAT": (1, MANY),
    "CONCAT_WS": (2, MANY),
    "FIELD": (2, MANY),
    "REPLACE": (3, 3),
    "SUBSTRING_INDEX": (3, 3),
    # --- numbers ---
    **dict.fromkeys(("ABS", "CEIL", "CEILING", "FLOOR", "SIGN", "SQRT", "EXP", "LN", "LOG2", "LOG10"), _ONE),
    **dict.fromkeys(("MOD", "POW", "POWER", "TRUNCATE"), _TWO),
    **dict.fromkeys(("ROUND", "LOG"), (1, 2)),
    **dict.fromkeys(("GREATEST", "LEAST"), (2, MANY)),
    # --- dates and times; the session's time zone is UTC ---
    **dict.fromkeys(("CURDATE", "CURRENT_DATE", "UTC_DATE"), (0, 0)),
    **dict.fromkeys(
        ("NOW", "CURTIME", "CURRENT_TIME", "CURRENT_TIMESTAMP", "UTC_TIME", "UTC_TIMESTAMP"), (0, 1)
    ),
    **dict.fromkeys(("DATE", "TIME", "YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"), _ONE),
    **dict.fromkeys(("MICROSECOND", "DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR", "WEEKDAY", "WEEKOFYEAR"), _ONE),
    **dict.fromkeys(("DAYNAME", "MONTHNAME", "LAST_DAY", "TO_DAYS", "FROM_DAYS"), _ONE),
    **dict.fromkeys(("TIME_TO_SEC", "SEC_TO_TIME"), _ONE),
    **dict.fromkeys(("DATE_ADD", "DATE_SUB", "ADDDATE", "SUBDATE", "ADDTIME", "SUBTIME"), _TWO),
    **dict.fromkeys(("DATEDIFF", "TIMEDIFF", "DATE_FORMAT", "TIME_FORMAT", "STR_TO_DATE", "MAKEDATE"), _TWO),
    **dict.fromkeys(("TIMESTAMPDIFF", "TIMESTAMPADD"), (3, 3)),
    "WEEK": (1, 2),
    "TIMESTAMP": (1, 2),
    "UNIX_TIMESTAMP": (0, 1),
    "FROM_UNIXTIME": (1, 2),
    # --- choices ---
    "IF": (3, 3),
    **dict.fromkeys(("IFNULL", "NULLIF"), _TWO),
    "ISNULL": _ONE,
    "COALESCE": (1, MANY),
    # --- JSON ---
    **dict.fromkeys(("JSON_LENGTH", "JSON_TYPE", "JSON_UNQUOTE", "JSON_VALID"), _ONE),
    **dict.fromkeys(("JSON_EXTRACT", "JSON_VALUE"), _TWO),
    "JSON_CONTAINS": (2, 3),
}

UNIT_FIRST = frozenset({"TIMESTAMPDIFF", "TIMESTAMPADD"})
"""Functions whose first argument is a unit of time and no column, whatever it looks like."""

BY_PATH = frozenset({"JSON_EXTRACT", "JSON_VALUE"})
"""Functions whose second argument leads to a part of a document, which then has no name any more."""

UNITS = frozenset(
    {"MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"}
    | {"SECOND_MICROSECOND", "MINUTE_MICROSECOND", "MINUTE_SECOND", "HOUR_MICROSECOND", "HOUR_SECOND"}
    | {"HOUR_MINUTE", "DAY_MICROSECOND", "DAY_SECOND", "DAY_MINUTE", "DAY_HOUR", "YEAR_MONTH"}
)
