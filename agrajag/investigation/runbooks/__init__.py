"""Evidence from a folder of Markdown: sections that say something of what was asked, the best first."""

from agrajag.investigation.runbooks.source import RunbookLimits, Runbooks

__all__ = ["RunbookLimits", "Runbooks"]
