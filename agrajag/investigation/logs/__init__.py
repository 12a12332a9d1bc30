"""Evidence from logs, of a folder of files or of Loki: the lines of a window that fit, the newest first."""

from agrajag.investigation.logs.jsonl import JsonlLogs, LogLimits
from agrajag.investigation.logs.lines import LogFields
from agrajag.investigation.logs.loki import LokiLimits, LokiLogs
from agrajag.investigation.logs.loki_client import LokiAccess

__all__ = ["JsonlLogs", "LogFields", "LogLimits", "LokiAccess", "LokiLimits", "LokiLogs"]
