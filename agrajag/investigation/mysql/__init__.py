"""Evidence from tables of MySQL or MariaDB: one SELECT at a time, judged, rendered anew, and bounded on both sides."""

from agrajag.investigation.mysql.guard import Statement, judge
from agrajag.investigation.mysql.session import MysqlAccess, MysqlLimits
from agrajag.investigation.mysql.source import MysqlSource
from agrajag.investigation.mysql.tables import SqlCode, SqlTables

__all__ = ["MysqlAccess", "MysqlLimits", "MysqlSource", "SqlCode", "SqlTables", "Statement", "judge"]
